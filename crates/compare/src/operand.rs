//! One side of a comparison: runs of one machine, or a published table.

use super::alike::alike;
use crate::references::Reference;
use model::run::Run;
use model::sample_columns::Columns;

/// Runs of one kind that a side holds at most.
pub const USED: usize = 10;

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Operand {
    /// As it was named.
    pub name: String,
    pub source: FigureSource,
}

/// Where the figures come from.
#[derive(Clone, Debug)]
pub enum FigureSource {
    /// One run, or several of one machine, alike, the newest first. Without
    /// their samples.
    Runs(Vec<Run>),
    Published(Reference),
}

impl Operand {
    /// The runs, if it is not a published table.
    pub fn runs(&self) -> &[Run] {
        match &self.source {
            FigureSource::Runs(runs) => runs,
            FigureSource::Published(_) => &[],
        }
    }

    /// One run under a name.
    pub fn from_run(name: impl Into<String>, run: Run) -> Operand {
        Operand::of_runs(name, vec![run])
    }

    /// Runs that are alike under a name.
    pub fn of_runs(name: impl Into<String>, runs: Vec<Run>) -> Operand {
        Operand {
            name: name.into(),
            source: FigureSource::Runs(runs.into_iter().map(without_samples).collect()),
        }
    }
}

/// Groups of kept runs that are alike and like a side's, without those that
/// are compared themselves: what they differ by is what runs differ by. A side
/// of several runs needs none: its own say it. `kept` are
/// the [`recent_like`] ones.
pub fn kept_like(operands: &[&Operand], kept: &[Run]) -> Vec<Vec<Run>> {
    let compared: Vec<&Run> = operands.iter().flat_map(|o| o.runs()).collect();
    let mut groups: Vec<Vec<Run>> = Vec::new();
    let alone = operands.iter().filter(|o| o.runs().len() == 1);
    let alone: Vec<&Run> = alone.map(|o| &o.runs()[0]).collect();
    for (place, &own) in alone.iter().enumerate() {
        if alone[..place].iter().any(|before| alike(before, own)) {
            continue;
        }
        let group: Vec<Run> = kept
            .iter()
            .filter(|run| run.partial.is_none() && alike(run, own))
            .filter(|run| compared.iter().all(|c| c.id != run.id))
            .take(USED)
            .cloned()
            .collect();
        if group.len() >= 2 {
            groups.push(group);
        }
    }
    groups
}

/// A run without its samples, but for which worker took them: thirty runs
/// would fill a small machine's memory.
pub fn without_samples(mut run: Run) -> Run {
    for cell in &mut run.cells {
        cell.samples =
            Columns { workers: std::mem::take(&mut cell.samples.workers), ..Columns::default() };
    }
    run
}
