//! Results of tools that are not read, by what only they write: named, so that nobody has to guess what is
//! wrong with the file.

use super::InputFormat;

/// So much of a file's beginning is looked at.
const LOOKED_AT: usize = 256 << 10;

/// The tools, each with the texts that tell it: all of one line. JSON is told by its keys, which begin with a
/// quote; `[` first stands for a list, and `^` for the beginning of the file.
const TOOLS: &[(&str, &[&[&str]])] = &[
    (
        "JMH's table (import what -rf json writes)",
        &[
            &["# JMH version"],
            &["Benchmark\",\"Mode\",\"Threads"],
            &["Benchmark ", " Mode ", " Cnt ", " Score "],
        ],
    ),
    (
        "pytest-benchmark's table (import what --benchmark-json writes)",
        &[&["Name (time in ", "Outliers"]],
    ),
    ("a pyperf result", &[&["\"benchmarks\"", "\"runs\"", "\"perf_version\""]]),
    ("an asv result", &[&["\"commit_hash\"", "\"env_name\""]]),
    (
        "BenchmarkDotNet's table (import *-report-full.json)",
        &[&["BenchmarkDotNet v"], &["BenchmarkDotNet=v"]],
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
        "a result of perf stat",
        &[
            &["\"counter-value\"", "\"event\""],
            &["Performance counter stats for"],
            &["^# started on "],
        ],
    ),
    (
        "an LMbench result",
        &[&["[lmbench"], &["[LMBENCH_VER"], &["Simple syscall: ", "microseconds"]],
    ),
    (
        "a result of cargo bench (libtest)",
        &[&[" ... bench: ", " ns/iter"], &["\"type\": \"bench\""]],
    ),
    (
        "a fio result",
        &[
            &["\"fio version\""],
            // Notes and warnings of fio stand before its JSON.
            &["\n{", "\"fio version\""],
            &["(g=0): rw=", "ioengine="],
            &["(groupid=", ", jobs=", "err="],
            // --minimal
            &["^3;fio-"],
        ],
    ),
    ("a sysbench result", &[&["^sysbench ", "(using "], &["^sysbench 0."]]),
    ("a result of wrk", &[&["^Running ", " test @ "], &["Thread Stats ", "+/- Stdev"]]),
    ("a result of ab (ApacheBench)", &[&["^This is ApacheBench"]]),
    ("a stress-ng result", &[&["stress-ng-version:"], &["^stress-ng: "]]),
    ("a poop result", &[&["^Benchmark 1 (", " runs): ", "measurement "]]),
    ("an iperf3 result", &[&["\"intervals\"", "\"iperf 3"], &["[ ID] Interval "]]),
    ("a mitata result", &[&["\"benchmarks\"", "\"alias\"", "\"runs\""], &["avg (min … max)"]]),
    ("a BenchmarkTools.jl result", &[&["\"Julia\"", "\"BenchmarkTools\""]]),
    (
        "a Celero result",
        &[&["Group,Experiment,Problem Space"], &["Group ", " Experiment ", " Prob. Space "]],
    ),
    (
        "a result of tests (GoogleTest, JUnit)",
        &[&["\"testsuites\"", "\"failures\""], &["<testsuite"], &["[==========] Running "]],
    ),
    (
        "a Phoronix Test Suite result",
        &[&["<PhoronixTestSuite"], &["\"test_version\"", "\"systems\""]],
    ),
    ("a Geekbench result", &[&["\"multicore_score\""], &["^Geekbench "]]),
    (
        "a k6 result",
        &[
            &["\"metrics\"", "\"http_req_duration\""],
            &["\"metrics\"", "\"iteration_duration\""],
            &["\"type\":\"Metric\"", "\"thresholds\""],
            &["iteration_duration...", ": avg="],
        ],
    ),
    ("a vegeta result", &[&["\"latencies\"", "\"bytes_in\""], &["[total, rate, throughput]"]]),
    ("a result of oha or hey", &[&["\"responseTimeHistogram\""], &["Slowest:", "Requests/sec:"]]),
    ("a bombardier result", &[&["^Bombarding "]]),
    ("an autocannon result", &[&["\"p97_5\"", "\"throughput\""]]),
    ("a JMeter result", &[&["^timeStamp,elapsed,label,"]]),
    ("a Locust result", &[&["^Type,Name,Request Count,"]]),
    ("a Benchee result", &[&["Name ", " ips ", " average ", " deviation "]]),
    ("a benchmark-ips result", &[&["Calculating -----"], &["\"ips\"", "\"central_tendency\""]]),
    ("a pgbench result", &[&["transaction type: ", "latency average = "]]),
    ("a cyclictest result", &[&["T: 0 (", "Min:", "Act:"], &["# Histogram", "# Min Latencies:"]]),
    ("a result of perf bench", &[&["^# Running '", "benchmark"]]),
    (
        "a hackbench result",
        &[&["^Running in process mode with "], &["^Running in threaded mode with "]],
    ),
    ("a STREAM result", &[&["STREAM version $"]]),
    ("a result of Intel Memory Latency Checker", &[&["^Intel(R) Memory Latency Checker"]]),
    ("a CoreMark result", &[&["CoreMark Size "]]),
    ("a UnixBench result", &[&["BYTE UNIX Benchmarks"]]),
    (
        "a JavaScript benchmark result",
        &[
            &["\"hz\"", "\"rme\""],
            &["\"hz\"", "\"mean\""],
            &["\"hz\"", "\"benchmarks\""],
            &[" ops/sec ", "runs sampled"],
        ],
    ),
    (
        "hyperfine's table (import what --export-json writes)",
        &[
            &["command,mean,stddev"],
            &["| Command | Mean ["],
            &["Time (mean ± σ):"],
            &["Time (abs ≡):"],
        ],
    ),
    (
        "Google Benchmark's table (import what --benchmark_format=json writes)",
        &[
            &["iterations,real_time,cpu_time,time_unit"],
            &["Benchmark ", " Time ", " CPU ", " Iterations"],
        ],
    ),
    (
        "criterion's table (import target/criterion)",
        &[&["sample_measured_value", "iteration_count"], &["time:   ["]],
    ),
];

/// What a file is that no format fits: the tool, and what is read.
pub(super) fn recognized_tool(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    let start = start.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let in_list = |rest: &str| {
        let value = |c: char| c.is_ascii_digit() || "{[\"-]".contains(c);
        rest.trim_start().starts_with(value)
    };
    let is_json = start.starts_with('{') || start.strip_prefix('[').is_some_and(in_list);
    let has = |sign: &&str| match sign.strip_prefix('^') {
        Some(first) => start.starts_with(first),
        None => start.contains(sign),
    };
    let is = |signs: &[&str]| match signs[0] {
        "[" => start.starts_with('[') && signs.iter().all(has),
        // The texts of a JSON file may hold anything.
        first => first.starts_with('"') == is_json && signs.iter().all(has),
    };
    let mut tools = TOOLS.iter();
    let tool = tools.find(|(_, ways)| ways.iter().any(|signs| is(signs)));
    let tool = tool.map(|(tool, _)| *tool);
    let tool = tool.or_else(|| is_table_of_perf(start).then_some("a result of perf stat"));
    tool.map(|tool| format!("this is {tool}; latlas reads results of {}", supported_tools()))
}

/// Whether the first line is one of `perf stat -x`: the value, its unit, the event, the time that it was counted in
/// ns and in percent. Options put fields before them (interval, CPU) and between (spread of repetitions), and the
/// separator is any.
fn is_table_of_perf(start: &str) -> bool {
    let line = start.lines().next().unwrap_or_default();
    let is_percent = |field: &str| {
        let parts = field.split_once('.');
        parts.is_some_and(|(whole, rest)| is_whole(whole) && is_whole(rest) && rest.len() == 2)
    };
    let is_value = |field: &str| field.starts_with("<not ") || field.parse::<f64>().is_ok();
    [',', ';', '\t', ':', '|'].into_iter().any(|separator| {
        let fields = line.split(separator).map(str::trim);
        let fields: Vec<&str> = fields.filter(|field| !field.ends_with('%')).collect();
        fields.windows(5).any(|five| {
            is_value(five[0])
                && !five[1].contains(|c: char| c.is_ascii_digit())
                && five[2].starts_with(|c: char| c.is_ascii_alphabetic())
                && is_whole(five[3])
                && is_percent(five[4])
        })
    })
}

fn is_whole(field: &str) -> bool {
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

/// The programs whose results are read.
pub(super) fn supported_tools() -> String {
    let programs = InputFormat::ALL.map(InputFormat::program);
    programs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_tools_are_named() {
        for (text, tool) in [
            (
                "Benchmark   Mode  Cnt  Score   Error  Units\nA.b  avgt  5  1.5 ± 0.1  ns/op\n",
                "JMH",
            ),
            (
                r#"{"benchmarks": [{"runs": [{"values": [1]}]}], "metadata": {"perf_version": "2.6"}, "version": "1.0"}"#,
                "pyperf",
            ),
            ("Name (time in ns)   Min   Max   Outliers  OPS\n", "pytest-benchmark"),
            ("// BenchmarkDotNet v0.13.12, Debian 12\n", "BenchmarkDotNet"),
            (r#"{"commit_hash": "a", "env_name": "b", "results": {"x": [1]}}"#, "asv"),
            (
                r#"{"results": [{"title": "b", "name": "x", "unit": "op", "median(elapsed)": 1e-9}]}"#,
                "nanobench",
            ),
            ("|    ns/op |   op/s |    err% |     total | benchmark\n", "nanobench"),
            ("<?xml version=\"1.0\"?>\n<Catch2TestRun name=\"a\">", "Catch2"),
            (r#"{"counter-value" : "1.0", "unit" : "", "event" : "cycles"}"#, "perf stat"),
            ("[lmbench3.0 results for Linux]\n", "LMbench"),
            ("test a ... bench:       1,234 ns/iter (+/- 56)\n", "cargo bench"),
            (
                "0.58,msec,task-clock,581602,100.00,0.050,CPUs utilized\n0,,context-switches,581602,100.00,0.000,/sec\n",
                "perf stat",
            ),
            (
                "# started on Thu Nov 26 10:18:13 2026\n\n0.55,msec,task-clock,554501,100.00,0.149,CPUs utilized\n",
                "perf stat",
            ),
            (
                "     0.111024964;1.22;msec;task-clock;1217645;100.00;0.012;CPUs utilized\n",
                "perf stat",
            ),
            ("<not supported>,,cycles,0,100.00,,\n", "perf stat"),
            ("CPU0,123,,cycles:u,0.86%,123442174,33.40,1.067,GHz\n", "perf stat"),
            (r#"{"fio version": "fio-3.33", "jobs": []}"#, "fio"),
            (
                "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n",
                "fio",
            ),
            ("a: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n", "fio"),
            ("a: (groupid=0, jobs=1): err= 0: pid=1: Thu Nov 26\n  read: IOPS=1\n", "fio"),
            ("3;fio-3.33;a;0;0;40;20;5\n", "fio"),
            ("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test\n", "sysbench"),
            ("Running 30s test @ http://127.0.0.1\n  12 threads and 400 connections\n", "wrk"),
            ("This is ApacheBench, Version 2.3 <$Revision: 1 $>\n", "ab (ApacheBench)"),
            ("---\nsystem-info:\n      stress-ng-version: 0.15.06\nmetrics:\n", "stress-ng"),
            ("stress-ng: info:  [1] dispatching hogs: 1 cpu\n", "stress-ng"),
            (
                "Benchmark 1 (100 runs): true\n  measurement          mean ± σ            min … max\n",
                "poop",
            ),
            (
                "{\"start\":\t{\"version\":\t\"iperf 3.12\"}, \"intervals\":\t[], \"end\": {}}",
                "iperf3",
            ),
            ("[ ID] Interval           Transfer     Bitrate\n", "iperf3"),
            (
                r#"{"layout": [], "benchmarks": [{"alias": "a", "runs": []}], "context": {"cpu": {"name": "x"}}}"#,
                "mitata",
            ),
            (
                "Group,Experiment,Problem Space,Samples,Iterations,Failure,Baseline,us/Iteration\n",
                "Celero",
            ),
            (r#"{"tests": 1, "failures": 0, "name": "AllTests", "testsuites": []}"#, "GoogleTest"),
            ("<?xml version=\"1.0\"?>\n<testsuites tests=\"1\">", "GoogleTest"),
            ("[==========] Running 1 test from 1 test suite.\n", "GoogleTest"),
            ("<?xml version=\"1.0\"?>\n<PhoronixTestSuite>", "Phoronix"),
            (
                r#"{"version": "6.3.0", "score": 1, "multicore_score": 2, "sections": []}"#,
                "Geekbench",
            ),
            ("Geekbench 6.3.0 : https://www.geekbench.com/\n", "Geekbench"),
            (r#"{"root_group": {}, "metrics": {"http_req_duration": {"avg": 1.5}}}"#, "k6"),
            (
                r#"{"type":"Metric","data":{"name":"http_reqs","thresholds":[]},"metric":"http_reqs"}"#,
                "k6",
            ),
            ("     iteration_duration.............: avg=1.01s min=1s\n", "k6"),
            (r#"{"latencies": {"mean": 1}, "bytes_in": {"total": 0}}"#, "vegeta"),
            ("Requests      [total, rate, throughput]         100, 50.5, 50.1\n", "vegeta"),
            (
                "Summary:\n  Success rate:\t100.00%\n  Slowest:\t0.1 sec\n  Requests/sec:\t100\n",
                "oha or hey",
            ),
            ("Bombarding http://127.0.0.1 with 10 request(s)\n", "bombardier"),
            (r#"{"latency": {"p97_5": 1}, "requests": {}, "throughput": {}}"#, "autocannon"),
            ("timeStamp,elapsed,label,responseCode\n", "JMeter"),
            ("Type,Name,Request Count,Failure Count\n", "Locust"),
            ("Name           ips        average  deviation         median\n", "Benchee"),
            ("Calculating -------------------------------------\n", "benchmark-ips"),
            ("transaction type: <builtin: TPC-B>\nlatency average = 1.5 ms\n", "pgbench"),
            (
                "T: 0 (  99) P:80 I:1000 C:  10 Min:      3 Act:    5 Avg:    5 Max:      9\n",
                "cyclictest",
            ),
            ("# Running 'sched/pipe' benchmark:\n", "perf bench"),
            (
                "Running in process mode with 10 groups using 40 file descriptors each\n",
                "hackbench",
            ),
            ("-----\nSTREAM version $Revision: 5.10 $\n", "STREAM"),
            ("Intel(R) Memory Latency Checker - v3.11\n", "Memory Latency Checker"),
            ("2K performance run parameters\nCoreMark Size    : 666\n", "CoreMark"),
            ("   BYTE UNIX Benchmarks (Version 5.1.3)\n", "UnixBench"),
            (r#"[{"name": "a", "hz": 1, "mean": 1}]"#, "JavaScript"),
            ("command,mean,stddev,median,user,system,min,max\n", "--export-json"),
            (
                "name,iterations,real_time,cpu_time,time_unit,bytes_per_second\n",
                "--benchmark_format=json",
            ),
            ("fib 20   time:   [26.029 us 26.251 us 26.505 us]\n", "target/criterion"),
        ] {
            let named = recognized_tool(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert!(named.contains(tool), "{text}\n{named}");
            assert!(named.ends_with("Bencher, github-action-benchmark, latlas"), "{named}");
        }
        let command = r#"{"results": [{"command": "Benchmark ns/op goos: time:   [", "name": 1, "unit": 1, "value": 1}]}"#;
        // Tables like perf's, and words of tools where they do not stand first.
        let tables = ["a,ns,b,100,12.50", "1,2,b,100,12.50", "1,ns,b,100,12.5", "1,ns,b,x,12.50"];
        let words = "see: This is ApacheBench, sysbench 1.0 (using 3;fio-";
        let unknown = ["", "hello", "{}", "[]", "{\"a\": 1}", "\u{0}\u{1}", command, words];
        for unknown in unknown.into_iter().chain(tables) {
            assert_eq!(super::recognized_tool(unknown.as_bytes()), None, "{unknown}");
        }
    }

    #[test]
    fn the_page_says_how_many_there_are() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let page = std::fs::read_to_string(page).expect("docs/formats.md");
        let (_, rest) = page.split_once("Results of some ").expect("the sentence");
        let number = rest.split(' ').next().unwrap_or_default();
        let (number, there): (usize, usize) = (number.parse().expect("a number"), TOOLS.len());
        assert!(number.abs_diff(there) <= 5, "there are {there}, not {number}");
    }
}
