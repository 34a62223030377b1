//! `latlas history` and the gate of `latlas run --baseline` on the real binary.

use assert_cmd::Command;
use model::estimate::Verdict;
use model::run::{Outcome, Run};
use std::path::Path;

const ROW: &str = "call.virtual";

struct Done {
    code: i32,
    out: String,
    err: String,
}

fn latlas(home: &Path, arguments: &[&str]) -> Done {
    let output = Command::cargo_bin("latlas")
        .expect("the binary")
        .args(arguments)
        .current_dir(home)
        .env("LATLAS_DATA_DIR", home.join("data"))
        .env_remove("NO_COLOR")
        .output()
        .expect("the binary runs");
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The run with one row's figures times a factor.
fn scaled(run: &Run, factor: f64) -> Run {
    let mut run = run.clone();
    let row = run
        .rows
        .iter_mut()
        .find(|row| row.id == ROW)
        .expect("the row");
    let Outcome::Figure(estimate) = &mut row.outcome else {
        panic!("a figure");
    };
    if let Some(quiet) = &mut estimate.quiet {
        quiet.ns = quiet.ns.scaled(factor);
        quiet.cycles = quiet.cycles.map(|cycles| cycles.scaled(factor));
    }
    if let Some(typical) = &mut estimate.typical {
        typical.ns = typical.ns.scaled(factor);
        typical.p10_ns *= factor;
        typical.p90_ns *= factor;
    }
    run
}

/// Whether a run can say anything of the row: on a busy machine it may not.
fn tells(run: &Run) -> bool {
    let estimate = run.row(ROW).and_then(|row| row.estimate());
    estimate.is_some_and(|e| e.quiet.is_some() && matches!(e.verdict, Verdict::Ok | Verdict::Noisy))
}

#[test]
fn a_run_is_in_the_history_and_before_the_gate() {
    let home = tempfile::tempdir().expect("tempdir");
    let home = home.path();
    let before = latlas(home, &["history", ROW]);
    assert_eq!(before.code, 2, "{}", before.err);
    assert!(
        before.err.contains("`latlas run` makes one"),
        "{}",
        before.err
    );

    let first = latlas(home, &["run", "--quick", ROW, "--json"]);
    let run: Run = serde_json::from_str(&first.out).expect("a document");
    if !tells(&run) {
        println!("SKIPPED: this machine was never quiet enough for a figure of {ROW}");
        return;
    }
    let json = latlas(home, &["history", ROW, "--json"]);
    assert_eq!(json.code, 0, "{}", json.err);
    let history: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(history["runs"][0]["run"]["id"], run.id.as_str());
    let cycles = run.row(ROW).and_then(|row| row.estimate()?.quiet?.cycles);
    if let Some(cycles) = cycles {
        assert_eq!(history["measure"], "quiet_cycles");
        assert_eq!(history["runs"][0]["figure"]["value"], cycles.value);
    }
    let page = latlas(home, &["history", ROW]);
    assert!(
        page.out.contains("too few to look for a change"),
        "{}",
        page.out
    );
    let typo = latlas(home, &["history", "call.virtaul"]);
    assert_eq!(typo.code, 2);
    assert!(
        typo.err.contains("did you mean call.virtual?"),
        "{}",
        typo.err
    );

    // A baseline that was three times as fast: crossed, whatever the noise.
    let fast = home.join("fast.json");
    std::fs::write(
        &fast,
        serde_json::to_vec(&scaled(&run, 1.0 / 3.0)).expect("JSON"),
    )
    .expect("written");
    let crossed = latlas(
        home,
        &["run", "--quick", ROW, "--baseline", "fast.json", "--json"],
    );
    let both: serde_json::Value = serde_json::from_str(&crossed.out).expect("JSON");
    let judged: Run = serde_json::from_value(both["run"].clone()).expect("the document");
    assert!(judged.row(ROW).is_some());
    let told = both["gate"]["rows"][0]["time_ratios"].as_array();
    let told = told.map_or(0, |ratios| ratios.iter().filter(|r| r.is_number()).count());
    if !tells(&judged) || told < 3 {
        println!("SKIPPED: {told} of three runs could tell {ROW}: {both}");
        return;
    }
    assert_eq!(crossed.code, 1, "{} {}", crossed.out, crossed.err);
    assert_eq!(both["gate"]["crossed"][0], ROW);
    assert_eq!(both["gate"]["runs"], 3);
    assert!(crossed.err.contains("measuring again"), "{}", crossed.err);
    // One that was three times as slow: nothing to look at again.
    let slow = home.join("slow.json");
    std::fs::write(&slow, serde_json::to_vec(&scaled(&run, 3.0)).expect("JSON")).expect("written");
    let passed = latlas(
        home,
        &[
            "run",
            "--quick",
            ROW,
            "--baseline",
            "slow.json",
            "--fail-above",
            "5%",
        ],
    );
    if passed.out.contains("could not be told") || passed.out.contains("Nothing could be judged") {
        assert_ne!(passed.code, 1, "{}", passed.out);
        println!("SKIPPED: the last run could not tell {ROW}: {}", passed.out);
        return;
    }
    assert!(
        [0, 3].contains(&passed.code),
        "{} {}",
        passed.code,
        passed.err
    );
    assert!(
        passed.out.contains("Not crossed: of 1 row none"),
        "{}",
        passed.out
    );
}

#[test]
fn a_bad_baseline_is_found_before_measuring() {
    let home = tempfile::tempdir().expect("tempdir");
    for (arguments, why) in [
        (
            vec!["--baseline", "nosuch"],
            "nothing to compare is called \"nosuch\"",
        ),
        (vec!["--baseline", "2012"], "published table"),
        (vec!["--fail-above", "5%"], "--baseline"),
        (
            vec!["--baseline", "last", "--fail-above", "0"],
            "percentage",
        ),
    ] {
        let all = [vec!["run", "--quick", ROW], arguments].concat();
        let done = latlas(home.path(), &all);
        assert_eq!(done.code, 2, "{all:?}: {}", done.err);
        assert!(done.err.contains(why), "{all:?}: {}", done.err);
    }
    let kept = std::fs::read_dir(home.path().join("data/runs")).map_or(0, Iterator::count);
    assert_eq!(kept, 0, "nothing was kept");
}

#[test]
fn ctrl_c_while_measuring_again_loses_no_run() {
    use std::io::{BufRead, BufReader, Read};
    let home = tempfile::tempdir().expect("tempdir");
    let home = home.path();
    let first = latlas(home, &["run", "--quick", ROW, "--json"]);
    let run: Run = serde_json::from_str(&first.out).expect("a document");
    let fast = serde_json::to_vec(&scaled(&run, 1.0 / 3.0)).expect("JSON");
    std::fs::write(home.join("fast.json"), fast).expect("written");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_latlas"))
        .args(["run", "--quick", ROW, "--baseline", "fast.json", "--json"])
        .env("LATLAS_DATA_DIR", home.join("data"))
        .current_dir(home)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines();
    let again = said.find(|line| {
        let line = line.as_ref().expect("UTF-8");
        line.contains("measuring again")
    });
    if again.is_some() {
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(sent.expect("kill").success());
    }
    let rest: Vec<String> = said.map(|line| line.expect("UTF-8")).collect();
    let mut out = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_to_string(&mut out).expect("UTF-8");
    let code = child.wait().expect("waited for").code();
    let both: serde_json::Value = serde_json::from_str(&out).expect("printed all the same");
    assert!(both["run"]["id"].is_string());
    if again.is_none() {
        println!("SKIPPED: the run could not tell {ROW}, so nothing was measured again");
        return;
    }
    assert_eq!(code, Some(3), "{rest:?}");
    assert!(both["gate"].is_null(), "{both}");
    let why = rest
        .iter()
        .any(|line| line.contains("not set against the baseline"));
    assert!(why, "{rest:?}");
}

/// Keeps made-up runs, alike, and gives all of them a tag.
fn tagged(home: &Path, run: &Run, tag: &str) {
    for number in 0..3 {
        let mut run = run.clone();
        run.id = format!("000{number}0000-0000-4000-8000-000000000001");
        run.started_unix_ms -= 1000 * (number + 1);
        let path = home.join("made-up.json");
        std::fs::write(&path, serde_json::to_vec(&run).expect("JSON")).expect("written");
        let kept = latlas(home, &["import", "--format", "run", "made-up.json"]);
        assert_eq!(kept.code, 0, "{}", kept.err);
        let done = latlas(home, &["atlas", "tag", &run.id, tag, "--add"]);
        assert_eq!(done.code, 0, "{}", done.err);
    }
}

#[test]
fn a_tag_of_several_runs_is_a_baseline() {
    let home = tempfile::tempdir().expect("tempdir");
    let home = home.path();
    let first = latlas(home, &["run", "--quick", ROW, "--json"]);
    let run: Run = serde_json::from_str(&first.out).expect("a document");
    if !tells(&run) {
        println!("SKIPPED: this machine was never quiet enough for a figure of {ROW}");
        return;
    }
    tagged(home, &run, "main");
    // What can't be judged is found before it is measured.
    let before = latlas(
        home,
        &["run", "--quick", "cpu.add_i32", "--baseline", "main"],
    );
    assert_eq!(before.code, 2, "{}", before.err);
    assert!(
        before.err.contains("no figure of the rows"),
        "{}",
        before.err
    );
    let full = if Path::new("/dev/full").exists() {
        vec!["--out", "/dev/full"]
    } else {
        println!("SKIPPED: there is no /dev/full to write to");
        vec![]
    };
    let all = [
        vec!["run", "--quick", ROW, "--baseline", "main", "--json"],
        full.clone(),
    ]
    .concat();
    let done = latlas(home, &all);
    let both: serde_json::Value = serde_json::from_str(&done.out).expect("printed all the same");
    assert_eq!(both["gate"]["baseline_runs"], 3);
    assert_eq!(both["gate"]["rows"][0]["row"], ROW);
    if !full.is_empty() {
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("/dev/full"), "{}", done.err);
    }
}

#[test]
fn a_strangers_document_does_not_drive_the_terminal() {
    let home = tempfile::tempdir().expect("tempdir");
    let home = home.path();
    let first = latlas(home, &["run", "--quick", ROW, "--json"]);
    let mut run: Run = serde_json::from_str(&first.out).expect("a document");
    run.machine.hostname = model::machine::Fact::known("x\u{1b}]0;owned\u{7}".to_string());
    run.machine.cpu_model = model::machine::Fact::known("y\u{1b}[2J".to_string());
    run.id = "00090000-0000-4000-8000-000000000001".into();
    // Copied in by hand, as the page on the atlas allows.
    let name = format!("data/runs/20260101T000000.000Z-{}.json.zst", run.id);
    std::fs::write(home.join(name), serde_json::to_vec(&run).expect("JSON")).expect("written");
    let done = latlas(home, &["history", ROW, "--machine", "nowhere"]);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("2J"), "it is named: {:?}", done.err);
    assert!(!done.err.contains('\u{1b}'), "{:?}", done.err);
}
