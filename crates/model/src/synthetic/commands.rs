//! A made-up run of two commands.

use super::estimates::interval;
use crate::command::{Command, Commands, Compared, Controls, Ended, PageCache, Rule};
use crate::compare::finding::Verdict;
use crate::repeats::{self, FEW_EVENTS};
use crate::run::{Bound, Cell, Outcome, Row, Run};
use crate::unit::Unit;

/// The run: a fast and a slow `grep`, the slow one in two states; cycles
/// counted for the first alone.
pub fn run_of_commands() -> Run {
    let mut run = super::run();
    run.clock.ns_per_tick = 1.0;
    run.core_clock = None;
    (run.rows, run.cells) = Default::default();
    for (name, slow) in [("grep", 1), ("rg", 2)] {
        let rows = command_rows(slow);
        for (row, unit, least, value) in rows {
            add_row(&mut run, &format!("exec.{name}/{row}"), unit, least, value);
        }
    }
    let reason = "no hardware counters";
    let unavailable = |id: &str, unit| {
        Row::new(id, unit, Bound::Memory, Outcome::Unavailable { reason: reason.into() })
    };
    for row in ["cycles", "instructions"] {
        run.rows.push(unavailable(&format!("exec.rg/{row}"), Unit::Count));
    }
    run.commands = Some(record());
    run
}

type Value = fn(u64, u64) -> (u64, u64);

fn command_rows(slow: u64) -> Vec<(&'static str, Unit, f64, Value)> {
    let time = Unit::Time;
    let mut rows: Vec<(&'static str, Unit, f64, Value)> = vec![
        ("wall", time, 0.0, |k, s| (s * 2_570_000 + wiggle(k, s) * 9_000, 1)),
        ("start", time, 0.0, |k, _| (91_000 + k * 50, 1)),
        ("user", time, 0.0, |k, s| (s * 1_900_000 + k * 700, 1)),
        ("system", time, 0.0, |_, _| (0, 1)),
        ("task_clock", time, 0.0, |k, s| (s * 2_300_000 + k * 800, 1)),
        ("cpus_utilised", Unit::Count, 0.0, |k, s| {
            (s * 2_300_000 + k * 800, s * 2_570_000 + k * 900)
        }),
        ("peak_memory", Unit::Bytes, 0.0, |k, s| (s * 9_500_000 + k * 4096, 1)),
        ("context_switches", Unit::Count, FEW_EVENTS, |k, _| (k % 2, 1)),
        ("cpu_migrations", Unit::Count, FEW_EVENTS, |_, _| (0, 1)),
        ("faults", Unit::Count, FEW_EVENTS, |k, s| (s * 161 + k % 3, 1)),
    ];
    if slow == 1 {
        rows.push(("cycles", Unit::Count, FEW_EVENTS, |k, _| (32_427_294_227 + k, 1)));
        rows.push(("instructions", Unit::Count, FEW_EVENTS, |k, _| (61_027_294_227 + k, 1)));
        rows.push(("frequency", Unit::Frequency, 0.0, |k, _| (11_984_691_958 + k, 32_427_294_227)));
    }
    rows
}

/// The slow one is in two states.
fn wiggle(k: u64, slow: u64) -> u64 {
    match (slow, k % 2) {
        (2, 1) => 300 + k,
        _ => k,
    }
}

fn add_row(run: &mut Run, id: &str, unit: Unit, least: f64, value: Value) {
    let slow = if id.starts_with("exec.rg") { 2 } else { 1 };
    // An odd step through the runs, so that they don't rise; and one outlier.
    let parts: Vec<(u64, u64)> = (0..30).map(|k| value(k * 7 % 30, slow)).collect();
    let values: Vec<f64> = parts.iter().map(|&(n, d)| n as f64 / d as f64).collect();
    let mut estimate = repeats::estimate(&values, &unit, least);
    if unit == Unit::Bytes && slow == 1 {
        estimate.below_ns = Some(12_000_000.0);
    }
    run.rows.push(Row::new(id, unit, Bound::Memory, Outcome::Figure(estimate)));
    let samples = parts.iter().zip(0..).map(|(&(ticks, turns), k)| (k * 10, turns, ticks));
    run.cells.push(Cell::of_values(id, Vec::new(), samples));
}

fn record() -> Commands {
    let command = |words: &[&str]| Command {
        name: words[0].into(),
        words: words.iter().map(ToString::to_string).collect(),
        shell: None,
        failures: 0,
        ends: Vec::new(),
        replaced: false,
        input_unread: false,
        stayed_pages: 0,
        output_bytes: None,
        checked_by: None,
    };
    let mut commands = vec![command(&["grep", "-F", "x", "big"]), command(&["rg", "x", "big"])];
    commands[0].checked_by = Some("grep -q x".into());
    let compared = |row: &str, value: f64, half: f64, word| Compared {
        name: "rg".into(),
        row: row.into(),
        ratio: Some(interval(value, half)),
        rounds: 30,
        word,
        why: None,
    };
    Commands {
        commands: commands.into(),
        page_cache: PageCache::ColdFiles {
            files: vec!["big".into()],
            stayed_pages: 3,
            untold: Vec::new(),
        },
        controls: Controls { pinned_cpu: Some(1), nice: Some(-5), observer_apart: true },
        warmups: 1,
        rule: Rule {
            runs: None,
            least_runs: 10,
            least_ms: 3_000,
            half_width: Some(0.02),
            question: None,
            most_ms: 60_000,
            most_runs: 10_000,
        },
        ended: Ended::AtTheLimit,
        margin: 0.05,
        compared: vec![
            compared("wall", 2.31, 0.11, Verdict::Different),
            compared("task_clock", 1.002, 0.01, Verdict::SameWithinNoise),
            compared("peak_memory", 1.01, 0.2, Verdict::CannotTell),
        ],
        output: "to /dev/null".into(),
        input: "/dev/null".into(),
    }
}
