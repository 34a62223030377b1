//! Histories of kept runs that are made up.

use crate::chart::{self, tests::chart_text};
use crate::render;
use compare::history::{FollowedFigure, History, history};
use model::estimate::Verdict;
use model::machine::Fact;
use model::run::{Outcome, Run};
use model::summary::MachineKey;
use model::synthetic;
use store::Store;
use store::history::{HistoryError, HistoryQuery, find_history, machine_of};
use store::index::Index;

const ROW: &str = "cpu.add_i32";
const DAY_MS: u64 = 86_400_000;

/// When the first run began: long ago, so that none is of the future.
fn began() -> u64 {
    synthetic::run().started_unix_ms - 3650 * DAY_MS
}

/// Keeps so many runs a day apart, each as `change` makes it.
fn kept(count: u64, change: impl Fn(u64, Run) -> Run) -> (tempfile::TempDir, Index) {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::in_directory(dir.path());
    for number in 0..count {
        let mut run = synthetic::run();
        run.id = format!("{number:04x}0000-0000-4000-8000-000000000001");
        run.started_unix_ms = began() + number * DAY_MS;
        store.save(&change(number, run)).expect("saved");
    }
    (dir, Index::open(store).expect("open"))
}

/// A run whose row takes so many times as long, give or take a little that
/// differs from run to run.
fn scaled_run(run: &Run, factor: f64, number: u64) -> Run {
    let wander = [0.0, 0.004, -0.003, 0.002, -0.004, 0.003, -0.001];
    let little = wander[(number * 5 % 7) as usize];
    synthetic::slower(run, ROW, factor * (1.0 + little))
}

fn history_of(index: &Index, row: &str, at: &[u64]) -> Result<History, HistoryError> {
    let machine = MachineKey::from_run(&synthetic::run());
    let asked = HistoryQuery {
        machine: &machine,
        row,
        at,
        figure: FollowedFigure::Best,
        since_unix_ms: None,
        last: None,
    };
    find_history(index, &asked, &["cpu.known_row".to_owned()])
}

fn error(index: &Index, row: &str, at: &[u64]) -> String {
    let line = history_of(index, row, at).expect_err("no history").to_string();
    assert!(!line.contains('\n'), "{line:?}");
    line
}

#[test]
fn pages_of_histories() {
    let change = |number: u64| if number >= 10 { 1.08 } else { 1.0 };
    let cases = [
        kept(16, |number, mut run| {
            if number >= 10 {
                run.machine.kernel = Fact::known("6.99".to_string());
            }
            scaled_run(&run, change(number), number)
        }),
        kept(1, |_, run| run),
        kept(12, |number, run| scaled_run(&run, 1.0, number)),
        kept(9, |number, run| damaged(scaled_run(&run, 1.0, number), number)),
    ];
    let pages = cases.each_ref().map(|(_, index)| {
        let history = history_of(index, ROW, &[]).expect("kept");
        let page = crate::terminal::plain(&render::history(&history, false));
        assert!(crate::terminal::layout::keeps_to(&page, crate::terminal::COLUMNS), "{page}");
        page
    });
    insta::assert_snapshot!(pages.join("\n"));
    let wide = history_of(&cases[3].1, ROW, &[]).expect("kept");
    insta::assert_snapshot!(crate::terminal::plain(&render::history(&wide, true)));
    let change = history_of(&cases[0].1, ROW, &[]).expect("kept");
    insta::assert_snapshot!(chart_text(&chart::history::chart(&change)));
    let point = history_of(&cases[1].1, "memory.latency", &[16_384]).expect("a point");
    assert_eq!(chart::history::chart(&point).id, "history.memory.latency-at-16384");
}

/// The run with a figure of another kind, or none.
fn damaged(mut run: Run, number: u64) -> Run {
    let row = run.rows.iter_mut().find(|row| row.id == ROW);
    let row = row.expect("the row");
    let Outcome::Figure(estimate) = &mut row.outcome else {
        panic!("a figure");
    };
    match number {
        2 => estimate.quiet = None,
        3 => estimate.verdict = Verdict::Invalid,
        4 => estimate.below_ns = Some(0.5),
        5 => row.outcome = Outcome::Unavailable { reason: "no such counter".into() },
        _ => {}
    }
    run
}

#[test]
fn a_history_follows_one_mode() {
    let row = "sync.handoff/pipe";
    let usual = [("same CPU", 0.9, 4000.0), ("other CPU", 0.1, 40_000.0)];
    let moved = [("other CPU", 0.9, 40_000.0), ("same CPU", 0.1, 4000.0)];
    let (_dir, index) = kept(16, |number, run| {
        let (ns, modes) = match number {
            9..14 => (39_000.0, &moved),
            _ => (4100.0, &usual),
        };
        synthetic::with_figure(run, row, synthetic::in_modes(ns, modes))
    });
    let history = history_of(&index, row, &[]).expect("kept");
    assert_eq!(history.name(), "sync.handoff/pipe (same CPU)");
    assert_eq!((history.tested(), history.levels.len()), (11, 1));
    let other = &history.runs[9];
    assert_eq!((other.figure, other.tested), (None, false));
    assert_eq!(other.reason, "its figure is of another mode (other CPU)");
}

#[test]
fn what_is_not_there_is_said_with_what_there_is() {
    let (_dir, index) = kept(2, |_, run| run);
    assert!(error(&index, "cpu.add_i23", &[]).contains("did you mean cpu.add_i32?"));
    assert!(error(&index, "cpu.known_row", &[]).contains("run `latlas run cpu.known_row`"));
    let curve = error(&index, "memory.latency", &[]);
    assert!(curve.contains("--at") && curve.contains("KiB"), "{curve}");
    let reported = error(&index, "memory.latency", &[17 << 10]);
    assert!(reported.contains("at 17KiB (the newest has"), "{reported}");
    assert!(reported.contains("16KiB"), "the nearest are listed: {reported}");
    let (_dir, empty) = kept(0, |_, run| run);
    assert!(error(&empty, ROW, &[]).contains("run `latlas run`"));
    let (_dir, elsewhere) = kept(1, |_, mut run| {
        run.machine.hostname = Fact::known("desk".to_string());
        run
    });
    assert!(error(&elsewhere, ROW, &[]).contains("--machine shows another"));
    let desk = machine_of(&elsewhere, "DESK").expect("by its host");
    assert_eq!(machine_of(&elsewhere, &desk.key.0[..6]).expect("by key"), desk);
    assert!(machine_of(&elsewhere, &desk.key.0[..3]).is_err(), "too short");
    let none = machine_of(&elsewhere, "lab9").expect_err("no such machine");
    assert!(none.to_string().ends_with("(machines: desk)"), "{none}");
    // Of many machines a message names a few.
    let (_dir, many) = kept(9, |number, mut run| {
        run.machine.hostname = Fact::known(format!("desk-{number}"));
        run
    });
    let none = machine_of(&many, "desk-").expect_err("no such machine");
    let text = none.to_string();
    assert!(text.contains("did you mean desk-"), "{text}");
    assert!(text.ends_with(" and 4 more)"), "{text}");
    assert!(error(&many, ROW, &[]).ends_with(" and 4 more)"));
}

#[test]
fn a_time_and_a_number_of_runs_can_be_asked_for() {
    let (_dir, index) = kept(8, |number, run| scaled_run(&run, 1.0, number));
    let machine = MachineKey::from_run(&synthetic::run());
    let asked = HistoryQuery {
        machine: &machine,
        row: ROW,
        at: &[],
        figure: FollowedFigure::Ns,
        since_unix_ms: Some(began() + 3 * DAY_MS),
        last: None,
    };
    let since = find_history(&index, &asked, &[]).expect("five");
    assert_eq!((since.runs.len(), since.unit), (5, "ns"));
    let last = HistoryQuery {
        last: Some(2),
        since_unix_ms: None,
        figure: FollowedFigure::Cycles,
        ..asked
    };
    let last = find_history(&index, &last, &[]).expect("two");
    assert_eq!((last.runs.len(), last.unit), (2, "cycles"));
    assert_eq!(last.runs[1].run.started_unix_ms, began() + 7 * DAY_MS);
    let never = HistoryQuery { since_unix_ms: Some(began() + 900 * DAY_MS), ..asked };
    let line = find_history(&index, &never, &[]).expect_err("none").to_string();
    assert!(line.contains("8 stored runs") && line.contains("none of them since"), "{line}");
}

#[test]
fn of_many_runs_the_newest_are_tested() {
    let (_dir, index) = kept(12, |number, run| scaled_run(&run, 1.0, number));
    let key = MachineKey::from_run(&synthetic::run());
    let few = index.history(&key, ROW, &[]).expect("kept");
    let own = index.machines().expect("one").remove(0);
    // The same ones again and again.
    let many: Vec<_> = few.iter().cycle().take(260).cloned().collect();
    let history = history(own, many, FollowedFigure::Best).expect("a history");
    assert_eq!((history.older, history.tested()), (60, 200));
    assert!(!history.runs[59].tested && history.runs[60].tested);
    assert!(history.runs[59].reason.contains("newest 200"));
    assert!(history.runs[59].figure.is_some(), "it is drawn");
    assert_eq!((history.levels[0].first, history.levels[0].last), (60, 259));
    let sentence = history.conclusion().to_string();
    assert!(sentence.contains("in 200 runs") && sentence.ends_with("Older runs are not tested."));
}
