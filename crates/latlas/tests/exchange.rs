//! `latlas export` and `latlas import` as a user runs them.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SYNTHETIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/synthetic.json");

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../atlas/tests/fixtures/exchange");
    fixtures.join(name).to_str().expect("UTF-8").to_owned()
}

struct Home(TempDir);

struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().expect("tempdir"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with_input(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Done {
        let output = Command::cargo_bin("latlas")
            .expect("the binary")
            .args(arguments)
            .current_dir(self.0.path())
            .env("LATLAS_DATA_DIR", self.path("data"))
            .write_stdin(input)
            .output()
            .expect("it runs");
        Done {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    fn run(&self, arguments: &[&str]) -> Done {
        self.with_input(arguments, "")
    }

    fn kept(&self) -> usize {
        std::fs::read_dir(self.path("data/runs")).map_or(0, Iterator::count)
    }
}

impl Done {
    fn refused(&self, why: &str) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(self.err.contains(why), "{why} not in {}", self.err);
    }
}

#[test]
fn what_was_imported_is_shown_and_exported() {
    let home = Home::new();
    for (name, row, program) in [
        ("hyperfine.json", "sleep_0.01", "hyperfine"),
        (
            "google-benchmark-repeated.json",
            "BM_push/8",
            "Google Benchmark",
        ),
        ("criterion", "sort/unstable/100", "criterion"),
    ] {
        let done = home.run(&["import", &fixture(name)]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(
            done.err.contains(&format!(" of {program}, kept as")),
            "{}",
            done.err
        );
        let id = done.out.trim();
        let shown = home.run(&["show", id]);
        assert_eq!(shown.code, 0, "{}", shown.err);
        for text in [row, program, "not by", "of the median by order"] {
            assert!(shown.out.contains(text), "{text} not in {}", shown.out);
        }
        // Nothing of the machine that imports, and no clock of its own.
        for text in [
            "ns a tick",
            "NEVER QUIET",
            "empty bracket",
            "pinned",
            "BUILT AS",
        ] {
            assert!(!shown.out.contains(text), "{text} in {}", shown.out);
        }
        let csv = home.run(&["export", id, "--format", "csv"]);
        assert!(csv.code == 0 && csv.out.contains(row), "{}", csv.out);
    }
    assert_eq!(home.kept(), 3);
}

#[test]
fn standard_input_has_a_name() {
    let home = Home::new();
    let text = std::fs::read(fixture("hyperfine.json")).expect("fixture");
    let done = home.with_input(&["import", "-", "--name", "nightly 7", "--json"], text);
    assert_eq!(done.code, 0, "{}", done.err);
    let run: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(run["imported"]["from"], serde_json::json!(["nightly 7"]));
    assert!(run["machine"]["cpu_model"].get("value").is_none());
    home.run(&["import", "-", "-"]).refused("only once");
    home.run(&["import", "-"])
        .refused("standard input: it is empty");
    home.with_input(&["import", "x", "--name", "a\u{1b}[1mb"], "")
        .refused("U+001B");
}

#[test]
fn here_adds_this_machine() {
    let home = Home::new();
    let done = home.run(&["import", &fixture("hyperfine.json"), "--here", "--json"]);
    let run: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(run["machine"]["arch"], std::env::consts::ARCH);
}

#[test]
fn a_fault_in_any_file_keeps_nothing() {
    let home = Home::new();
    let good = fixture("hyperfine.json");
    let text = std::fs::read_to_string(&good).expect("fixture");
    std::fs::write(home.path("cut.json"), &text[..700]).expect("file");
    std::fs::write(
        home.path("negative.json"),
        text.replace("0.010844363000000001", "-0.010844363"),
    )
    .expect("file");
    home.run(&["import", &good, "cut.json"])
        .refused("can't import cut.json: line 28, column 2: it ends in the middle");
    home.run(&["import", "negative.json"])
        .refused("can't import negative.json: line 17, column 20: -0.010844363 is negative");
    home.run(&["import", "absent.json"])
        .refused("absent.json: it can't be read: No such file");
    home.run(&["import", "."])
        .refused("no results of criterion below it");
    home.run(&["import", &fixture("google-benchmark-nan.json")])
        .refused("line 52");
    std::fs::write(home.path("evil\u{1b}[2J.json"), "x").expect("file");
    let done = home.run(&["import", "evil\u{1b}[2J.json"]);
    done.refused("evil\\u{1b}[2J.json");
    assert!(!done.err.contains('\u{1b}'));
    assert_eq!(home.kept(), 0);
    let done = home.run(&["import"]);
    assert_eq!(done.code, 2);
}

/// A file that never ends, and one that leads out of the directory.
#[cfg(target_os = "linux")]
#[test]
fn what_never_ends_is_not_read_to_the_end() {
    let home = Home::new();
    home.run(&["import", "/dev/zero"])
        .refused("it is a device, not a file");
    // criterion's files behind a link are not below the directory.
    std::fs::create_dir(home.path("criterion")).expect("directory");
    std::os::unix::fs::symlink(fixture("criterion"), home.path("criterion/all")).expect("link");
    std::os::unix::fs::symlink(".", home.path("criterion/loop")).expect("link");
    home.run(&["import", "criterion"])
        .refused("no results of criterion");
}

#[test]
fn a_run_of_another_machine_is_kept_once() {
    let home = Home::new();
    let document = std::fs::read_to_string(SYNTHETIC).expect("the fixture");
    let began = "\"started_unix_ms\":1795225964000";
    assert!(document.contains(began));
    let begun = |ms: u64| {
        let text = document.replace(began, &format!("\"started_unix_ms\":{ms}"));
        std::fs::write(home.path("other.json"), text).expect("written");
    };
    // In the year 2100: it would be the newest until then.
    begun(4_102_444_800_000);
    home.run(&["import", "other.json"]).refused("to come");
    begun(1_577_836_800_000);
    let done = home.run(&["import", "other.json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.out, "5e0c1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b\n");
    home.run(&["import", "other.json"]).refused("already kept");
    assert_eq!(home.kept(), 1);
}

#[test]
fn of_imports_of_one_second_the_later_is_the_last() {
    let home = Home::new();
    let mut before = String::new();
    // By chance of their ids, half of the pairs would be the wrong way round.
    for _ in 0..8 {
        let id = home.run(&["import", &fixture("hyperfine.json")]).out;
        let last = home.run(&["show", "last", "--json"]).out;
        assert!(last.contains(id.trim()), "{id} is the last");
        if !before.is_empty() {
            let back = home.run(&["show", "last~1", "--json"]).out;
            assert!(back.contains(before.trim()), "{before} is the one before");
        }
        before = id;
    }
}

#[test]
fn exports_go_to_a_file_whole_or_not_at_all() {
    let home = Home::new();
    let done = home.run(&["export", SYNTHETIC, "--format", "bencher", "-o", "out.json"]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    assert!(
        done.err
            .contains("left out: cpu.timer/counter: not available here: ")
    );
    for (option, file) in [("--out", "a.csv"), ("--output", "b.csv")] {
        let done = home.run(&["export", SYNTHETIC, "--format", "csv", option, file]);
        assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
        assert!(home.path(file).is_file(), "{option}");
    }
    let text = std::fs::read_to_string(home.path("out.json")).expect("written");
    let stdout = home.run(&["export", SYNTHETIC, "--format", "bencher"]);
    assert_eq!(text, stdout.out);
    home.run(&[
        "export",
        SYNTHETIC,
        "--format",
        "csv",
        "-o",
        "absent/out.csv",
    ])
    .refused("can't write absent/out.csv");
    home.run(&[
        "export",
        SYNTHETIC,
        "--format",
        "csv",
        "--rows",
        "cpu.dvi_i32",
    ])
    .refused("did you mean cpu.div_i32?");
    home.run(&["export", "absent", "--format", "csv"])
        .refused("can't read absent");
    home.run(&["export", "--format", "csv"])
        .refused("no run is kept");
    let done = home.run(&["export", SYNTHETIC]);
    assert!(
        done.code == 2 && done.err.contains("--format"),
        "{}",
        done.err
    );
}
