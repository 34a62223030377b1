//! Files that harnesses wrote (`real/`: Go 1.26, pytest-benchmark 5.3, JMH 1.37 and divan 0.1.21 on small suites; of
//! BenchmarkDotNet, Bencher and github-action-benchmark what their documentation has), by the values in them.

use super::*;
use model::run::{Outcome, Row};

/// Each row's id, its typical figure in ns to four digits or the reason why it has none, and its samples.
fn rows(run: &Run) -> Vec<String> {
    let of = |row: &Row| {
        let samples =
            run.cell(&row.id, &[]).map_or(0, |cell| cell.samples.samples().expect("samples").len());
        match &row.outcome {
            Outcome::Unavailable { reason } => format!("{}: {reason}", row.id),
            _ => {
                let typical = row.estimate().and_then(|e| e.typical).expect("a figure");
                format!("{} {:.4e} x{samples}", row.id, typical.ns.value)
            }
        }
    };
    run.rows.iter().map(of).collect()
}

fn named(name: &str, text: &str) -> Run {
    import(&[file(name, text)], None, origin()).unwrap_or_else(|e| panic!("{e}"))
}

const GO: [&str; 5] = [
    "go_test.example.com/codec.BenchmarkSum 1.3220e0 x3",
    "go_test.example.com/codec.BenchmarkSort/small-16 2.6680e1 x3",
    "go_test.example.com/codec.BenchmarkSort/x/y 1.3140e1 x3",
    "go_test.example.com/codec.BenchmarkBad: go test: failed: a_test.go:7: broken",
    "go_test.example.com/codec.BenchmarkOnlyMetric: go test: it has no ns/op, only hits/op",
];

#[test]
fn go_test_counts_runs_of_a_name_as_its_samples() {
    let run = named("go.txt", include_str!("real/go-test.txt"));
    assert_eq!(rows(&run), GO);
    let samples = run.cells[0].samples.samples().expect("samples");
    assert_eq!(samples[0].turns, 1000);
    assert_eq!(
        run.conditions.remarks,
        ["the file says: goos linux, goarch amd64, cpu AMD EPYC, GOMAXPROCS 2"]
    );
    assert!(run.rows[0].notes.contains(&"of the first run: 0 B/op, 0 allocs/op".to_owned()));
}

#[test]
fn go_test_in_json_is_the_text_within() {
    let run = named("go.json", include_str!("real/go-test.jsonl"));
    let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    let expected = GO.map(|row| row.split([' ', ':']).next().unwrap_or_default());
    assert_eq!(ids, expected);
    assert_eq!(rows(&run)[0], "go_test.example.com/codec.BenchmarkSum 6.5100e0 x1");
}

#[test]
fn the_number_of_threads_is_no_part_of_a_name_and_other_numbers_are() {
    let text =
        |names: [&str; 2]| names.map(|name| format!("Benchmark{name} 10 5 ns/op\n")).concat();
    for (names, expected) in [
        (["A-8", "B/size-16-8"], ["BenchmarkA", "BenchmarkB/size-16"]),
        (["A", "B/size-16"], ["BenchmarkA", "BenchmarkB/size-16"]),
        (["A-1", "A-2"], ["BenchmarkA-1", "BenchmarkA-2"]),
    ] {
        let run = named("a.txt", &text(names));
        let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, expected.map(|name| format!("go_test.{name}")));
    }
    // Lines that only look like one.
    let noise = "BenchmarkA 10 5 ns/op\nBenchmarking 3 files\nBenchmark 1 (5 runs): true\nBenchmarkB\nok x 1s\n";
    assert_eq!(rows(&named("a.txt", noise)), ["go_test.BenchmarkA 5.0000e0 x1"]);
}

#[test]
fn rounds_of_pytest_benchmark_have_its_iterations() {
    let run = named("o.json", include_str!("real/pytest-benchmark.json"));
    let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    assert!(ids[0].starts_with("pytest_benchmark.test_a.py::test_sum"), "{ids:?}");
    let values: Vec<f64> = run
        .rows
        .iter()
        .map(|row| row.estimate().and_then(|e| e.typical).expect("a figure").ns.value)
        .collect();
    for (value, expected) in values.iter().zip([995.499_977, 164.439_998, 199.699_998]) {
        assert!((value / expected - 1.0).abs() < 1e-6, "{value}");
    }
    assert_eq!(run.cells[1].samples.samples().expect("samples")[0].turns, 50);
    assert_eq!((run.program.version.as_str(), run.rows.len()), ("5.3.1", 3));
}

#[test]
fn scores_of_jmh_are_times_in_every_mode() {
    let run = named("o.json", include_str!("real/jmh.json"));
    assert_eq!(
        rows(&run),
        [
            "jmh.org.x.Small.ops:n=10/thrpt 7.3388e-1 x6",
            "jmh.org.x.Small.sum:n=10 5.2962e0 x6",
            "jmh.org.x.Small.sleep:n=10/sample 1.0752e6 x19",
            "jmh.org.x.Small.once:n=10/ss 1.4615e3 x6",
        ]
    );
}

#[test]
fn divan_has_a_median_and_no_samples() {
    let run = named("d.txt", include_str!("real/divan.txt"));
    assert_eq!(
        rows(&run),
        [
            "divan.small/add 2.7260e0 x0",
            "divan.small/later: divan: ignored",
            "divan.small/sum/1 3.7260e0 x0",
            "divan.small/sum/2 3.7260e0 x0",
            "divan.small/sum/10 3.7260e0 x0",
            "divan.small/deep/spin 1.1650e5 x0",
            "divan.small/deep/more/copy 5.5820e1 x0",
        ]
    );
    let reason = &run.rows[0].estimate().expect("a figure").reason;
    assert_eq!(
        reason,
        "only the median of 10 samples between 1.73 ns and 5.73 ns: no samples in the file, so no interval"
    );
}

#[test]
fn benchmark_dotnet_has_the_measurements_of_its_result() {
    let one = |mode: &str, stage: &str, n: u64, ns: f64| {
        format!(
            "{{\"IterationMode\": {mode:?}, \"IterationStage\": {stage:?}, \"LaunchIndex\": 1,
              \"IterationIndex\": 1, \"Operations\": {n}, \"Nanoseconds\": {ns}}}"
        )
    };
    let measurements = [
        one("Overhead", "Jitting", 1, 9e9),
        one("Workload", "Warmup", 16, 9e9),
        one("Workload", "Result", 16, 160.0),
        one("Workload", "Result", 16, 192.0),
    ];
    let run = named(
        "r.json",
        &format!(
            "\u{feff}{{\"Title\": \"A\", \"HostEnvironmentInfo\": {{\"BenchmarkDotNetVersion\": \"0.13.12\",
              \"ProcessorName\": \"x\"}}, \"Benchmarks\": [
              {{\"FullName\": \"N.A.Sum(n: 10)\", \"Statistics\": {{\"Median\": 1}}, \"Measurements\": [{}]}},
              {{\"FullName\": \"N.A.Brief\", \"Statistics\": {{\"N\": 3, \"Median\": 7.5}}}},
              {{\"FullName\": \"N.A.Values\", \"Statistics\": {{\"OriginalValues\": [4, 6, 5]}}}},
              {{\"FullName\": \"N.A.Broken\", \"Statistics\": null}}]}}",
            measurements.join(",")
        ),
    );
    let rows = rows(&run);
    assert!(rows[0].starts_with("benchmark_dotnet.N.A.Sum_n:_10"), "{rows:?}");
    assert!(rows[0].ends_with(" 1.1000e1 x2"), "{rows:?}");
    assert_eq!(
        rows[1..],
        [
            "benchmark_dotnet.N.A.Brief 7.5000e0 x0",
            "benchmark_dotnet.N.A.Values 5.0000e0 x3",
            "benchmark_dotnet.N.A.Broken: BenchmarkDotNet: it has no results",
        ]
    );
    assert_eq!(run.program.version, "0.13.12");
}

#[test]
fn bencher_and_github_action_benchmark_have_one_value_each() {
    let run = named(
        "b.json",
        r#"{"a": {"latency": {"value": 88.5, "lower_value": 87, "upper_value": 90}},
            "b-bencher-ignore": {"latency": {"value": 3}}, "c": {"file-size": {"value": 3}}}"#,
    );
    let expected = [
        "bencher.a 8.8500e1 x0",
        "bencher.b 3.0000e0 x0",
        "bencher.c: Bencher: it has no latency, only file-size",
    ];
    assert_eq!(rows(&run), expected);
    let reason = &run.rows[0].estimate().expect("a figure").reason;
    assert!(reason.contains("bounds of 87.0 ns and 90.0 ns"), "{reason}");
    let run = named(
        "g.json",
        r#"[{"name": "a", "unit": "ns/iter", "value": 12.5, "range": "± 3"}, {"name": "b", "unit": "ms", "value": 2},
            {"name": "c", "unit": "ops/sec", "value": 4e6}, {"name": "d", "unit": "Percent", "value": 50},
            {"name": "e", "unit": "ops/sec", "value": 0}]"#,
    );
    assert_eq!(
        rows(&run),
        [
            "benchmark_action.a 1.2500e1 x0",
            "benchmark_action.b 2.0000e6 x0",
            "benchmark_action.c 2.5000e2 x0",
            "benchmark_action.d: github-action-benchmark: it is in \"Percent\", not a time",
            "benchmark_action.e: github-action-benchmark: value is 0 operations",
        ]
    );
}

#[test]
fn what_is_wrong_names_the_tool_and_the_field() {
    let pytest = |stats: &str| {
        format!(
            r#"{{"machine_info": {{}}, "benchmarks": [{{"fullname": "t::a", "stats": {stats}}}]}}"#
        )
    };
    let jmh = |metric: &str| {
        format!(r#"[{{"benchmark": "o.A.b", "mode": "avgt", "primaryMetric": {metric}}}]"#)
    };
    let head = "small  fastest │ slowest │ median │ mean │ samples │ iters\n";
    let texts = [
        pytest(r#"{"data": [0.5, -1], "iterations": 1}"#),
        pytest(r#"{"data": [0.5], "iterations": 0}"#),
        pytest(r#"{"iterations": 1}"#),
        pytest("null"),
        jmh(r#"{"scoreUnit": "ns/op", "rawData": [[1, "x"]]}"#),
        jmh(r#"{"scoreUnit": "ns/op", "rawData": [[1, -2]]}"#),
        jmh(r#"{"scoreUnit": "us/op", "rawDataHistogram": [[[[1.5, 0.5]]]]}"#),
        jmh(r#"{"scoreUnit": "us/op", "rawDataHistogram": [[[[1.5, 1e12]]]]}"#),
        jmh(r#"{"score": 1}"#),
        "BenchmarkA 10 x ns/op\n".into(),
        "BenchmarkA 10 -5 ns/op\n".into(),
        "BenchmarkA 0 5 ns/op\n".into(),
        "BenchmarkA 1000000 1e300 ns/op\n".into(),
        "goos: linux\nPASS\n".into(),
        "{\"Action\": \"output\", \"Package\": \"a\", \"Output\": \"ok\"}\n[".into(),
        format!("Timer precision: 20 ns\n{head}├─ a   1 parsec │ 2 ns │ 1 ns │ 1 ns │ 1 │ 1\n"),
        r#"{"a": {"latency": {"value": "fast"}}}"#.into(),
        r#"[{"name": "a", "unit": "ns", "value": -1}]"#.into(),
        r#"[{"name": "a", "unit": 5, "value": 1}]"#.into(),
    ];
    insta::assert_snapshot!(refusals(texts.map(String::into_bytes)));
}
