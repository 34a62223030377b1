use super::*;
use model::estimate::Verdict;
use model::run::Outcome;
use model::synthetic;
use serde_json::Value;

fn exported(format: Format) -> Exported {
    export(&synthetic::run(), format, &[]).expect("exported")
}

fn json(format: Format) -> Value {
    serde_json::from_str(&exported(format).text).expect("JSON")
}

#[test]
fn csv_has_a_record_for_every_figure_and_reason() {
    let text = exported(Format::Csv).text;
    assert!(text.ends_with("\r\n"));
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heading = reader.headers().expect("heading").clone();
    let records: Vec<::csv::StringRecord> =
        reader.records().map(|r| r.expect("a record")).collect();
    let run = synthetic::run();
    assert_eq!(records.len(), lines(&run).len());
    let field = |row: &str, name: &str| {
        let at = heading.iter().position(|h| h == name).expect("column");
        let record = records.iter().find(|r| &r[0] == row).expect("row");
        record[at].to_owned()
    };
    assert_eq!(field("cpu.add_i32", "quiet"), "0.33");
    assert_eq!(field("cpu.add_i32", "unit"), "ns");
    assert_eq!(field("cpu.add_i32", "p10"), "0.33");
    assert_eq!(field("cpu.div_i32", "verdict"), "noisy");
    assert!(field("cpu.div_i32", "reason").contains("disagree"));
    // Not available, with the reason, and never a 0.
    assert_eq!(field("cpu.timer/counter", "verdict"), "not available");
    assert!(field("cpu.timer/counter", "reason").contains("CNTKCTL_EL1"));
    for column in ["quiet", "typical", "samples", "p10"] {
        assert_eq!(field("cpu.timer/counter", column), "");
    }
    // Below resolution is a bound, not a figure.
    assert_eq!(field("cpu.memcpy/16B", "quiet"), "");
    assert_eq!(field("cpu.memcpy/16B", "typical"), "");
    assert_eq!(field("cpu.memcpy/16B", "below_ns"), "0.0083");
    // Never quiet: only typical.
    assert_eq!(field("cpu.memcpy/1MiB", "quiet"), "");
    assert_eq!(field("cpu.memcpy/1MiB", "typical"), "25806");
}

#[test]
fn a_row_in_two_modes_is_exported_by_one() {
    let modes = [("same CPU", 0.6, 12.3), ("other CPU", 0.4, 43.6)];
    let id = "sync.handoff/pipe";
    let run = synthetic::with(synthetic::run(), id, synthetic::in_modes(20.0, &modes));
    let exported = |format| export(&run, format, &[]).expect("exported").text;
    let csv = exported(Format::Csv);
    let record = csv.lines().find(|line| line.starts_with(id));
    let record = record.expect("the row");
    assert!(
        record.contains(",12.3,") && record.contains(",same CPU,"),
        "{record}"
    );
    let lines = exported(Format::JsonLines);
    let objects = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let object = objects.into_iter().find(|o: &Value| o["row"] == id);
    let typical = &object.expect("the row")["typical"];
    assert_eq!(
        (&typical["value"], &typical["mode"]),
        (&12.3.into(), &"same CPU".into())
    );
}

#[test]
fn a_speed_whose_time_may_be_0_has_no_upper_end() {
    let mut run = synthetic::run();
    let estimates = run.rows.iter_mut().filter_map(|row| {
        let speed = matches!(row.unit, model::unit::Unit::Bandwidth { .. });
        match &mut row.outcome {
            Outcome::Curve { points, .. } if speed => Some(&mut points[0].estimate),
            _ => None,
        }
    });
    for estimate in estimates {
        if let Some(quiet) = &mut estimate.quiet {
            quiet.ns.low = -quiet.ns.value;
        }
        if let Some(typical) = &mut estimate.typical {
            typical.ns.low = -typical.ns.value;
        }
    }
    let of = |format| export(&run, format, &[]).expect("exported").text;
    let mut open = 0;
    for line in of(Format::JsonLines).lines() {
        let object: Value = serde_json::from_str(line).expect("JSON");
        let quiet = &object["quiet"];
        if object["unit"] == "GB/s" && quiet["high"].is_null() && !quiet.is_null() {
            assert!(quiet["value"].as_f64() > quiet["low"].as_f64(), "{line}");
            let typical = &object["typical"];
            assert!(
                typical["low"].is_number() && typical["high"].is_null(),
                "{line}"
            );
            open += 1;
        }
    }
    assert!(open > 0);
    let text = of(Format::Csv);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let records = reader.records().map(|record| record.expect("a record"));
    // Unit, value, lower and upper end.
    let same = |r: &::csv::StringRecord| {
        &r[2] == "GB/s" && !r[3].is_empty() && !r[4].is_empty() && r[5].is_empty()
    };
    assert_eq!(records.filter(same).count(), open);
}

#[test]
fn speeds_have_their_ends_in_order() {
    let text = exported(Format::JsonLines).text;
    let mut speeds = 0;
    for line in text.lines() {
        let object: Value = serde_json::from_str(line).expect("JSON");
        if object["unit"] != "GB/s" {
            continue;
        }
        let number = |part: &str, name: &str| object[part][name].as_f64().expect(name);
        assert!(number("quiet", "low") < number("quiet", "value"));
        assert!(number("quiet", "value") < number("quiet", "high"));
        assert!(number("typical", "p10") <= number("typical", "value"));
        assert!(number("typical", "value") <= number("typical", "p90"));
        speeds += 1;
    }
    assert!(speeds > 50);
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["point"]["working_set_bytes"], 1024);
}

#[test]
fn markdown_is_a_table_of_single_figures_unless_asked() {
    let whole = exported(Format::Markdown);
    let table: Vec<&str> = whole.text.lines().filter(|l| l.starts_with('|')).collect();
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.iter().all(|line| bars(line) == 7), "{}", whole.text);
    assert!(!whole.text.contains(" at 1KiB"));
    assert!(
        whole.text.contains("| cpu.div_i32 | 3.3 ns | ±0.3* |"),
        "{}",
        whole.text
    );
    assert!(
        whole
            .text
            .contains("noisy: worker processes disagree by ±9 %")
    );
    assert!(
        whole
            .text
            .contains("not available: the kernel keeps the counter")
    );
    assert!(
        whole
            .left_out
            .iter()
            .any(|l| l.starts_with("memory.latency, 73 points: "))
    );
    let selected = export(
        &synthetic::run(),
        Format::Markdown,
        &["memory.latency".into()],
    );
    let selected = selected.expect("exported");
    assert!(selected.text.contains("memory.latency at 1KiB") && selected.left_out.is_empty());
}

#[test]
fn markdown_of_a_stranger_stays_text() {
    let mut run = synthetic::run();
    run.rows.truncate(40);
    for row in &mut run.rows {
        if let Outcome::Figure(estimate) = &mut row.outcome {
            estimate.verdict = Verdict::Noisy;
            estimate.reason = "a|b\n<img src=x> [l](http://x) `c`".into();
        }
    }
    let text = export(&run, Format::Markdown, &[]).expect("exported").text;
    assert!(
        text.contains(r"a\|b &lt;img src=x> \[l\](http://x) \`c\`"),
        "{text}"
    );
}

#[test]
fn google_benchmark_has_repetitions_aggregates_and_errors() {
    let document = json(Format::GoogleBenchmark);
    let entries = document["benchmarks"].as_array().expect("benchmarks");
    let of = |name: &str| -> Vec<&Value> { entries.iter().filter(|e| e["name"] == name).collect() };
    let repetitions = of("cpu.add_i32");
    assert_eq!(repetitions.len(), 8, "one a worker");
    let times: Vec<f64> = repetitions
        .iter()
        .map(|e| e["real_time"].as_f64().expect("time"))
        .collect();
    let median = of("cpu.add_i32_median")[0]["real_time"]
        .as_f64()
        .expect("median");
    assert_eq!(Some(median), model::stats::median(times));
    assert_eq!(of("cpu.add_i32_cv")[0]["aggregate_unit"], "percentage");
    // One name, one set of fields: compare.py reads both times of each.
    for entry in entries.iter().filter(|e| e["run_type"] == "iteration") {
        let failed = entry["error_occurred"] == true;
        assert_eq!(failed, entry.get("real_time").is_none(), "{entry}");
        assert_eq!(
            failed,
            entry["name"]
                .as_str()
                .expect("name")
                .ends_with("[not available]")
        );
    }
    let noisy = of("cpu.div_i32");
    assert!(
        noisy[0]["label"]
            .as_str()
            .expect("label")
            .starts_with("noisy: worker")
    );
    assert!(repetitions[0].get("label").is_none());
    let gone = of("cpu.timer/counter [not available]");
    assert!(
        gone[0]["error_message"]
            .as_str()
            .expect("reason")
            .contains("CNTKCTL")
    );
    assert!(exported(Format::GoogleBenchmark).left_out[0].contains("below resolution"));
    let speed = of("memory.read/sequential/working_set_bytes:1024");
    assert!(speed[0]["bytes_per_second"].as_f64().expect("speed") > 1e10);
}

#[test]
fn hyperfine_holds_all_ordinary_samples() {
    let document = json(Format::Hyperfine);
    let results = document["results"].as_array().expect("results");
    let named = |name: &str| results.iter().find(|r| r["command"] == name);
    let add = named("cpu.add_i32").expect("by its id");
    assert_eq!(add["times"].as_array().map(Vec::len), Some(40));
    assert!(add["user"].is_null() && add["exit_codes"] == serde_json::json!([]));
    assert!(named("cpu.div_i32 [noisy]").is_some(), "marked in its name");
    let left_out = exported(Format::Hyperfine).left_out;
    let reported = |name: &str| {
        left_out
            .iter()
            .find(|l| l.starts_with(name))
            .expect("reported")
    };
    assert!(reported("cpu.timer/counter: ").contains("not available here: the kernel"));
    assert!(reported("memory.latency, 73 points: ").contains("no samples"));
}

#[test]
fn bencher_marks_what_is_not_ok() {
    let document = json(Format::Bencher);
    assert_eq!(document["cpu.add_i32"]["latency"]["value"], 0.33);
    assert_eq!(document["cpu.add_i32"]["latency"]["upper_value"], 0.331);
    assert!(document.get("cpu.div_i32").is_none());
    assert!(document["cpu.div_i32-bencher-ignore"]["latency"]["value"].is_number());
    assert!(document["cpu.frequency"]["frequency-ghz"]["value"].is_number());
    let read = &document["memory.read/sequential/working_set_bytes:1024"];
    assert!(read["bandwidth-gb-per-s"]["value"].is_number());
    let left_out = exported(Format::Bencher).left_out;
    assert!(
        left_out
            .iter()
            .any(|l| l.starts_with("cpu.memcpy/16B: no figure: below resolution"))
    );
    assert!(
        left_out
            .iter()
            .any(|l| l.starts_with("cpu.timer/counter: not available here"))
    );
}

#[test]
fn every_figure_is_written_or_told() {
    let run = synthetic::run();
    let n = lines(&run).len();
    for format in [Format::GoogleBenchmark, Format::Bencher] {
        let exported = exported(format);
        let document: Value = serde_json::from_str(&exported.text).expect("JSON");
        let written = match &document["benchmarks"] {
            Value::Array(entries) => entries
                .iter()
                .filter(|e| e["repetition_index"] == 0)
                .count(),
            _ => document.as_object().map_or(0, serde_json::Map::len),
        };
        assert_eq!(written + exported.left_out.len(), n, "{format:?}");
    }
}

#[test]
fn patterns_select_and_typos_are_answered() {
    let run = synthetic::run();
    let some = export(&run, Format::Csv, &["cpu.div*".into()]).expect("some");
    assert_eq!(some.text.lines().count(), 4, "{}", some.text);
    // A probe with all its rows, as in `run` and `compare`.
    let probe = export(&run, Format::Csv, &["cpu.memcpy".into()]).expect("its rows");
    assert!(probe.text.contains("cpu.memcpy/16B") && probe.text.contains("cpu.memcpy/1MiB"));
    let error = export(&run, Format::Csv, &["cpu.dvi_i32".into()]).expect_err("none");
    assert!(
        error.to_string().contains("did you mean cpu.div_i32?"),
        "{error}"
    );
    let error = export(&run, Format::Bencher, &["cpu.timer/counter".into()]).expect_err("none");
    assert!(
        error
            .to_string()
            .contains("has no place for any of these rows"),
        "{error}"
    );
    let mut empty = run;
    empty.rows.clear();
    assert_eq!(export(&empty, Format::Csv, &[]), Err(ExportError::Empty));
}

#[test]
fn times_below_zero_are_told_and_not_written() {
    let mut run = synthetic::run();
    let cell = run.cells.iter_mut().find(|cell| cell.row == "cpu.add_i32");
    let samples = &mut cell.expect("its samples").samples;
    // The 2U loop came out faster than the U loop, for one whole worker.
    samples.second_ticks[..5].fill(70_000);
    for format in [Format::Hyperfine, Format::GoogleBenchmark] {
        let exported = export(&run, format, &[]).expect("exported");
        let reported = |l: &&String| l.starts_with("cpu.add_i32: some of its times are below 0");
        assert!(
            exported.left_out.iter().find(reported).is_some(),
            "{format:?}"
        );
        assert!(!exported.text.contains("\"cpu.add_i32\""), "{format:?}");
    }
}

#[test]
fn counts_and_bytes_are_no_times() {
    let run = synthetic::run_of_commands();
    for format in [Format::Hyperfine, Format::GoogleBenchmark] {
        let exported = export(&run, format, &[]).expect("exported");
        for row in ["context_switches", "cpus_utilised", "cycles"] {
            let id = format!("exec.grep/{row}");
            assert!(!exported.text.contains(&id), "{format:?} {id}");
            let reported = |l: &&String| l.starts_with(&format!("{id}: it is a number, and this"));
            assert!(
                exported.left_out.iter().find(reported).is_some(),
                "{format:?}"
            );
        }
        assert!(!exported.text.contains("peak_memory"), "{format:?}");
        let reported = |l: &&String| l.starts_with("exec.rg/peak_memory: it is a number of bytes");
        assert!(
            exported.left_out.iter().find(reported).is_some(),
            "{format:?}"
        );
        // Not there at all is said first.
        let reported =
            |l: &&String| l.starts_with("exec.rg/cycles: not available here: no hardware");
        assert!(
            exported.left_out.iter().find(reported).is_some(),
            "{format:?}"
        );
    }
    // What is below a number of bytes is not below a time.
    let csv = export(&run, Format::Csv, &["exec.grep/peak_memory".into()]).expect("exported");
    assert!(
        csv.text
            .contains("below resolution: less than 12000000 bytes"),
        "{}",
        csv.text
    );
    let bencher = export(&run, Format::Bencher, &[]).expect("exported").text;
    assert!(bencher.contains("\"bytes\": {"), "{bencher}");
}

#[test]
fn the_wall_time_of_a_command_has_its_cpu_time_beside() {
    let run = synthetic::run_of_commands();
    // Also where the rows that it comes from are not asked for.
    for patterns in [vec![], vec!["exec.*/wall".to_owned()]] {
        let exported = export(&run, Format::Hyperfine, &patterns).expect("exported");
        let document: Value = serde_json::from_str(&exported.text).expect("JSON");
        let results = document["results"].as_array().expect("results");
        for result in results {
            let row = result["latlas"]["row"].as_str().expect("a row");
            let user = result["user"].as_f64();
            match row {
                "exec.grep/wall" => assert!(
                    user.is_some_and(|s| (s - 1.910_15e-3).abs() < 1e-9),
                    "{user:?}"
                ),
                "exec.rg/wall" => assert!(user.is_some_and(|s| s > 3.8e-3), "{user:?}"),
                _ => assert_eq!(user, None, "{row}"),
            }
            let system = row.ends_with("/wall").then_some(0.0);
            assert_eq!(result["system"].as_f64(), system, "{row}");
        }
    }
}

#[test]
fn repetitions_are_quiet_only_where_the_figure_is() {
    let mut run = synthetic::run();
    let times = |run: &Run| -> Vec<f64> {
        let exported = export(run, Format::GoogleBenchmark, &["cpu.add_i32".into()]);
        let document: Value =
            serde_json::from_str(&exported.expect("exported").text).expect("JSON");
        let entries = document["benchmarks"].as_array().expect("benchmarks");
        entries
            .iter()
            .filter(|e| e["run_type"] == "iteration" && e["name"] == "cpu.add_i32")
            .map(|e| e["real_time"].as_f64().expect("a time"))
            .collect()
    };
    // Of five samples of each worker two are of a busy machine and slow; the
    // others differ, so that the median of all is another than theirs.
    let cell = run.cells.iter_mut().find(|cell| cell.row == "cpu.add_i32");
    let mut samples = cell
        .as_ref()
        .expect("cell")
        .samples
        .samples()
        .expect("samples");
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
    cell.expect("cell").samples = (&samples[..]).into();
    let quiet = times(&run);
    let row = run.rows.iter_mut().find(|row| row.id == "cpu.add_i32");
    let Outcome::Figure(estimate) = &mut row.expect("row").outcome else {
        panic!("a figure");
    };
    estimate.quiet = None;
    let typical = times(&run);
    assert_eq!((quiet.len(), typical.len()), (8, 8));
    assert!(
        quiet.iter().zip(&typical).all(|(q, t)| q * 1.4 < *t),
        "{quiet:?} {typical:?}"
    );
}

#[test]
fn no_text_of_a_stranger_is_a_formula_in_a_spreadsheet() {
    let mut run = synthetic::run();
    let formulas = [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
    ];
    run.rows.truncate(formulas.len());
    for (row, formula) in run.rows.iter_mut().zip(formulas) {
        row.id = formula.into();
        row.notes = vec![formula.into()];
        row.outcome = Outcome::Unavailable {
            reason: formula.into(),
        };
    }
    run.program.name = "=1".into();
    let text = export(&run, Format::Csv, &[]).expect("exported").text;
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    for record in reader.records() {
        for cell in &record.expect("a record") {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(
                is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell:?}"
            );
        }
    }
    assert!(
        text.contains("'=cmd|' /C calc'!A0"),
        "the text itself stays: {text}"
    );
    // Numbers stay numbers, those below 0 too.
    let mut run = synthetic::run();
    run.rows.retain(|row| row.estimate().is_some());
    run.rows.truncate(1);
    if let Outcome::Figure(estimate) | Outcome::Level { estimate, .. } = &mut run.rows[0].outcome
        && let Some(quiet) = &mut estimate.quiet
    {
        quiet.minimum_ns = -0.5;
    }
    let text = export(&run, Format::Csv, &[]).expect("exported").text;
    assert!(text.contains(",-0.5,"), "{text}");
}
