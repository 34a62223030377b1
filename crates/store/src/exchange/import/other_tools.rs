//! Results of tools that are not read, by what only they write: named, so that nobody has to guess what is
//! wrong with the file.

use super::Format;

/// So much of a file's beginning is looked at.
const LOOKED_AT: usize = 256 << 10;

/// The tools, each with the texts that tell it: all of one line. JSON is told by its keys, which begin with a
/// quote; `[` first stands for a list.
const TOOLS: &[(&str, &[&[&str]])] = &[
    (
        "a JMH result",
        &[
            &["\"primaryMetric\"", "\"scoreUnit\""],
            &["# JMH version"],
            &["Benchmark\",\"Mode\",\"Threads"],
            &["Benchmark ", " Mode ", " Cnt ", " Score "],
        ],
    ),
    (
        "a pytest-benchmark result",
        &[&["\"machine_info\"", "\"benchmarks\""]],
    ),
    (
        "a pyperf result",
        &[&["\"benchmarks\"", "\"runs\"", "\"perf_version\""]],
    ),
    ("an asv result", &[&["\"commit_hash\"", "\"env_name\""]]),
    (
        "a BenchmarkDotNet result",
        &[
            &["\"HostEnvironmentInfo\""],
            &["BenchmarkDotNet v"],
            &["BenchmarkDotNet=v"],
        ],
    ),
    (
        "a nanobench result",
        &[
            &["\"median(elapsed)\""],
            &["\"medianAbsolutePercentError(elapsed)\""],
            &["ns/op |", "err% |"],
        ],
    ),
    (
        "a Catch2 result",
        &[
            &["<Catch2TestRun"],
            &["<BenchmarkResults"],
            &["\"catch2-version\""],
            &["benchmark name", "samples", "iterations", "est run time"],
        ],
    ),
    (
        "a result of go test",
        &[
            &["\"Action\":", "\"Package\":"],
            &["goos: "],
            &["Benchmark", " ns/op"],
        ],
    ),
    (
        "a divan result",
        &[
            &["Timer precision: "],
            &["fastest ", "slowest ", "median ", "samples"],
        ],
    ),
    (
        "a result of perf stat",
        &[
            &["\"counter-value\"", "\"event\""],
            &["Performance counter stats for"],
        ],
    ),
    (
        "an LMbench result",
        &[
            &["[lmbench"],
            &["[LMBENCH_VER"],
            &["Simple syscall: ", "microseconds"],
        ],
    ),
    (
        "a result of cargo bench (libtest)",
        &[&[" ... bench: ", " ns/iter"], &["\"type\": \"bench\""]],
    ),
    ("a fio result", &[&["\"fio version\""]]),
    (
        "a BenchmarkTools.jl result",
        &[&["\"Julia\"", "\"BenchmarkTools\""]],
    ),
    (
        "a JavaScript benchmark result",
        &[&["\"hz\"", "\"rme\""], &[" ops/sec ", "runs sampled"]],
    ),
    (
        "hyperfine's table (--export-json writes what is read)",
        &[
            &["command,mean,stddev"],
            &["| Command | Mean ["],
            &["Time (mean ± σ):"],
            &["Time (abs ≡):"],
        ],
    ),
    (
        "Google Benchmark's table (--benchmark_format=json writes what is read)",
        &[
            &["iterations,real_time,cpu_time,time_unit"],
            &["Benchmark ", " Time ", " CPU ", " Iterations"],
        ],
    ),
    (
        "criterion's table (target/criterion holds what is read)",
        &[
            &["sample_measured_value", "iteration_count"],
            &["time:   ["],
        ],
    ),
    (
        "Bencher Metric Format",
        &[
            &["\"latency\":{\"value\"", "{\"value\""],
            &["\"latency\": {", "\"value\":"],
        ],
    ),
    (
        "a github-action-benchmark result",
        &[&["[", "\"name\"", "\"unit\"", "\"value\""]],
    ),
];

/// What a file is that no format fits: the tool, and what is read.
pub(super) fn named(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    let start = start.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let in_list = |rest: &str| {
        let value = |c: char| c.is_ascii_digit() || "{[\"-]".contains(c);
        rest.trim_start().starts_with(value)
    };
    let is_json = start.starts_with('{') || start.strip_prefix('[').is_some_and(in_list);
    let is = |signs: &[&str]| match signs[0] {
        "[" => start.starts_with('[') && signs.iter().all(|sign| start.contains(sign)),
        // The texts of a JSON file may hold anything.
        first => first.starts_with('"') == is_json && signs.iter().all(|sign| start.contains(sign)),
    };
    let tool = TOOLS
        .iter()
        .find(|(_, ways)| ways.iter().any(|signs| is(signs)));
    tool.map(|(tool, _)| format!("this is {tool}; latlas reads results of {}", read()))
}

/// The programs whose results are read.
pub(super) fn read() -> String {
    let programs = Format::ALL.map(Format::program);
    programs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_tools_are_named() {
        for (text, tool) in [
            (
                r#"[{"benchmark": "a.b", "mode": "thrpt", "primaryMetric": {"score": 1, "scoreUnit": "ops/s"}}]"#,
                "JMH",
            ),
            (
                "Benchmark   Mode  Cnt  Score   Error  Units\nA.b  avgt  5  1.5 ± 0.1  ns/op\n",
                "JMH",
            ),
            (
                r#"{"machine_info": {}, "commit_info": {}, "benchmarks": [{"name": "a", "stats": {"min": 1}}]}"#,
                "pytest-benchmark",
            ),
            (
                r#"{"benchmarks": [{"runs": [{"values": [1]}]}], "metadata": {"perf_version": "2.6"}, "version": "1.0"}"#,
                "pyperf",
            ),
            (
                r#"{"commit_hash": "a", "env_name": "b", "results": {"x": [1]}}"#,
                "asv",
            ),
            (
                r#"{"Title": "A", "HostEnvironmentInfo": {}, "Benchmarks": []}"#,
                "BenchmarkDotNet",
            ),
            (
                r#"{"results": [{"title": "b", "name": "x", "unit": "op", "median(elapsed)": 1e-9}]}"#,
                "nanobench",
            ),
            (
                "|    ns/op |   op/s |    err% |     total | benchmark\n",
                "nanobench",
            ),
            (
                "<?xml version=\"1.0\"?>\n<Catch2TestRun name=\"a\">",
                "Catch2",
            ),
            (
                "goos: linux\ngoarch: amd64\nBenchmarkA-2  100  12.5 ns/op\n",
                "go test",
            ),
            ("BenchmarkA-2  \t 100\t  12.5 ns/op\n", "go test"),
            (
                r#"{"Time":"x","Action":"output","Package":"a","Output":"ok"}"#,
                "go test",
            ),
            (
                "Timer precision: 10 ns\nbench  fastest │ slowest │ median │ mean │ samples │ iters\n",
                "divan",
            ),
            (
                r#"{"counter-value" : "1.0", "unit" : "", "event" : "cycles"}"#,
                "perf stat",
            ),
            ("[lmbench3.0 results for Linux]\n", "LMbench"),
            (
                "test a ... bench:       1,234 ns/iter (+/- 56)\n",
                "cargo bench",
            ),
            (r#"{"fio version": "fio-3.33", "jobs": []}"#, "fio"),
            (
                "command,mean,stddev,median,user,system,min,max\n",
                "--export-json",
            ),
            (
                "name,iterations,real_time,cpu_time,time_unit,bytes_per_second\n",
                "--benchmark_format=json",
            ),
            (
                "fib 20   time:   [26.029 us 26.251 us 26.505 us]\n",
                "target/criterion",
            ),
            (r#"{"a": {"latency": {"value": 1.5}}}"#, "Bencher"),
            (
                r#"[{"name": "a", "unit": "ns", "value": 1}]"#,
                "github-action-benchmark",
            ),
        ] {
            let named = named(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert!(named.contains(tool), "{text}\n{named}");
            assert!(
                named.ends_with("hyperfine, Google Benchmark, criterion, latlas"),
                "{named}"
            );
        }
        let command = r#"{"results": [{"command": "Benchmark ns/op goos: time:   [", "name": 1, "unit": 1, "value": 1}]}"#;
        for unknown in ["", "hello", "{}", "[]", "{\"a\": 1}", "\u{0}\u{1}", command] {
            assert_eq!(super::named(unknown.as_bytes()), None, "{unknown}");
        }
    }
}
