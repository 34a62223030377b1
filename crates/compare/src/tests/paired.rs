//! Two builds whose head takes twice as long.

use crate::paired::PairedGate;
use model::compare::finding::Verdict;
use model::run::Run;
use model::synthetic;

/// The synthetic run of `grep` and `rg`, as base and head; `swapped` as head and base.
fn swapped_run(swapped: bool) -> (String, Run) {
    let mut run = synthetic::run_of_commands();
    let names = match swapped {
        false => ["exec.base/", "exec.head/"],
        true => ["exec.head/", "exec.base/"],
    };
    let renamed = |id: &mut String| {
        *id = id.replace("exec.grep/", names[0]).replace("exec.rg/", names[1]);
    };
    run.rows.iter_mut().for_each(|row| renamed(&mut row.id));
    run.cells.iter_mut().for_each(|cell| renamed(&mut cell.row));
    let commands = &mut run.commands.as_mut().expect("commands").commands;
    for (command, name) in commands.iter_mut().zip(names) {
        command.name = name.replace("exec.", "").replace('/', "");
    }
    ("{}/p".into(), run)
}

fn walls(gate: &PairedGate) -> Vec<Verdict> {
    let walls = gate.rows.iter().filter(|row| row.row == "wall");
    walls.map(|row| row.answer).collect()
}

#[test]
fn a_row_is_slower_only_where_its_whole_interval_is() {
    for (swapped, fail_above, answer) in [
        (false, 0.05, Verdict::Different),
        (false, 3.0, Verdict::SameWithinNoise),
        // Twice as long: the limit lies within the interval.
        (false, 1.0, Verdict::CannotTell),
        (true, 0.05, Verdict::SameWithinNoise),
    ] {
        let gate = PairedGate::from_runs(&[swapped_run(swapped)], 1, fail_above);
        assert_eq!(gate.rows.len(), 2, "wall and task-clock");
        assert_eq!(walls(&gate), [answer], "{swapped} {fail_above}");
        // Its wall time varies, its CPU time hardly: where the one is inconclusive, the other decides.
        let deciding: Vec<&str> = gate.rows.iter().filter(|r| r.decides).map(|r| r.row).collect();
        let by_cpu = answer == Verdict::CannotTell;
        assert_eq!(
            deciding,
            [if by_cpu { "task_clock" } else { "wall" }],
            "{swapped} {fail_above}"
        );
        assert!(!gate.is_inconclusive(), "{swapped} {fail_above}");
    }
}

#[test]
fn more_commands_widen_every_interval() {
    let widths = |commands: usize| {
        let runs: Vec<_> = (0..commands).map(|_| swapped_run(false)).collect();
        let gate = PairedGate::from_runs(&runs, commands, 0.05);
        let first = gate.rows[0].ratio.expect("thirty rounds");
        (first.high / first.low, gate.detectable().expect("judged")[0])
    };
    let (alone, among) = (widths(1), widths(50));
    assert!(alone.0 < among.0 && alone.1 < among.1, "{alone:?} {among:?}");
    // Half of the level on each side of a median of 30 rounds needs no more than these.
    let runs: Vec<_> = (0..50).map(|_| swapped_run(false)).collect();
    let gate = PairedGate::from_runs(&runs, 50, 0.05);
    assert_eq!(gate.rows_with(Verdict::Different).count(), 100);
}

#[test]
fn what_was_interrupted_has_not_passed() {
    let (command, mut partial) = swapped_run(true);
    partial.partial = Some("interrupted".into());
    let interrupted = PairedGate::from_runs(&[(command, partial)], 1, 0.05);
    assert!(interrupted.is_inconclusive() && !interrupted.complete);
    let missing = PairedGate::from_runs(&[swapped_run(true)], 2, 0.05);
    assert!(missing.is_inconclusive() && !missing.complete);
    let nothing = PairedGate::from_runs(&[], 0, 0.05);
    assert!(nothing.is_inconclusive() && nothing.detectable().is_none());
}

#[test]
fn a_head_that_fails_is_neither_faster_nor_slower() {
    for (swapped, ends) in [(true, [2, 0]), (false, [0, 2])] {
        let (command, mut run) = swapped_run(swapped);
        let record = run.commands.as_mut().expect("commands");
        record.commands[usize::from(!swapped)].failures = ends[usize::from(!swapped)];
        let gate = PairedGate::from_runs(&[(command, run)], 1, 0.05);
        let why: Vec<_> = gate.rows.iter().map(|row| (row.answer, row.why.clone())).collect();
        let failed = (Verdict::CannotTell, Some("head: 2 runs failed".to_owned()));
        assert_eq!(why, [failed.clone(), failed]);
        assert!(gate.is_inconclusive() && gate.detectable().is_none());
    }
}
