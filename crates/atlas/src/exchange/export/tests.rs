use super::*;
use crate::render::synthetic;
use model::estimate::Verdict;
use model::run::Outcome;
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
        whole.text.contains("| cpu.div_i32 | 3.3 ns | ±0.3 |"),
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
    let asked = export(
        &synthetic::run(),
        Format::Markdown,
        &["memory.latency".into()],
    );
    let asked = asked.expect("exported");
    assert!(asked.text.contains("memory.latency at 1KiB") && asked.left_out.is_empty());
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
    let told = |name: &str| left_out.iter().find(|l| l.starts_with(name)).expect("told");
    assert!(told("cpu.timer/counter: ").contains("not available here: the kernel"));
    assert!(told("memory.latency, 73 points: ").contains("no samples"));
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
        let told = |l: &&String| l.starts_with("cpu.add_i32: some of its times are below 0");
        assert!(exported.left_out.iter().find(told).is_some(), "{format:?}");
        assert!(!exported.text.contains("\"cpu.add_i32\""), "{format:?}");
    }
}
