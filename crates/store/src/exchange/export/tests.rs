use super::*;
use model::estimate::{Estimate, Verdict};
use model::run::Outcome;
use model::synthetic;
use serde_json::Value;

/// A row of every kind, of curves and maps the first points; then commands.
fn small() -> [Run; 2] {
    const ROWS: [&str; 9] = [
        "cpu.add_i32",
        "cpu.div_i32",
        "cpu.timer/counter",
        "cpu.memcpy/16B",
        "cpu.memcpy/1MiB",
        "cpu.frequency",
        "memory.latency",
        "memory.read/sequential",
        "sync.handoff/pipe",
    ];
    let mut run = synthetic::run();
    run.rows.retain(|row| {
        ROWS.contains(&row.id.as_str()) || matches!(row.outcome, Outcome::Map { .. })
    });
    for row in &mut run.rows {
        match &mut row.outcome {
            Outcome::Curve { points, .. } => points.truncate(2),
            Outcome::Map { points, .. } => points.truncate(2),
            _ => {}
        }
    }
    [run, synthetic::run_of_commands()]
}

/// Every format, JSON with a line for each entry, and what is left out.
#[test]
fn formats() {
    // A reference is a run's document.
    for format in ExportFormat::ALL.into_iter().filter(|f| *f != ExportFormat::Reference) {
        let mut text = String::new();
        // A table for people is of single figures unless they ask for more.
        for patterns in [&[][..], &["memory.latency".to_owned()]] {
            if !patterns.is_empty() && format != ExportFormat::Markdown {
                continue;
            }
            for run in small() {
                let Ok(exported) = export(&run, format, patterns) else {
                    continue;
                };
                text += &match serde_json::from_str::<Value>(&exported.text) {
                    Ok(json) => entries(&json),
                    Err(_) => exported.text.replace("\r\n", "\n"),
                };
                text += &format!("\nomitted:\n{}\n\n", exported.left_out.join("\n"));
                assert!(exported.text.ends_with('\n'), "{format:?}");
                let records = exported.text.matches("\r\n").count();
                let expected = export_lines(&run).len() + 1;
                assert_eq!(records, if format == ExportFormat::Csv { expected } else { 0 });
            }
        }
        insta::assert_snapshot!(format.option_name(), text);
    }
}

fn entries(json: &Value) -> String {
    if let Some(items) = json.as_array() {
        let items: Vec<String> = items.iter().map(Value::to_string).collect();
        return items.join("\n");
    }
    let lists = json.as_object().expect("an object").iter();
    let text = lists.map(|(name, value)| match value {
        Value::Array(items) => {
            // Of the repetitions the first two.
            let items = items.iter().filter(|item| item["repetition_index"].as_u64() < Some(2));
            let items: Vec<String> = items.map(Value::to_string).collect();
            format!("{name}:\n{}", items.join("\n"))
        }
        other => format!("{name}: {other}"),
    });
    text.collect::<Vec<_>>().join("\n")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn exported(run: &Run, format: ExportFormat, patterns: &[&str]) -> Exported {
    let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    export(run, format, &patterns).expect("exported")
}

/// Changes the estimate of each row and first point.
fn change(run: &mut Run, change: impl Fn(&mut Estimate)) {
    for row in &mut run.rows {
        match &mut row.outcome {
            Outcome::Curve { points, .. } => change(&mut points[0].estimate),
            Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => change(estimate),
            _ => {}
        }
    }
}

#[test]
fn a_speed_whose_time_may_be_0_has_no_upper_end() {
    let [mut run, _] = small();
    run.rows.retain(|row| row.id == "memory.read/sequential");
    change(&mut run, |estimate| {
        let quiet = estimate.quiet.iter_mut().map(|quiet| &mut quiet.ns);
        let typical = estimate.typical.iter_mut().map(|typical| &mut typical.ns);
        quiet.chain(typical).for_each(|ns| ns.low = -ns.value);
    });
    let lines = exported(&run, ExportFormat::JsonLines, &[]).text;
    let object = json(lines.lines().next().expect("a line"));
    for [value, low, high] in [
        ["gb_per_s", "low_gb_per_s", "high_gb_per_s"],
        ["typical_gb_per_s", "typical_low_gb_per_s", "typical_high_gb_per_s"],
    ] {
        assert!(object[value].as_f64() > object[low].as_f64(), "{object}");
        assert!(object[low].is_number() && object.get(high).is_none(), "{object}");
    }
    let csv = exported(&run, ExportFormat::Csv, &[]).text;
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let record = reader.records().next().expect("one").expect("a record");
    assert_eq!(record[2], *"GB/s");
    assert!(!record[4].is_empty() && record[5].is_empty(), "{record:?}");
}

#[test]
fn every_figure_is_written_or_listed() {
    let run = synthetic::run();
    let mut ordered = 0;
    for line in exported(&run, ExportFormat::JsonLines, &[]).text.lines() {
        let object = json(line);
        let numbers = |names: [&str; 3]| names.map(|name| object[name].as_f64());
        if object["unit"] == "GB/s" && object["quiet"] == true {
            let all = numbers(["low_gb_per_s", "gb_per_s", "high_gb_per_s"]);
            assert!(all.is_sorted(), "{line}");
            let all = numbers(["p10_gb_per_s", "typical_gb_per_s", "p90_gb_per_s"]);
            assert!(all.is_sorted(), "{line}");
            ordered += 1;
        }
    }
    assert!(ordered > 50);
    for format in [ExportFormat::GoogleBenchmark, ExportFormat::Bencher] {
        let exported = exported(&run, format, &[]);
        let written = match &json(&exported.text)["benchmarks"] {
            Value::Array(entries) => {
                let first = entries.iter().filter(|e| e["repetition_index"] == 0);
                first.count()
            }
            _ => json(&exported.text).as_object().map_or(0, |all| all.len()),
        };
        let rows = |line: &String| {
            let rows = line.split_once(" rows: ").map(|(rows, _)| rows.parse());
            rows.map_or(1, |rows| rows.expect("a number of rows"))
        };
        let left_out: usize = exported.left_out.iter().map(rows).sum();
        assert_eq!(written + left_out, export_lines(&run).len(), "{format:?}");
    }
}

#[test]
fn patterns_select_and_typos_are_answered() {
    let run = synthetic::run();
    let some = exported(&run, ExportFormat::Csv, &["cpu.div*"]).text;
    assert_eq!(some.lines().count(), 4, "{some}");
    // A probe with all its rows, as in `run` and `compare`.
    let probe = exported(&run, ExportFormat::Csv, &["cpu.memcpy"]).text;
    assert!(probe.contains("cpu.memcpy/16B") && probe.contains("cpu.memcpy/1MiB"));
    let empty = Run { rows: Vec::new().into(), ..run.clone() };
    let errors = [
        export(&run, ExportFormat::Csv, &["cpu.dvi_i32".into()]),
        export(&run, ExportFormat::Bencher, &["cpu.timer/counter".into()]),
        export(&empty, ExportFormat::Csv, &[]),
    ];
    let errors = errors.map(|error| error.expect_err("refused").to_string());
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn times_below_zero_are_listed_and_not_written() {
    let mut run = synthetic::run();
    let cell = run.cells.iter_mut().find(|cell| cell.row == "cpu.add_i32");
    let samples = &mut cell.expect("its samples").samples;
    // The 2U loop came out faster than the U loop, for one whole worker.
    samples.second_ticks[..5].fill(70_000);
    for format in [ExportFormat::Hyperfine, ExportFormat::GoogleBenchmark] {
        let exported = exported(&run, format, &[]);
        let reported = |l: &&String| l.contains("times below 0") && l.contains("cpu.add_i32");
        assert!(exported.left_out.iter().find(reported).is_some(), "{format:?}");
        assert!(!exported.text.contains("\"cpu.add_i32\""), "{format:?}");
    }
}

#[test]
fn the_wall_time_of_a_command_has_its_cpu_time_also_without_their_rows() {
    let run = synthetic::run_of_commands();
    let walls = |patterns: &[&str]| -> Vec<Value> {
        let document = json(&exported(&run, ExportFormat::Hyperfine, patterns).text);
        let mut results = document["results"].as_array().expect("results").clone();
        results.retain(|result| result["user"].is_number());
        results
    };
    assert_eq!(walls(&[]).len(), 2);
    assert_eq!(walls(&[]), walls(&["exec.*/wall"]));
}

#[test]
fn repetitions_are_quiet_only_where_the_figure_is() {
    let mut run = synthetic::run();
    let times = |run: &Run| -> Vec<f64> {
        let exported = exported(run, ExportFormat::GoogleBenchmark, &["cpu.add_i32"]);
        let document = json(&exported.text);
        let entries = document["benchmarks"].as_array().expect("benchmarks");
        let repetitions =
            entries.iter().filter(|e| e["run_type"] == "iteration" && e["name"] == "cpu.add_i32");
        let time = |e: &Value| e["real_time"].as_f64().expect("a time");
        repetitions.map(time).collect()
    };
    // Of five samples of each worker two are of a busy machine and slow; the
    // others differ, so that the median of all is another than theirs.
    let cell = run.cells.iter_mut().find(|cell| cell.row == "cpu.add_i32");
    let cell = cell.expect("cell");
    let mut samples = cell.samples.samples().expect("samples");
    for (k, sample) in samples.iter_mut().enumerate() {
        sample.evidence.cycle_fs = Some(325_000);
        let slower = match k as u64 % 5 {
            quiet @ ..3 => 1 + quiet,
            _ => {
                let canaries = sample.evidence.canaries.as_mut();
                canaries.expect("canaries").branch_permille = [2500; 2];
                9
            }
        };
        sample.first_ticks *= slower;
        sample.second_ticks = sample.second_ticks.map(|ticks| ticks * slower);
    }
    cell.samples = (&samples[..]).into();
    let quiet = times(&run);
    change(&mut run, |estimate| estimate.quiet = None);
    let typical = times(&run);
    assert_eq!((quiet.len(), typical.len()), (8, 8));
    let mut both = quiet.iter().zip(&typical);
    assert!(both.all(|(q, t)| q * 1.4 < *t), "{quiet:?} {typical:?}");
}

#[test]
fn text_of_a_stranger_is_no_formula_and_no_markup() {
    let formulas = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"];
    let mut run = synthetic::run();
    run.rows.truncate(formulas.len());
    for (row, formula) in run.rows.iter_mut().zip(formulas) {
        row.id = formula.into();
        row.notes = vec![formula.into()];
        row.outcome = Outcome::Unavailable { reason: formula.into() };
    }
    run.program.name = "=1".into();
    let text = exported(&run, ExportFormat::Csv, &[]).text;
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        for cell in &record.expect("a record") {
            let is_number = cell.parse::<f64>().is_ok();
            let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(is_number || !formula, "{cell:?}");
        }
    }
    assert!(text.contains("'=cmd|' /C calc'!A0"), "the text itself stays: {text}");
    // Numbers stay numbers, those below 0 too.
    let [mut run, _] = small();
    change(&mut run, |estimate| {
        estimate.quiet.iter_mut().for_each(|quiet| quiet.minimum_ns = -0.5);
        estimate.verdict = Verdict::Noisy;
        estimate.reason = "a|b\n<img src=x> [l](http://x) `c`".into();
    });
    assert!(exported(&run, ExportFormat::Csv, &[]).text.contains(",-0.5,"));
    let text = exported(&run, ExportFormat::Markdown, &[]).text;
    let escaped = r"a\|b &lt;img src=x> \[l\](http://x) \`c\`";
    assert!(text.contains(escaped), "{text}");
}
