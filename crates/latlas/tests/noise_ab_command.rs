//! `latlas noise ab CONTROL... -- CMD` on the real binary: the user's own
//! command is what runs, under each control, and is judged.
#![cfg(target_os = "linux")]

use model::noise::effect::{Effects, Load, Workload};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn ab(home: &TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["noise", "ab"])
        .args(arguments)
        .current_dir(home.path())
        .env("LATLAS_STATE_DIR", home.path().join("state"))
        .env("LATLAS_CONFIG", "")
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_command_runs_under_each_control_and_is_judged() {
    let home = home();
    // Says much, and leaves a line for each run.
    let line = "echo run >> runs; yes | head -c 200000; exec sleep 0.01";
    let arguments = ["pin", "session", "--rounds", "6", "--seed", "3", "--json"];
    let output = ab(&home, &[&arguments[..], &["--", "sh", "-c", line]].concat());
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    let document: Effects = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document.partial, None);
    assert_eq!(document.how.command, ["sh", "-c", line]);
    let [block] = &document.blocks[..] else {
        panic!("{:?}", document.blocks);
    };
    assert_eq!(
        (block.workload, block.load),
        (Workload::Command, Load::None)
    );
    let names: Vec<&str> = block.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["none", "pin", "session"]);
    for arm in &block.arms {
        assert_eq!(arm.runs.len(), 6, "{}", arm.name);
        for run in &arm.runs {
            assert!(run.took_ns >= 10_000_000 && run.took_ns == run.wall_ns);
            assert!(run.voluntary > 0, "it slept");
            if let (Some(n), "pin") = (run.migrations, arm.name.as_str()) {
                assert_eq!(n, 0, "it had one CPU");
            }
        }
    }
    // One or two to try it (one where it took long), one of each state to warm
    // up, six rounds of three.
    let runs = std::fs::read_to_string(home.path().join("runs")).expect("a file");
    let tried = runs.lines().count() - 3 - 18;
    assert!(matches!(tried, 1 | 2), "{tried}");
    assert_eq!(document.effects.len(), 2);
    assert!(
        document
            .effects
            .iter()
            .all(|effect| effect.switches.is_some())
    );
}

#[test]
fn a_short_command_is_said_to_be_short_and_the_page_has_its_counts() {
    let home = home();
    let output = ab(&home, &["pin", "--rounds", "6", "--", "true"]);
    let (page, err) = (text(&output.stdout), text(&output.stderr));
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{err}");
    assert!(err.contains("about") || err.contains("at most"), "{err}");
    // However slow this machine: `true` under 50 ms, or no note.
    let short = words.contains("too short to be moved");
    let run_ms = |page: &str| page.contains(" ms [") || page.contains(" us [");
    assert!(short || run_ms(&page), "{page}");
    for wanted in [
        "command: true",
        "time, median",
        "switches",
        "migrations",
        "detectable from",
    ] {
        assert!(words.contains(wanted), "{wanted}: {page}");
    }
    assert!(
        page.lines().any(|line| line.starts_with("  none ")),
        "{page}"
    );
}

#[test]
fn what_can_not_be_weighed_is_refused_in_one_line() {
    let home = home();
    let no = |arguments: &[&str], why: &str| {
        let output = ab(&home, arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {err}");
        let usage = err.contains("Usage:");
        assert!(usage || err.lines().count() == 1, "{arguments:?} {err}");
        assert!(err.contains(why), "{why:?} not in {err}");
        assert_eq!(text(&output.stdout), "");
    };
    no(&["pin", "--", "no-such-program-here"], "no program");
    no(
        &["pin", "--", "sh", "-c", "echo so >&2; exit 7"],
        "exit code 7",
    );
    no(&["pin", "--", "sh", "-c", "echo so >&2; exit 7"], "so");
    no(
        &["pin", "--workload", "cpu", "--", "true"],
        "cannot be used with",
    );
    no(
        &["pin", "--job", "9ms", "--", "true"],
        "cannot be used with",
    );
    no(
        &["pin", "--budget", "1s", "--", "sleep", "0.3"],
        "--budget is too short",
    );
}

#[test]
fn the_trial_is_part_of_the_budget() {
    let home = home();
    // Eight rounds and one to warm up, two states: at least 37.8 s, 41.6 s with a
    // tenth to spare, and the trial before that.
    let budget = ["pin", "--budget", "43s", "--", "sleep", "2.1"];
    let output = ab(&home, &budget);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("--budget is too short"), "{err}");
}

#[test]
fn a_dry_run_does_not_run_the_command() {
    let home = home();
    let output = ab(&home, &["pin", "--dry-run", "--", "touch", "made"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(said.contains("command with no load: 2 states"), "{said}");
    assert!(said.contains("once the command has run"), "{said}");
    assert!(!home.path().join("made").exists());
}
