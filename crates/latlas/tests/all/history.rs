//! `latlas history` and the gate of `latlas run --baseline`.

use crate::support::{Done, Home, has, lacks, skip};
use model::cpu_history::CpuHistory;
use model::estimate::Verdict;
use model::recording::Recording;
use model::run::{Outcome, Run};
use model::trace::Ended;

const ROW: &str = "call.virtual";

/// A quick run of the row, kept; `None` where the machine was too busy for a figure.
fn measured(home: &Home) -> Option<Run> {
    let run = home.run(format!("run --quick {ROW} --document")).document();
    if !has_figure(&run) {
        skip(format!("this machine was never quiet enough for a figure of {ROW}"));
    }
    has_figure(&run).then_some(run)
}

fn has_figure(run: &Run) -> bool {
    let estimate = run.row(ROW).and_then(|row| row.estimate());
    estimate.is_some_and(|e| e.quiet.is_some() && matches!(e.verdict, Verdict::Ok | Verdict::Noisy))
}

fn write_run(home: &Home, name: &str, run: &Run) {
    home.write(name, serde_json::to_vec(run).expect("JSON"));
}

/// Writes the run with the row's figures times a factor.
fn write_scaled(home: &Home, name: &str, run: &Run, factor: f64) {
    let mut run = run.clone();
    let row = run.rows.iter_mut().find(|row| row.id == ROW).expect("the row");
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
    write_run(home, name, &run);
}

#[test]
fn a_run_is_in_the_history_and_before_the_gate() {
    let home = Home::new();
    home.run(format!("history {ROW}")).refused("`latlas run`");
    let Some(run) = measured(&home) else {
        return;
    };
    let history = home.json(format!("history {ROW} --json"));
    assert_eq!(history["runs"][0]["run"]["id"], run.id.as_str());
    if let Some(cycles) = run.row(ROW).and_then(|row| row.estimate()?.quiet?.cycles) {
        assert_eq!(history["measure"], "quiet_cycles");
        assert_eq!(history["runs"][0]["figure"]["value"], cycles.value);
    }
    has(&home.out(format!("history {ROW}")), ["too few to look for a change"]);
    home.run("history call.virtaul").refused("did you mean call.virtual?");

    // A baseline that was three times as fast: crossed, whatever the noise.
    write_scaled(&home, "fast.json", &run, 1.0 / 3.0);
    let crossed = home.run(format!("run --quick {ROW} --baseline fast.json --document"));
    let both = crossed.json();
    let judged: Run = serde_json::from_value(both["run"].clone()).expect("the document");
    assert!(judged.row(ROW).is_some());
    let ratios = both["gate"]["rows"][0]["time_ratios"].as_array();
    let ratios = ratios.map_or(0, |ratios| ratios.iter().filter(|r| r.is_number()).count());
    if !has_figure(&judged) || ratios < 3 {
        return skip(format!("{ratios} of three runs have a figure of {ROW}: {both}"));
    }
    assert_eq!(crossed.code, 1, "{} {}", crossed.out, crossed.err);
    assert_eq!(both["gate"]["crossed"][0], ROW);
    assert_eq!(both["gate"]["runs"], 3);
    has(&crossed.err, ["again: "]);
    // One that was three times as slow: nothing to measure again.
    write_scaled(&home, "slow.json", &run, 3.0);
    let passed = home.run(format!("run --quick {ROW} --baseline slow.json --fail-above 5% --json"));
    let row = passed.json();
    assert_eq!((&row["row"], &row["baseline"]), (&ROW.into(), &"slow.json".into()), "{row}");
    assert!(
        ["not shown", "inconclusive"].map(Into::into).contains(&row["baseline_verdict"]),
        "{row}"
    );
    assert!([0, 3].contains(&passed.code), "{} {}", passed.code, passed.err);
}

#[test]
fn a_bad_baseline_is_refused_before_measuring() {
    let home = Home::new();
    insta::assert_snapshot!(home.refusals(&format!(
        "run --quick {ROW} --baseline nosuch
         run --quick {ROW} --baseline 2012
         run --quick {ROW} --fail-above 5%
         run --quick {ROW} --baseline last --fail-above 0"
    )));
    assert_eq!(home.kept_documents(), 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_while_measuring_again_loses_no_run() {
    use std::io::{BufRead, BufReader};
    let home = Home::new();
    let Some(run) = measured(&home) else {
        return;
    };
    write_scaled(&home, "fast.json", &run, 1.0 / 3.0);
    let mut child = home.start(format!("run --quick {ROW} --baseline fast.json --document"));
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut line_with = |part: &str| {
        let with = |line: &std::io::Result<String>| line.as_ref().expect("UTF-8").contains(part);
        lines.find(with).is_some()
    };
    let again = line_with("again: ");
    if again {
        let line = format!("kill -INT {}", child.id());
        let sent = std::process::Command::new("sh").args(["-c", &line]).status();
        assert!(sent.expect("sh").success());
    }
    let no_gate = line_with("baseline");
    let done = Done::after(child);
    let both = done.json();
    assert!(both["run"]["id"].is_string());
    if !again {
        return skip(format!("the run has no figure of {ROW}, so nothing was measured again"));
    }
    assert_eq!(done.code, 3);
    assert!(no_gate && both["gate"].is_null(), "{both}");
}

#[test]
fn a_tag_of_several_runs_is_a_baseline() {
    let home = Home::new();
    let Some(mut run) = measured(&home) else {
        return;
    };
    for number in 0..3 {
        run.id = crate::support::made_up_id(number);
        run.started_unix_ms -= 1000;
        write_run(&home, "made-up.json", &run);
        home.run("import --format run made-up.json").ok();
        home.run(format!("atlas tag {} main --add", run.id)).ok();
    }
    // What can't be judged is known before it is measured.
    home.run("run --quick cpu.add_i32 --baseline main").refused("no figure of the rows");
    let full = std::path::Path::new("/dev/full").exists();
    let out = if full { "--out /dev/full" } else { "" };
    let done = home.run(format!("run --quick {ROW} --baseline main --document {out}"));
    let both = done.json();
    assert_eq!(both["gate"]["baseline_runs"], 3);
    assert_eq!(both["gate"]["rows"][0]["row"], ROW);
    match full {
        true => has(&done.ended_with(2).err, ["/dev/full"]),
        false => skip("there is no /dev/full to write to"),
    }
}

#[test]
fn cpus_are_recorded_while_a_command_runs() {
    let home = Home::new();
    if !std::path::Path::new("/proc/stat").exists() {
        return skip("no /proc/stat");
    }
    let command = "sh -c 'echo out; sleep 0.3; exit 3'";
    let done = home.run(format!(
        "history --cpus --every 20ms --out c.json --out c.html --out c.svg -- {command}"
    ));
    assert_eq!((done.code, &*done.out), (0, "out\n"), "{}", done.err);
    has(&done.err, ["exit code 3", "CPU ", "user", "queue"]);
    let read = std::fs::read(home.path("c.json")).expect("written");
    let history = recorded(serde_json::from_slice(&read).expect("a run"));
    assert_eq!(history.ended, Ended::Exited(3));
    assert!(history.duration_ns() >= 300_000_000, "it slept");
    assert!(history.ends_ns.len() > 1 && !history.cpus.is_empty());
    let page = std::fs::read_to_string(home.path("c.html")).expect("written");
    has(&page, ["CPU history", "sh -c echo out"]);
    // A command may come and go between two ticks of the kernel's clock.
    let is_known = history.imbalance().is_some();
    assert_eq!(page.contains("busiest"), is_known, "{history:?}");
    let picture = std::fs::read_to_string(home.path("c.svg")).expect("written");
    has(&picture, ["<svg", ">steal<"]);

    // Data on standard output, everything else on standard error.
    let done = home.run(format!("history --cpus --document -- {command}")).ok();
    assert_eq!(recorded(done.document()).ended, Ended::Exited(3));
    has(&done.err, ["out\n"]);
    let done = home.run("history --cpus --for 50ms");
    has(&done.out, ["stopped at the time limit"]);
    lacks(&done.out, ["\u{1b}"]);
    let limited = home.run("history --cpus --for 50ms --document -- sleep 60");
    assert_eq!(recorded(limited.document()).ended, Ended::Time);
}

fn recorded(run: Run) -> CpuHistory {
    match run.recordings.into_iter().next() {
        Some(Recording::CpuHistory(history)) => history,
        other => panic!("{other:?}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_of_cpus_may_take_any_time() {
    use crate::support::processes::{signal, survives, wait_until};
    if !std::path::Path::new("/proc/stat").exists() {
        return skip("no /proc/stat");
    }
    let home = Home::new();
    let line = "history --cpus --for 300000000000y --document";
    let done = home.run(format!("{line} -- sleep 0.3"));
    assert_eq!(recorded(done.document()).ended, Ended::Exited(0));
    let recording = home.start(line);
    wait_until("its handler", || survives(recording.id(), 15));
    signal(recording.id(), "TERM");
    assert_eq!(recorded(Done::after(recording).document()).ended, Ended::Requested);
}

#[test]
fn recordings_of_cpus_that_make_no_sense_are_refused() {
    let home = Home::new();
    insta::assert_snapshot!(home.refusals(
        "history
         history --cpus call.virtual
         history call.virtual --for 1s
         history --cpus --every 1ms
         history --cpus --for 0s
         history --cpus --out cpus
         history --cpus --out /nonexistent/cpus.svg
         history --cpus -- /nonexistent/program
         history call.virtual --live
         history --cpus --live --json
         history --cpus --live"
    ));
}
