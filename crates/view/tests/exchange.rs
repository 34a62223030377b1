//! Result files of other tools, whole and damaged, through import and export. They are in
//! `crates/store/tests`. `exchange/invariants.rs` has what holds for any file; the fuzz target `import` also
//! compiles it.

mod exchange {
    pub(crate) mod invariants;
}

use exchange::invariants::{check_import, file, import_anything, origin};
use model::run::{Outcome, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use store::exchange::export::{ExportFormat as To, export};
use store::exchange::import::files::{self, Input};
use store::exchange::import::{InputFormat, import};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/fixtures/exchange")
}

fn read_input(name: &str) -> Input {
    files::read_input(&fixtures().join(name)).expect(name)
}

fn imported(name: &str) -> Run {
    import(&[read_input(name)], None, origin()).unwrap_or_else(|e| panic!("{e}"))
}

fn again(text: &str) -> Run {
    import(&[file(text.as_bytes())], None, origin()).unwrap_or_else(|e| panic!("{e}"))
}

/// Rows with a figure: id, typical median in ns.
fn medians(run: &Run) -> Vec<(String, f64)> {
    run.rows
        .iter()
        .filter_map(|row| Some((row.id.clone(), row.estimate()?.typical?.ns.value)))
        .collect()
}

fn same(a: f64, b: f64) -> bool {
    // Times are kept to the femtosecond.
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 2e-6
}

#[test]
fn hyperfines_own_medians_are_found_again() {
    let run = imported("hyperfine.json");
    let text = std::fs::read_to_string(fixtures().join("hyperfine.json")).expect("fixture");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let results = file["results"].as_array().expect("results");
    let medians = medians(&run);
    assert_eq!(medians.len(), results.len());
    for ((id, ns), result) in medians.iter().zip(results) {
        let seconds = result["median"].as_f64().expect("median");
        assert!(same(*ns, seconds * 1e9), "{id}: {ns} {seconds}");
    }
    assert_eq!(medians[1].0, "hyperfine.sleep_0.01");
    assert_eq!(run.program.name, "hyperfine");
    // The time of the import is not that of the measurement.
    let markdown = export(&run, To::Markdown, &[]).expect("exported").text;
    assert!(markdown.starts_with("hyperfine on machine unknown, at an unknown time"), "{markdown}");
    assert!(run.machine.cpu_model.get().is_none() && run.machine.hostname.get().is_none());
}

#[test]
fn google_benchmarks_own_medians_are_found_again() {
    let run = imported("google-benchmark-repeated.json");
    let text = std::fs::read_to_string(fixtures().join("google-benchmark-repeated.json"));
    let file: Value = serde_json::from_str(&text.expect("fixture")).expect("JSON");
    let mut compared = 0;
    for entry in file["benchmarks"].as_array().expect("benchmarks") {
        if entry["aggregate_name"] != "median" {
            continue;
        }
        let scale = match entry["time_unit"].as_str() {
            Some("us") => 1e3,
            _ => 1.0,
        };
        let values_of_others = entry["real_time"].as_f64().expect("time") * scale;
        let note = format!("benchmark: {}, real time", entry["run_name"].as_str().expect("name"));
        let row = run.rows.iter().find(|row| row.notes.contains(&note));
        let row = row.unwrap_or_else(|| panic!("{note}"));
        let typical = row.estimate().and_then(|e| e.typical).expect("typical");
        assert!(same(typical.ns.value, values_of_others), "{note}: {typical:?} {values_of_others}");
        assert_eq!(typical.samples, 9);
        compared += 1;
    }
    assert_eq!(compared, 6);
    // What failed is not a zero.
    let failed = run.row("google_benchmark.BM_fails").expect("kept");
    let Outcome::Unavailable { reason } = &failed.outcome else {
        panic!("{failed:?}");
    };
    assert!(reason.contains("no such device"));
    assert_eq!(run.machine.hostname.get().map(String::as_str), Some("bench-host"));
    assert!(run.conditions.before.load_average.is_some());
    // A fit over several sizes is no benchmark.
    assert_eq!(run.rows.len(), 7);
}

#[test]
fn criterions_samples_are_found_in_its_directory() {
    let run = imported("criterion");
    let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "criterion.parse_f64-b116fbf1",
            "criterion.sort/flat_big-48e7c685-972ed2f9",
            "criterion.sort/unstable/100",
            "criterion.sort/unstable/1000"
        ]
    );
    let text = std::fs::read_to_string(fixtures().join("criterion/parse f64/new/sample.json"));
    let sample: Value = serde_json::from_str(&text.expect("fixture")).expect("JSON");
    let list = |name: &str| -> Vec<f64> {
        let list = sample[name].as_array().expect(name).iter();
        list.map(|v| v.as_f64().expect("a number")).collect()
    };
    let per: Vec<f64> = list("times").iter().zip(list("iters")).map(|(t, n)| t / n).collect();
    let expected = model::stats::median(per).expect("samples");
    assert!(same(medians(&run)[0].1, expected));
    // One of its files leads to the same benchmark.
    let one = imported("criterion/parse f64/new/sample.json");
    assert_eq!(medians(&one), medians(&run)[..1]);
    let one = imported("criterion/parse f64/new");
    assert_eq!(medians(&one), medians(&run)[..1]);
}

#[test]
fn an_aggregate_has_a_figure_and_no_interval() {
    let run = imported("google-benchmark-aggregates.json");
    let row = run.row("google_benchmark.BM_push/8").expect("row");
    let estimate = row.estimate().expect("a figure");
    assert_eq!(estimate.verdict.text(), "inconclusive");
    assert!(estimate.reason.contains("no samples in the file"), "{}", estimate.reason);
    assert!(estimate.reason.contains("median of 5 repetitions"));
    assert!(run.cells.is_empty());
    let csv = export(&run, To::Csv, &[]).expect("exported").text;
    let line = csv.lines().find(|l| l.contains("BM_push/8")).expect("line");
    let fields: Vec<&str> = line.split(',').collect();
    assert!(fields[6].starts_with("92.2"), "{line}");
    assert_eq!(&fields[7..11], ["", "", "", ""], "{line}");
    // A single value has no ends, on the screen either.
    let references = compare::references::References::embedded().expect("references");
    let screen = view::terminal::Screen { columns: 100, color: false };
    let drawn = view::render::render_run(&run, &references, &Default::default());
    let drawn = view::terminal::blocks_text(&drawn, screen);
    let line = drawn.lines().find(|l| l.contains("BM_push/8 ")).expect("line");
    assert!(line.contains("92.2 ns") && !line.contains('['), "{line}");
    assert!(csv.contains("2026-11-21T13:37:25+00:00,Google Benchmark"), "{csv}");
    // No interval in Bencher's words either.
    let bencher = export(&run, To::Bencher, &[]).expect("exported").text;
    assert!(!bencher.contains("lower_value"), "{bencher}");
}

#[test]
fn hyperfine_out_and_in_again_has_the_same_medians() {
    for name in ["hyperfine.json", "criterion", "google-benchmark-repeated.json"] {
        let first = imported(name);
        let out = export(&first, To::Hyperfine, &[]).expect("exported");
        let second = again(&out.text);
        let before = medians(&first);
        let after = medians(&second);
        assert_eq!(before.len(), after.len(), "{name}");
        for ((id, a), (_, b)) in before.iter().zip(&after) {
            assert!(same(*a, *b), "{id}: {a} {b}");
        }
    }
}

#[test]
fn google_benchmark_out_and_in_again_has_the_same_medians() {
    for name in ["hyperfine.json", "criterion", "google-benchmark-repeated.json"] {
        let first = imported(name);
        let out = export(&first, To::GoogleBenchmark, &[]).expect("exported");
        let second = again(&out.text);
        for ((id, a), (_, b)) in medians(&first).iter().zip(&medians(&second)) {
            assert!(same(*a, *b), "{id}: {a} {b}");
        }
        let reported = |run: &Run| run.rows.iter().filter(|row| row.estimate().is_none()).count();
        assert_eq!(reported(&first), reported(&second), "{name}: what is unavailable stays");
    }
}

#[test]
fn a_counter_that_is_no_number_costs_no_row() {
    let run = imported("google-benchmark-nan.json");
    let [(id, ns)] = &medians(&run)[..] else {
        panic!("{:?}", run.rows);
    };
    assert_eq!(id, "google_benchmark.BM_label");
    assert!((ns / 9.309_999_3e-7 - 1.0).abs() < 1e-6, "{ns}");
}

/// Bytes that break parsers.
const TOKENS: [&[u8]; 16] = [
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"\"\\u001b[31m\"",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{}",
    b"\xef\xbb\xbf",
    b"\0",
    b"18446744073709551615",
    b"0.0",
    b"1e308",
    b"\"../../x\"",
    b"\xff",
    b",",
    b"\x1e",
];

fn mutated(seed: &[u8], other: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..=bytes.len());
        let end = (at + random.usize(..40)).min(bytes.len());
        match random.u8(..6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..end, random.choice(TOKENS).unwrap_or_default().to_vec())),
            3 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => {
                let from = random.usize(..=other.len());
                drop(bytes.splice(at..end, other[from..].iter().take(60).copied()));
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.u8(..8);
                }
            }
        }
    }
    bytes
}

/// A short stretch of what `cargo fuzz run import` does for as long as it is
/// let.
#[test]
fn damaged_files_are_refused_or_whole() {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    let places =
        [fixtures(), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/import")];
    for place in places {
        for entry in std::fs::read_dir(place).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                seeds.push(std::fs::read(path).expect("a file"));
            }
        }
    }
    seeds.sort();
    // The small ones say as much, and faster.
    seeds.retain(|seed| seed.len() < 10_000);
    assert!(seeds.len() >= 6, "{}", seeds.len());
    let mut random = fastrand::Rng::with_seed(4);
    let (mut runs, mut refused) = (0, 0);
    for _ in 0..600 {
        let seed = &seeds[random.usize(..seeds.len())];
        let other = &seeds[random.usize(..seeds.len())];
        match import_anything(&mutated(seed, other, &mut random)) {
            0 => refused += 1,
            n => runs += n,
        }
    }
    // Both ends of the funnel are reached.
    assert!(runs > 30 && refused > 100, "{runs} runs, {refused} refused");
}

#[test]
fn a_kept_run_is_taken_as_it_is_or_not_at_all() {
    let run = imported("hyperfine.json");
    let bytes = store::to_json(&run).expect("document");
    let back = import(&[file(&bytes)], Some(InputFormat::Run), origin()).expect("the run");
    assert!(back == run);
    assert!(import(&[file(&bytes)], None, origin()).expect("by its schema") == run);
    let mut twice = run.clone();
    let first = twice.rows[0].clone();
    twice.rows.push(first);
    let bytes = store::to_json(&twice).expect("document");
    let error = import(&[file(&bytes)], None, origin()).expect_err("twice");
    assert!(error.reason.contains("comes twice"), "{error}");
    assert_eq!(check_import(Err(error)), 0);
    // A command line may hold anything: what latlas keeps, it takes.
    let mut hostile = run.clone();
    hostile.rows[0].notes.push("\u{1b}]0;owned\u{7}\u{200d}".into());
    let bytes = store::to_json(&hostile).expect("document");
    let back = import(&[file(&bytes)], None, origin());
    assert!(back.as_ref().is_ok_and(|run| *run == hostile));
    assert_eq!(check_import(back), 1);
}
