//! What the tools really write, in the smallest files that have it.

use super::super::files::{CriterionFolder, InputPart};
use super::*;
use model::run::{Outcome, Row};

/// Each row's id with its typical figure in ns, or why it has none.
fn rows(run: &Run) -> Vec<(&str, Result<f64, &str>)> {
    let figure = |row: &Row| row.estimate().and_then(|one| one.typical).map(|one| one.ns.value);
    let of = |row| match (figure(row), &row.outcome) {
        (Some(ns), _) => Ok(ns),
        (None, Outcome::Unavailable { reason }) => Err(reason.as_str()),
        (None, other) => panic!("{other:?}"),
    };
    run.rows.iter().map(|row| (row.id.as_str(), of(row))).collect()
}

/// A file of Google Benchmark with these entries.
fn google(entries: &str) -> Run {
    imported_run(&format!("{{\"context\": {{}}, \"benchmarks\": [{entries}]}}"))
}

#[test]
fn skipped_and_failed_entries_are_rows_without_a_figure() {
    let entry = |name: &str, more: &str| {
        format!(
            "{{\"name\": \"{name}\", \"run_name\": \"{name}\", \"run_type\": \"iteration\", {more}, \
             \"iterations\": 0, \"real_time\": 0.0, \"time_unit\": \"ns\"}}"
        )
    };
    let run = google(
        &[
            "{\"name\": \"whole\", \"real_time\": 12.5}".into(),
            entry("new", "\"skipped\": true, \"skip_message\": \"no such instructions\""),
            entry("older", "\"skipped\": \"SKIPPED\", \"skip_message\": \"\""),
            entry("failed", "\"error_occurred\": true, \"error_message\": \"no device\""),
            entry("silent", "\"error_occurred\": true"),
        ]
        .join(","),
    );
    assert_eq!(
        rows(&run),
        [
            ("google_benchmark.whole", Ok(12.5)),
            ("google_benchmark.new", Err("Google Benchmark: skipped: no such instructions")),
            ("google_benchmark.older", Err("Google Benchmark: skipped without a message")),
            ("google_benchmark.failed", Err("Google Benchmark: no device")),
            ("google_benchmark.silent", Err("Google Benchmark: it failed without a message")),
        ]
    );
}

#[test]
fn what_is_no_number_costs_a_row_only_where_a_time_should_stand() {
    let run = google(
        "{\"name\": \"used\", \"real_time\": 2.5, \"hit_ratio\": NaN, \"speed\": -Infinity, \"x\": inf,
          \"y\": -nan(ind), \"z\": nan(ind), \"old\": -1.#IND},
         {\"name\": \"nan\", \"real_time\": NaN},
         {\"name\": \"ind\", \"real_time\": -nan(ind)},
         {\"name\": \"text\", \"real_time\": \"Infinity\"},
         {\"name\": \"null\", \"real_time\": null}",
    );
    assert_eq!(
        rows(&run),
        [
            ("google_benchmark.used", Ok(2.5)),
            ("google_benchmark.nan", Err("Google Benchmark: real_time is NaN")),
            ("google_benchmark.ind", Err("Google Benchmark: real_time is -nan(ind)")),
            ("google_benchmark.text", Err("Google Benchmark: real_time is Infinity")),
            ("google_benchmark.null", Err("Google Benchmark: real_time is null")),
        ]
    );
    let run = super::imported_run(
        "{\"results\": [{\"command\": \"a\", \"times\": [0.5, NaN]},
          {\"command\": \"b\", \"times\": [null]}, {\"command\": \"c\", \"mean\": null},
          {\"command\": \"d NaN\", \"times\": [1], \"stddev\": NaN}]}",
    );
    assert_eq!(
        rows(&run)[..3],
        [
            ("hyperfine.a", Err("hyperfine: times[1] is NaN")),
            ("hyperfine.b", Err("hyperfine: times[0] is null")),
            ("hyperfine.c", Err("hyperfine: mean is null")),
        ]
    );
    assert_eq!(rows(&run)[3], ("hyperfine.d_NaN", Ok(1e9)));
}

#[test]
fn user_counters_may_have_the_name_of_any_field() {
    let counters = ["name", "iterations", "real_time", "time_unit", "label", "run_name", "threads"];
    let counters: String = counters.map(|name| format!(", \"{name}\": 1.7e+01")).concat();
    let run = google(&format!(
        "{{\"name\": \"solver\", \"run_name\": \"solver\", \"run_type\": \"iteration\", \"iterations\": 1000,
           \"real_time\": 113.5, \"time_unit\": \"us\"{counters}, \"skipped\": 1, \"error_occurred\": 1.0,
           \"aggregate_name\": 2, \"label\": \"plain\"}}"
    ));
    assert_eq!(rows(&run), [("google_benchmark.solver", Ok(113_500.0))]);
    let samples = run.cells[0].samples.samples().expect("samples");
    assert_eq!(samples[0].turns, 1000);
}

#[test]
fn aggregates_of_old_versions_are_known_by_their_names() {
    let entry = |name: &str, ns: f64| {
        format!("{{\"name\": \"{name}\", \"iterations\": 5, \"real_time\": {ns}}}")
    };
    let all = |names: &[(&str, f64)]| {
        let entries: Vec<String> = names.iter().map(|(name, ns)| entry(name, *ns)).collect();
        google(&entries.join(","))
    };
    let run = all(&[
        ("copy/8", 10.0),
        ("copy/8", 12.0),
        ("copy/8_mean", 11.0),
        ("copy/8_median", 11.0),
        ("copy/8_stddev", 1.4),
        ("copy/8_cv", 0.1),
    ]);
    assert_eq!(rows(&run), [("google_benchmark.copy/8", Ok(11.0))]);
    assert_eq!(run.cells[0].samples.samples().expect("samples").len(), 2);
    // Nothing but aggregates: the median stands for what was measured, and says so.
    let run = all(&[("a_mean", 3.0), ("a_median", 2.0), ("a_stddev", 0.5)]);
    assert_eq!(rows(&run), [("google_benchmark.a", Ok(2.0))]);
    let reason = &run.rows[0].estimate().expect("figure").reason;
    assert!(reason.contains("only the median, with a standard deviation of 0.5"), "{reason}");
    let run = all(&[("a_mean", 3.0), ("a_stddev", 0.5)]);
    assert_eq!(rows(&run), [("google_benchmark.a", Ok(3.0))]);
    // Benchmarks that only sound like them.
    let run = all(&[("compute_mean", 3.0), ("of_stddev", 4.0), ("x_max", 5.0), ("x", 1.0)]);
    let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(
        ids,
        ["compute_mean", "of_stddev", "x_max", "x"].map(|id| format!("google_benchmark.{id}"))
    );
    // Fits over several sizes.
    let run = google(
        "{\"name\": \"f/1\", \"real_time\": 1}, {\"name\": \"f_BigO\", \"cpu_coefficient\": 1.0,
          \"real_coefficient\": 1.0, \"big_o\": \"N\", \"time_unit\": \"ns\"}, {\"name\": \"f_RMS\", \"rms\": 0.05},
         {\"name\": \"g_BigO\", \"run_name\": \"g\", \"run_type\": \"aggregate\", \"aggregate_name\": \"BigO\",
          \"real_coefficient\": 2.0}",
    );
    assert_eq!(rows(&run), [("google_benchmark.f/1", Ok(1.0))]);
}

#[test]
fn benchmarks_that_were_registered_twice_are_numbered() {
    let expected = [("google_benchmark.a", Ok(1.5)), ("google_benchmark.a#2", Ok(7.5))];
    // With the numbers of repetitions (v1.5.0), and without: aggregates come between.
    for numbered in [true, false] {
        let of = |n: u8, ns: f64| {
            let index = match numbered {
                true => format!(", \"repetition_index\": {n}"),
                false => String::new(),
            };
            format!("{{\"name\": \"a\", \"real_time\": {ns}{index}}}")
        };
        let mean = "{\"name\": \"a_mean\", \"real_time\": 9}".to_owned();
        let entries = [of(0, 1.0), of(1, 2.0), mean.clone(), of(0, 7.0), of(1, 8.0), mean];
        let run = google(&entries.join(","));
        assert_eq!(rows(&run), expected, "{numbered}");
        assert!(run.rows[1].notes.iter().any(|note| note.contains("number 2")));
    }
}

#[test]
fn every_version_of_hyperfine_is_read() {
    let run = imported_run(
        "{\"results\": [
         {\"command\": \"1.0\", \"mean\": 0.5, \"stddev\": 0.1, \"user\": 0.2, \"system\": 0.1, \"min\": 0.4, \"max\": 0.6},
         {\"command\": \"1.7\", \"mean\": 0.5, \"stddev\": null, \"median\": 0.25, \"times\": null, \"parameter\": \"8\"},
         {\"command\": \"1.12\", \"mean\": 0.5, \"times\": [0.5], \"exit_codes\": [null], \"parameters\": {\"n\": \"7\"}},
         {\"command\": \"1.18\", \"mean\": 0.5, \"times\": [0.5], \"exit_codes\": null, \"memory_usage_byte\": [1]},
         {\"command\": \"2\", \"parameters\": {\"n\": {\"value\": \"7\", \"is_unused\": true}},
          \"summary\": {\"time_wall_clock\": {\"unit\": \"second\", \"median\": 2.0},
                        \"time_user\": {\"unit\": \"millisecond\", \"mean\": 5.0},
                        \"time_system\": {\"unit\": \"second\", \"mean\": 0.001}},
          \"measurements\": [{\"time_wall_clock\": {\"value\": 3.0, \"unit\": \"second\"}, \"exit_code\": 0},
                             {\"time_wall_clock\": {\"value\": 1000, \"unit\": \"millisecond\"}, \"exit_code\": 1}]},
         {\"command\": \"2 alone\", \"summary\": {\"time_wall_clock\": {\"unit\": \"microsecond\", \"median\": 4}}}]}",
    );
    let figures: Vec<f64> = rows(&run).into_iter().filter_map(|(_, ns)| ns.ok()).collect();
    assert_eq!(figures, [5e8, 2.5e8, 5e8, 5e8, 2e9, 4000.0]);
    let notes = |n: usize| run.rows[n].notes.join("; ");
    for (n, part) in [
        (0, "user 200 ms, system 100 ms"),
        (1, "parameters: 8"),
        (2, "n = 7"),
        (2, "failures: 1 of 1 runs"),
        (4, "n = 7"),
        (4, "failures: 1 of 2 runs"),
        (4, "user 5.00 ms, system 1.00 ms"),
    ] {
        assert!(notes(n).contains(part), "{n} {part}: {}", notes(n));
    }
    assert!(!notes(3).contains("failures"), "{}", notes(3));
}

/// criterion's files of some benchmarks, each `benchmark.json`, `sample.json` and `estimates.json`.
fn criterion(all: &[[&str; 3]]) -> Result<Run, ImportError> {
    let part = |(name, text): (&str, &str)| {
        (!text.is_empty())
            .then(|| InputPart { name: format!("new/{name}"), bytes: text.as_bytes().to_vec() })
    };
    let benchmarks = all.iter().map(|[id, sample, estimates]| CriterionFolder {
        directory: "a/new".into(),
        fallback_name: "a".into(),
        id: part(("benchmark.json", id)),
        sample: part(("sample.json", sample)),
        estimates: part(("estimates.json", estimates)),
    });
    let input = Input::Criterion { name: "criterion".into(), benchmarks: benchmarks.collect() };
    import(&[input], None, origin())
}

#[test]
fn every_version_of_criterion_is_read() {
    let old = "{\"group_id\": \"scan\", \"function_id\": null, \"value_str\": null, \"throughput\": null}";
    let run = criterion(&[
        [old, "[[1.0, 2.0, 3.0], [1000.0, 2010.0, 2990.0]]", "{}"],
        ["", "", "{\"Median\": {\"point_estimate\": 9.0}}"],
        [
            "{\"group_id\": \"g\", \"throughput\": {\"Bits\": 64}}",
            "",
            "{\"mean\": {\"point_estimate\": 8.0}, \"median\": null}",
        ],
    ]);
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        rows(&run),
        [("criterion.scan", Ok(1000.0)), ("criterion.a", Ok(9.0)), ("criterion.g", Ok(8.0))]
    );
    assert!(run.rows[2].notes.iter().any(|note| note.ends_with("64 bits")));
    let error = criterion(&[[old, "[[1.0], [2.0], [3.0]]", ""]]).expect_err("three lists");
    assert_eq!(error.reason, "an object is needed, not a list");
}

#[test]
fn ids_that_come_again_in_a_tree_have_the_numbers_of_their_titles() {
    let id = |title: &str| {
        format!("{{\"group_id\": \"hash\", \"function_id\": \"one\", \"title\": \"{title}\"}}")
    };
    let sample = |ns: u32| format!("{{\"iters\": [1, 1, 1], \"times\": [{ns}, {ns}, {ns}]}}");
    // In the order of their directories.
    let titles = ["hash/one", "hash/one #10", "hash/one #2", "hash/one"];
    let files: Vec<[String; 3]> =
        titles.iter().zip(1..).map(|(title, ns)| [id(title), sample(ns), String::new()]).collect();
    let files: Vec<[&str; 3]> =
        files.iter().map(|all| all.each_ref().map(|text| &**text)).collect();
    let run = criterion(&files).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        rows(&run),
        [
            ("criterion.hash/one", Ok(1.0)),
            ("criterion.hash/one#10", Ok(2.0)),
            ("criterion.hash/one#2", Ok(3.0)),
            ("criterion.hash/one#3", Ok(4.0))
        ]
    );
}

#[test]
fn messages_of_cargo_criterion_are_read() {
    let run = imported_run(
        "{\"reason\": \"compiler-artifact\"}\r\n{\"reason\": \"benchmark-complete\", \"id\": \"norm\", \
          \"iteration_count\": [1, 2, 4], \"measured_values\": [10.0, 20.0, 44.0], \"unit\": \"ns\", \
          \"throughput\": [{\"per_iteration\": 3, \"unit\": \"elements\"}]}\n\
         {\"reason\": \"benchmark-complete\", \"id\": \"short\", \"median\": {\"estimate\": 7.5, \"unit\": \"ns\"}}\n\
         {\"reason\": \"benchmark-complete\", \"id\": \"turns\", \"measured_values\": [1], \"unit\": \"cycles\"}\n\
         {\"reason\": \"group-complete\"}\n",
    );
    assert_eq!(
        rows(&run),
        [
            ("criterion.norm", Ok(10.0)),
            ("criterion.short", Ok(7.5)),
            ("criterion.turns", Err("criterion: it measured cycles, not time")),
        ]
    );
    assert!(run.rows[0].notes.iter().any(|note| note.ends_with("3 elements")));
}

#[test]
fn names_in_every_script_are_kept_with_a_sign_for_what_is_hidden() {
    let names = [
        "./count \u{1f468}\u{200d}\u{1f469}",
        "./count \u{1f468}\u{200c}\u{1f469}",
        "\u{915}\u{94d}\u{200d}\u{937}",
        "\u{202e}\u{627}\u{644}\u{200f}",
        "e\u{301}\u{feff}",
        "\u{1b}[2J\u{9b}\u{e001}",
        "two\nlines\tlong",
    ];
    let long = format!("x{}", " \u{e9}y".repeat(3000));
    let entries = names.iter().copied().chain([&*long]);
    let entries = entries.map(|name| serde_json::json!({"command": name, "times": [1, 2, 3]}));
    let text = serde_json::json!({"results": entries.collect::<Vec<_>>()}).to_string();
    // As some editors and shells save it.
    let run = imported_run(&format!("\u{feff}{}\r\n", text.replace("},{", "},\r\n{")));
    let ids: HashSet<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), names.len() + 1, "what only a joiner tells apart stays apart: {ids:?}");
    assert_eq!(run.rows[0].notes[0], "command: ./count \u{1f468}\u{fffd}\u{1f469}");
    assert_eq!(run.rows[6].notes[0], "command: two\nlines\tlong");
    let hidden = |c: char| model::printable::is_hidden(c) && !matches!(c, '\n' | '\t');
    assert!(run.rows.iter().all(|row| !row.notes.join("").contains(hidden)));
    let note = &run.rows[7].notes[0];
    assert!(note.len() < 4200 && note.ends_with("... (12010 bytes)"), "{note}");
}

#[test]
fn results_of_other_tools_are_named_whatever_was_asked_for() {
    let jmh = "Benchmark   Mode  Cnt  Score   Error  Units\nA.b  avgt  5  1.5 ± 0.1  ns/op\n";
    let asv = "{\"commit_hash\": \"a\", \"env_name\": \"b\", \"results\": {\"x\": [1]}}";
    let nanobench = "{\"results\": [{\"name\": \"a\", \"median(elapsed)\": 1e-9}]}";
    let criterion = "fib 20   time:   [26.029 us 26.251 us 26.505 us]\n";
    let formats = [
        None,
        Some(InputFormat::Hyperfine),
        Some(InputFormat::GoogleBenchmark),
        Some(InputFormat::Run),
        Some(InputFormat::Criterion),
    ];
    for format in formats {
        for (tool, text) in
            [("JMH", jmh), ("asv", asv), ("nanobench", nanobench), ("criterion", criterion)]
        {
            let error = import(&[file("a", text)], format, origin()).expect_err(text);
            let error = error.to_string();
            assert!(
                error.contains(tool) && error.contains("latlas reads results of"),
                "{format:?}: {error}"
            );
        }
    }
    let error = import(&[file("a", "[1, 2]")], None, origin()).expect_err("a list");
    assert_eq!(error.reason, "latlas, [0]: an object is needed, not a number");
    // A format that is read, and not the one asked for.
    for (format, text, named) in [
        (InputFormat::Hyperfine, "BenchmarkA-2  100  12.5 ns/op\n", "go-test"),
        (InputFormat::GoTest, "{\"results\": [{\"command\": \"a\", \"times\": [1]}]}", "hyperfine"),
        (
            InputFormat::Jmh,
            "[{\"name\": \"a\", \"unit\": \"ns\", \"value\": 1}]",
            "benchmark-action",
        ),
    ] {
        let error = import(&[file("a", text)], Some(format), origin()).expect_err(text);
        assert!(error.reason.ends_with(&format!("use --format {named}")), "{error}");
    }
}
