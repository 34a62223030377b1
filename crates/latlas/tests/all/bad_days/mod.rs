//! Failures from outside: interrupted, workers killed or stopped, short of memory, CPUs, disks or rights. A
//! file for each cause (`signals.rs`, `limits.rs`, `sandbox.rs`, `real_time.rs`) or for what is hit
//! (`commands.rs`, `files.rs`, `processes.rs`, `rings.rs`).

mod commands;
mod exhausted;
mod files;
mod files_on_mounts;
mod limits;
mod processes;
mod real_time;
mod rings;
mod sandbox;
mod signals;

use crate::support::processes::measuring;
use crate::support::{Done, Home};
use model::estimate::{Estimate, Verdict};
use model::run::{Outcome, Run};
use std::process::Child;

/// A run that is interrupted long before its end.
const LONG: &str = "run cpu.* --budget 120s --seed 7 --out=run.json";

fn started(home: &Home, line: &str) -> (Child, Vec<u32>) {
    measuring(home.command(line)).expect("it goes on for long enough")
}

/// Why a row is not available; `None` where it was measured.
fn reason<'a>(run: &'a Run, row: &str) -> Option<&'a str> {
    match &run.row(row).expect("never dropped").outcome {
        Outcome::Unavailable { reason } => Some(reason),
        _ => None,
    }
}

/// Whether a row was measured: a busy machine may make what came of it invalid, which has no figure.
fn has_figure(run: &Run, row: &str) -> bool {
    let measured = |e: &Estimate| e.typical.is_some() || e.verdict == Verdict::Invalid;
    run.row(row).is_some_and(|row| row.estimate().is_some_and(measured))
}

/// Everything a row's outcome and notes say.
fn row_text(run: &Run, id: &str) -> String {
    let row = run.row(id).unwrap_or_else(|| panic!("no row {id}"));
    serde_json::to_string(row).expect("JSON")
}

/// The run that was interrupted, kept and marked partial.
fn interrupted(home: &Home, child: Child) -> Run {
    let done = Done::after(child).ended_with(3);
    crate::support::lacks(&done.err, ["ended early", "timed out"]);
    let run = home.run_json();
    assert!(run.partial.as_deref().is_some_and(|why| why.contains("interrupted")));
    let measured = |run: &Run| run.cells.iter().any(|cell| !cell.samples.first_ticks.is_empty());
    assert!(measured(&run));
    assert!(done.out.contains("PARTIAL"), "{}", done.out);
    assert_eq!(home.kept_documents(), 1);
    run
}
