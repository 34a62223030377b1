//! `latlas export` and `latlas import`.

use crate::support::{Done, Home, SYNTHETIC, SYNTHETIC_ID, has, lacks};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Id of a second record.
const OTHER_ID: &str = "11111111-2222-4333-8444-555555555555";

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/fixtures/exchange");
    fixtures.join(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn what_was_imported_is_shown_and_exported() {
    let home = Home::new();
    for (name, row, program) in [
        ("hyperfine.json", "sleep_0.01", "hyperfine"),
        ("google-benchmark-repeated.json", "BM_push/8", "Google Benchmark"),
        ("criterion", "sort/unstable/100", "criterion"),
    ] {
        let done = home.run(format!("import {}", fixture(name))).ok();
        has(&done.err, [&format!(" of {program} as ")]);
        let id = done.out.trim();
        let shown = home.out(format!("show {id}"));
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        has(&flat, [row, program, ", not by latlas: figures as in its file"]);
        // Nothing of the machine that imports, and no clock of its own.
        lacks(&shown, ["ns a tick", "the core was ", "empty measurement", "pinned", "BUILT AS"]);
        has(&home.out(format!("export {id} --format csv")), [row]);
    }
    assert_eq!(home.kept_documents(), 3);
}

#[test]
fn standard_input_has_a_name_and_here_adds_this_machine() {
    let home = Home::new();
    let text = std::fs::read(fixture("hyperfine.json")).expect("fixture");
    let import = |line: &str, input: &[u8]| {
        let mut child = home.command(line).stdin(Stdio::piped()).spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may refuse before it reads.
        let _ = stdin.write_all(input);
        drop(stdin);
        Done::after(child)
    };
    let run = import("import - --name 'nightly 7' --document", &text).ok().json();
    assert_eq!(run["imported"]["from"], serde_json::json!(["nightly 7"]));
    assert!(run["machine"]["cpu_model"].get("value").is_none());
    let run = import("import - --name 'a\u{1b}[1mb' --document", &text).ok().json();
    assert_eq!(run["imported"]["from"], serde_json::json!(["a\u{fffd}[1mb"]));
    let run = home.json(format!("import {} --here --document", fixture("hyperfine.json")));
    assert_eq!(run["machine"]["arch"], std::env::consts::ARCH);
}

#[test]
fn a_fault_in_any_file_keeps_nothing() {
    let home = Home::new();
    let good = fixture("hyperfine.json");
    let text = std::fs::read_to_string(&good).expect("fixture");
    home.write("cut.json", &text[..700]);
    home.write("negative.json", text.replace("0.010844363000000001", "-0.010844363"));
    home.write("jmh.json", "[{\"primaryMetric\": {\"scoreUnit\": \"ns/op\"}}]");
    std::fs::copy(good, home.path("good.json")).expect("copied");
    insta::assert_snapshot!(home.refusals(
        "import good.json cut.json
         import negative.json
         import jmh.json
         import /dev/zero"
    ));
    let evil = "evil\u{1b}[2J.json";
    home.write(evil, "x");
    let done = home.run(["import", evil]);
    done.refused("evil\\u{1b}[2J.json");
    lacks(&done.err, ["\u{1b}"]);
    assert_eq!(home.kept_documents(), 0);
}

/// criterion's files behind a link are not below the directory.
#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let home = Home::new();
    std::fs::create_dir(home.path("criterion")).expect("directory");
    for (target, link) in [(&*fixture("criterion"), "all"), (".", "loop")] {
        std::os::unix::fs::symlink(target, home.path("criterion").join(link)).expect("link");
    }
    home.run("import criterion").refused("no results of criterion");
}

#[test]
fn a_run_of_another_machine_is_kept_once() {
    let home = Home::new();
    let write = |began_ms: u64| {
        let mut run = crate::support::synthetic();
        run["started_unix_ms"] = began_ms.into();
        home.write("other.json", run.to_string());
    };
    // In the year 2100: it would be the newest until then.
    write(4_102_444_800_000);
    insta::assert_snapshot!(home.refusals("import other.json"));
    write(1_577_836_800_000);
    assert_eq!(home.out("import other.json").trim_end(), SYNTHETIC_ID);
    home.run("import other.json").refused("already kept");
    assert_eq!(home.kept_documents(), 1);
}

#[test]
fn a_record_is_published_and_taken_from_a_folder() {
    let home = Home::new();
    std::fs::create_dir(home.path("records")).expect("directory");
    let export = format!("export {SYNTHETIC} --format reference -o records/one.json");
    let done = home.run(export).ok();
    has(&done.out, ["microarchitecture", "rows"]);
    has(&done.err, ["omitted: the name of the host", "samples"]);
    let own: Value = serde_json::from_str(&home.read_file(SYNTHETIC)).expect("a document");
    let host = own["machine"]["hostname"]["value"].as_str().expect("named");
    let record = home.read_file("records/one.json");
    lacks(&record, [host]);
    // What it says of each row is what the run says.
    home.run(format!("compare {SYNTHETIC} records/one.json --fail-above 1")).ok();

    home.write("records/two.json", record.replace(SYNTHETIC_ID, OTHER_ID));
    let done = home.run("import records").ok();
    has(&done.err, ["stored 2 records; 0 were stored already"]);
    assert_eq!(done.out.lines().collect::<Vec<_>>(), [SYNTHETIC_ID, OTHER_ID]);
    assert_eq!(home.kept_documents(), 2);
    has(&home.run("import records").ok().err, ["stored 0 records; 2 were stored already"]);
    // One that is damaged is named, and none is stored.
    let other = Home::new();
    std::fs::create_dir(other.path("records")).expect("directory");
    other.write("records/a.json", &record);
    other.write("records/b.json", &record[..record.len() / 2]);
    other.run("import records").refused("records/b.json");
    assert_eq!(other.kept_documents(), 0);
}

#[test]
fn commands_are_nobodys_record() {
    let home = Home::new();
    home.run("exec -r 2 -w 0 -- true");
    home.run("export --format reference").refused("it is of commands");
}

#[test]
fn exports_go_to_a_file_completely_or_not_at_all() {
    let home = Home::new();
    let export = |more: &str| home.run(format!("export {SYNTHETIC} --format {more}"));
    let done = export("bencher -o out.json").ok();
    assert_eq!(done.out, "");
    has(&done.err, ["omitted: cpu.timer/counter: not available here: "]);
    assert_eq!(home.read_file("out.json"), export("bencher").ok().out);
    for (option, file) in [("--out", "a.csv"), ("--output", "b.csv")] {
        assert_eq!(export(&format!("csv {option} {file}")).ok().out, "");
        assert!(home.path(file).is_file(), "{option}");
    }
    insta::assert_snapshot!(home.refusals(&format!(
        "export {SYNTHETIC} --format csv -o absent/out.csv
         export {SYNTHETIC} --format csv -o z.json
         export {SYNTHETIC} --format hyperfine -o z.csv
         export {SYNTHETIC} --format csv --rows cpu.dvi_i32
         export {SYNTHETIC}"
    )));
}

#[test]
fn a_dash_is_standard_output_and_no_file() {
    let home = Home::new();
    let line = format!("export {SYNTHETIC} --format csv");
    assert_eq!(home.out(format!("{line} -o -")), home.out(line));
    home.run("trace --out - -- true").refused("--out needs the name of a file");
    assert!(!home.path("-").exists());
}
