//! Made-up histories of one row, with their words.

use super::*;
use model::synthetic;
use std::fmt::Write as _;

fn tight_interval(value: f64) -> Interval {
    Interval { value, low: value * 0.99, high: value * 1.01 }
}

/// A quiet figure in ns, and at 4 GHz in cycles.
fn result(ns: f64) -> KeptResult {
    KeptResult {
        row: "cpu.add_i32".into(),
        at: Vec::new(),
        bound: Bound::Core,
        unit: Unit::Time,
        value_ns: Some(tight_interval(ns)),
        quiet: true,
        mode: None,
        cycles: Some(tight_interval(4.0 * ns)),
        below_ns: None,
        verdict: Some(Verdict::Ok),
        reason: String::new(),
    }
}

fn typical(ns: f64, mode: &str) -> KeptResult {
    KeptResult { quiet: false, cycles: None, mode: Some(mode.into()), ..result(ns) }
}

fn failed_result(verdict: Option<Verdict>, reason: &str) -> KeptResult {
    KeptResult {
        value_ns: None,
        quiet: false,
        cycles: None,
        verdict,
        reason: reason.into(),
        ..result(1.0)
    }
}

/// Runs a minute apart, each by another kernel from `changed` on.
fn made_history(results: Vec<KeptResult>, changed: usize, wanted: FollowedFigure) -> History {
    let found = results.into_iter().enumerate().map(|(at, result)| {
        let mut run = synthetic::run();
        run.id = format!("{at:08}{}", &run.id[8..]);
        run.started_unix_ms += at as u64 * 60_000;
        if at >= changed {
            run.machine.kernel = model::machine::Fact::known("9.9".into());
            run.program.commit = None;
        }
        (KeptRun::from_run(&run, format!("{at}.json").into()), result)
    });
    let found: Vec<_> = found.collect();
    let newest = &found[0].0;
    let machine = MachineSummary {
        key: newest.machine.clone(),
        host: newest.host.clone(),
        line: newest.machine_line.clone(),
        runs: found.len(),
        newest_unix_ms: newest.started_unix_ms,
    };
    history(machine, found, wanted).expect("runs")
}

/// Values that differ by a known ±1 %.
fn steady(ns: f64, runs: usize) -> Vec<KeptResult> {
    let wobble = [0.0, 0.01, -0.01, 0.005, -0.005];
    (0..runs).map(|at| result(ns * (1.0 + wobble[at % wobble.len()]))).collect()
}

#[test]
fn histories_and_their_words() {
    let below = KeptResult { below_ns: Some(0.01), ..result(0.005) };
    let two_states = KeptResult {
        verdict: Some(Verdict::TwoStates),
        reason: "two states".into(),
        ..result(1.0)
    };
    let of_no_width =
        KeptResult { cycles: Some(Interval { value: 0.0, low: 0.0, high: 0.0 }), ..result(1.0) };
    let [sleepy, awake] = ["asleep", "awake"].map(|mode| typical(100.0, mode));
    let modes = [sleepy.clone(), awake.clone(), awake, failed_result(None, "")];
    let mut doubled = steady(1.0, 12);
    doubled.extend(steady(2.0, 12));
    let odd = vec![
        result(1.0),
        below,
        failed_result(None, "no counter"),
        failed_result(Some(Verdict::Invalid), "page faults"),
        failed_result(Some(Verdict::Noisy), "no cycles"),
        two_states,
        of_no_width,
        sleepy,
    ];
    let mut text = String::new();
    for (what, results, changed, wanted) in [
        ("steady", steady(1.0, 12), 99, FollowedFigure::Best),
        ("twice as long", doubled, 12, FollowedFigure::Best),
        ("few", steady(3_000.0, 3), 99, FollowedFigure::Ns),
        ("in ns", steady(3_000.0, 12), 99, FollowedFigure::Ns),
        ("odd", odd, 4, FollowedFigure::Best),
        ("modes", modes.to_vec(), 99, FollowedFigure::Best),
        ("long", steady(1.0, NEWEST + 3), 99, FollowedFigure::Cycles),
    ] {
        let history = made_history(results, changed, wanted);
        let _ = writeln!(
            text,
            "{what}: {} by {:?} in {:?}, {} older\n  {}",
            history.name(),
            history.measure,
            history.unit,
            history.older,
            history.conclusion(),
        );
        let has_change = |at: &usize| history.change_at(*at).is_some();
        let changes: Vec<usize> = (0..history.runs.len()).filter(has_change).collect();
        let _ = writeln!(text, "  levels begin at {changes:?}");
        for entry in history.runs.iter().take(8) {
            let value = |i: Option<Interval>| i.map(|i| history.level_text(&i));
            let _ = writeln!(
                text,
                "  {} {:?} ns {:?} {:?} tested {} {:?} {}",
                entry.short_id(),
                value(entry.figure),
                entry.ns.map(|ns| ns.value),
                entry.verdict,
                entry.tested,
                entry.reason,
                entry.setup_text(),
            );
        }
    }
    insta::assert_snapshot!(text);
}
