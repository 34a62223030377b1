//! Import of files that are damaged or hostile: each is refused in one line that names the place. `tools.rs`
//! reads what each tool and version really writes. Whole result files of other tools are read in
//! `crates/view/tests/exchange.rs`.

use super::files::Input;
use super::*;
use std::collections::HashMap;

mod suites;
mod tools;

fn origin() -> Origin {
    Origin {
        id: "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b".into(),
        now_unix_ms: 1_795_225_964_000,
        by: "latlas 0.1.0".into(),
        name: None,
        machine: None,
    }
}

fn file(name: &str, text: &str) -> Input {
    Input::File { name: name.into(), bytes: text.as_bytes().to_vec() }
}

fn imported_run(text: &str) -> Run {
    import(&[file("a.json", text)], None, origin()).unwrap_or_else(|e| panic!("{e}"))
}

/// Why each of these is refused, in one line; a long text by its beginning.
fn refusals(texts: impl IntoIterator<Item = Vec<u8>>) -> String {
    let line = |bytes: Vec<u8>| {
        let named = String::from_utf8_lossy(&bytes).into_owned();
        let named: String = named.chars().take(160).collect();
        let input = Input::File { name: "a.json".into(), bytes };
        let error = import(&[input], None, origin()).expect_err(&named).to_string();
        assert!(!error.contains('\n'), "{error}");
        format!("{named:?}\n    {error}\n")
    };
    texts.into_iter().map(line).collect()
}

/// A file that latlas exported says how far the figure was to be trusted.
#[test]
fn an_own_verdict_comes_back_unless_it_is_ok() {
    let notes = |verdict: &str| {
        let own = format!(
            "{{\"row\": \"exec.x/wall\", \"verdict\": \"{verdict}\", \"reason\": \"few\"}}"
        );
        let entry = format!("{{\"command\": \"x\", \"times\": [0.1], \"latlas\": {own}}}");
        let run = imported_run(&format!("{{\"results\": [{entry}]}}"));
        let notes = run.rows.iter().flat_map(|row| row.notes.iter().map(ToString::to_string));
        notes.collect::<Vec<_>>()
    };
    let said = "latlas's own verdict: noisy (few)".to_owned();
    assert!(notes("noisy").contains(&said), "{:?}", notes("noisy"));
    assert!(!notes("ok").iter().any(|note| note.contains("verdict")));
}

#[test]
fn hostile_files_are_refused_with_line_and_reason() {
    let whole = "{\"results\": [\n{\"command\": \"x\", \"times\": [0.1]}]}";
    let name_of = |name: &str| whole.replace("\"x\"", &format!("\"{name}\""));
    let times = ["0.1, -0.1", "0.1, nano", "1e999", "1e308", "1e8"];
    let others = ["\"0.1\"", "0.1, {}", "0.1, "];
    let of_times = times.iter().chain(&others).map(|times| whole.replace("0.1", times));
    let nested = |n: usize| format!("{{\"results\":\n{}{}}}", "[".repeat(n), "]".repeat(n));
    let texts = [
        name_of("\\ud800"),
        whole.replace("]}]}", "]"),
        whole.replace("\"command\": \"x\", ", ""),
        whole.replace("\"times\": [0.1]", "\"min\": 0.1"),
        "{\"results\": 1}".into(),
        "{\"results\": [\n".into(),
        "{\"results\": []} x".into(),
        "{\"results\": []}".into(),
        nested(100),
        // Deep enough for the parser, and what is quoted does not count.
        nested(63),
        name_of(&"[".repeat(999)).replace("0.1", "-1"),
        "\u{feff}{}".into(),
        "hello".into(),
        "{}".into(),
        String::new(),
    ];
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| "{}".encode_utf16().flat_map(bytes).collect();
    let encoded = [
        utf_16(u16::to_le_bytes),
        utf_16(u16::to_be_bytes),
        b"\xff\xfe{\0}\0".to_vec(),
        b"{\n\"command\": \"caf\xe9\"}".to_vec(),
    ];
    let texts = of_times.chain(texts).map(String::into_bytes);
    insta::assert_snapshot!(refusals(texts.chain(encoded)));
}

fn entry(more: &str) -> String {
    format!(
        "{{\"benchmarks\": [\n{{\"name\": \"B\", \"run_name\": \"B\", \"repetition_index\": 0, \
         \"iterations\": 10, \"real_time\": 5.0, \"time_unit\": \"ns\"{more}}}]}}"
    )
}

#[test]
fn hostile_entries_of_google_benchmark_are_refused() {
    let whole = entry("");
    let texts = [
        whole.replace("5.0", "-5.0"),
        whole.replace("5.0", "1e300"),
        whole.replace("\"ns\"", "\"fortnights\""),
        whole.replace("10,", "0,"),
        whole.replace("10,", "-1,"),
        whole.replace("10,", "18446744073709551615,"),
        whole.replace("\"real_time\": 5.0,", ""),
        // In another entry than the first: its line is that of the whole.
        entry("},\n{\"name\": \"C\",\n\"real_time\": -5"),
    ];
    insta::assert_snapshot!(refusals(texts.map(String::into_bytes)));
}

#[test]
fn a_long_unit_is_not_printed_whole() {
    let long = "y".repeat(200_000);
    let shown = format!("\"{}...\"", "y".repeat(60));
    for text in [
        format!(r#"{{"benchmarks": [{{"name": "a", "real_time": 1, "time_unit": "{long}"}}]}}"#),
        format!(
            r#"{{"results": [{{"command": "a", "measurements": [{{"time_wall_clock": {{"value": 3, "unit": "{long}"}}}}]}}]}}"#
        ),
    ] {
        let error = import(&[file("a.json", &text)], None, origin()).expect_err("a unit");
        let error = error.to_string();
        assert!(error.contains(&shown) && error.len() < 300, "{}", &error[..300]);
    }
}

#[test]
fn units_and_iterations_of_google_benchmark_count() {
    for (unit, ns) in [("ns", 5.0), ("us", 5e3), ("ms", 5e6), ("s", 5e9)] {
        let run = imported_run(&entry("").replace("\"ns\"", &format!("{unit:?}")));
        let typical = run.rows[0].estimate().and_then(|e| e.typical).expect("typical");
        assert_eq!(typical.ns.value, ns);
        let samples = run.cells[0].samples.samples().expect("samples");
        assert_eq!(samples[0].turns, 10);
        let estimate = run.rows[0].estimate().expect("figure");
        assert_eq!(estimate.reason, "one measurement: no spread in the file");
    }
}

#[test]
fn one_name_twice_in_a_file_is_numbered() {
    let text = "{\"results\": [{\"command\": \"a b\", \"times\": [1]}, \
                {\"command\": \"a b\", \"times\": [2]}, {\"command\": \"a_b\", \"times\": [3]}]}";
    let run = imported_run(text);
    let ids: Vec<&str> = run.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids[..2], ["hyperfine.a_b", "hyperfine.a_b#2"]);
    assert!(ids[2].starts_with("hyperfine.a_b-"), "{ids:?}");
    let numbered = |row: &model::run::Row| row.notes.iter().any(|note| note.contains("number 2"));
    assert_eq!([0, 1, 2].map(|at| numbered(&run.rows[at])), [false, true, false]);
}

#[test]
fn a_benchmark_has_one_id_in_every_file_and_order() {
    let ids = |names: &[&str]| -> HashMap<String, String> {
        let entry = |name: &&str| format!("{{\"command\": {name:?}, \"times\": [1]}}");
        let entries: Vec<String> = names.iter().map(entry).collect();
        let run = imported_run(&format!("{{\"results\": [{}]}}", entries.join(",")));
        let ids = run.rows.into_iter().map(|row| row.id);
        names.iter().map(ToString::to_string).zip(ids).collect()
    };
    let long = "run --with a --very long --list of --options that --goes on and --on";
    let (one, two) = (format!("{long} --a"), format!("{long} --b"));
    let names = [one.as_str(), two.as_str(), "日本", "中国", "a b", "a_b", "a|b"];
    let forth = ids(&names);
    let mut reversed = names;
    reversed.reverse();
    assert_eq!(forth, ids(&reversed));
    for name in names {
        assert_eq!(forth[name], ids(&[name])[name], "{name} alone");
    }
    let different: HashSet<&String> = forth.values().collect();
    assert_eq!(different.len(), names.len(), "{forth:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let document = String::from_utf8(crate::to_json(&model::synthetic::run()).expect("document"));
    let document = file("run.json", &document.expect("UTF-8"));
    let named = || Origin { name: Some("nightly".into()), ..origin() };
    let here = || Origin {
        machine: Some(model::machine::Machine::unknown("x86_64", "a test")),
        ..origin()
    };
    let hyperfine = |name| file(name, "{\"results\": [{\"command\": \"a b\", \"times\": [1]}]}");
    let mixed = [hyperfine("a.json"), file("b.json", &entry(""))];
    let twice = [hyperfine("a.json"), hyperfine("b.json")];
    let run = [document];
    let errors = [
        import(&twice, None, origin()),
        import(&mixed, None, origin()),
        import(&mixed[..1], Some(InputFormat::GoogleBenchmark), origin()),
        import(&mixed[..1], Some(InputFormat::Criterion), origin()),
        import(&[], None, origin()),
        import(&run, None, named()),
        import(&run, None, here()),
    ];
    let errors = errors.map(|done| done.expect_err("refused").to_string());
    insta::assert_snapshot!(errors.join("\n"));
    assert!(import(&run, None, origin()).is_ok());
}

#[test]
fn too_much_is_refused() {
    let many: Vec<String> =
        (0..=MAX_ROWS).map(|n| format!("{{\"command\":\"{n}\",\"times\":[1]}}")).collect();
    let times = |n: usize| format!("{{\"command\":\"{n}\",\"times\":[{}1]}}", "1,".repeat(n));
    let [all, half, other] = [MAX_SAMPLES, MAX_SAMPLES / 2, MAX_SAMPLES / 2 + 1].map(times);
    let results = [many.join(","), all, format!("{half},{other}")];
    let texts = results.map(|results| format!("{{\"results\":[{results}]}}"));
    let large = " ".repeat(MAX_FILE_BYTES as usize + 1);
    let texts = texts.into_iter().chain([large]);
    insta::assert_snapshot!(refusals(texts.map(String::into_bytes)));
}

#[test]
fn times_are_kept_to_the_last_digit_that_means_anything() {
    // From a femtosecond to months: what a double holds comes back.
    for seconds in [1e-9, 0.000_575_906, 0.1, 1.5, 3_600.25, 9e6] {
        let run = imported_run(&format!(
            "{{\"results\": [{{\"command\": \"a\", \"times\": [{seconds}]}}]}}"
        ));
        let ns = run.rows[0].estimate().and_then(|e| e.typical).expect("one").ns.value;
        assert!((ns / (seconds * 1e9) - 1.0).abs() < 1e-9, "{seconds}: {ns}");
    }
    // A time of nothing is what hyperfine wrote, not what is known.
    let run = imported_run("{\"results\": [{\"command\": \"a\", \"times\": [0.0, 0.0]}]}");
    assert_eq!(run.rows[0].estimate().map(|e| e.verdict.text()), Some("inconclusive"));
}

#[test]
fn what_the_file_does_not_say_stays_unknown() {
    let run = imported_run("{\"results\": [{\"command\": \"a\", \"times\": [1, 2]}]}");
    assert_eq!(run.clock.cost_ns, None);
    assert_eq!(run.clock.resolution_ns, None);
    assert_eq!(run.core_clock, None);
    assert_eq!(run.program.version, "unknown");
    assert!(run.machine.online_cpus.get().is_none());
    let imported = run.imported.expect("its origin");
    assert_eq!((imported.format.as_str(), imported.measured_at), ("hyperfine", None));
    assert_eq!(imported.from, ["a.json"]);
}

#[test]
fn failures_and_parameters_are_reported() {
    let run = imported_run(
        "{\"results\": [{\"command\": \"a\", \"times\": [1, 2], \"exit_codes\": [0, 1], \
         \"parameters\": {\"n\": \"7\"}}]}",
    );
    let notes = run.rows[0].notes.join("\n");
    assert!(notes.contains("failures: 1 of 2 runs") && notes.contains("n = 7"), "{notes}");
}

#[test]
fn samples_of_criterion_fit_together() {
    use super::files::{CriterionFolder, InputPart};
    let read = |sample: &str| {
        let part = |text: &str| {
            Some(InputPart { name: "new/sample.json".into(), bytes: text.as_bytes().to_vec() })
        };
        let input = Input::Criterion {
            name: "criterion".into(),
            benchmarks: vec![CriterionFolder {
                directory: "new".into(),
                fallback_name: "../x y".into(),
                sample: part(sample),
                ..CriterionFolder::default()
            }],
        };
        import(&[input], None, origin())
    };
    let run = read(r#"{"iters":[2.0,4.0,6.0],"times":[20.0,40.0,63.0]}"#).expect("whole");
    assert!(run.rows[0].id.starts_with("criterion.x_y-"));
    let typical = run.rows[0].estimate().and_then(|e| e.typical).expect("typical");
    assert_eq!((typical.ns.value, typical.ns.high), (10.0, 10.5));
    for (sample, reason) in [
        (r#"{"iters":[1.0],"times":[1.0,2.0]}"#, "1 iters and 2 times"),
        (r#"{"iters":[0.0],"times":[1.0]}"#, "not a number of iterations"),
        (r#"{"iters":[1.5],"times":[1.0]}"#, "not a number of iterations"),
        (r#"{"iters":[1e300],"times":[1.0]}"#, "not a number of iterations"),
        (r#"{"iters":[],"times":[]}"#, "no sample"),
        (r#"{"iters":[1.0],"times":[-1.0]}"#, "criterion, times[0]: -1.0 is negative"),
        (r#"{"iters":[1.0]}"#, "criterion: \"times\" is missing"),
    ] {
        let error = read(sample).expect_err(sample);
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!(error.file, "new/sample.json");
    }
}
