//! What follows from where a job ran.

use super::{Residency, Work};
use serde::Serialize;

/// The share of CPU time from which on cores carried a job alone: the first blocks of a
/// thread may be done before the scheduler has placed it.
pub const ALONE: f64 = 0.99;

/// Bounds of a share of a job's CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What was there for certain.
    pub least: f64,
    /// With all that may have been there.
    pub most: f64,
}

/// Whether cores of one kind carried a job alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// At least [`ALONE`] of the CPU time was there.
    Alone(Share),
    /// At least that, but there was no choice: the job was allowed on these cores
    /// only, so its level can't have been the cause.
    NoOtherAllowed,
    /// The job was allowed on none of these cores.
    NotAllowed,
    /// Less.
    NotAlone(Share),
    /// What is not known decides.
    CannotTell(Share),
    /// The machine has one kind of cores.
    OneKind,
    /// The job had no CPU time, or the kinds are not known.
    Nothing,
}

impl Residency {
    /// CPU time whose kind is not known for certain.
    pub fn unknown(&self) -> Work {
        let parts = [self.moved_between_kinds, self.may_have_moved, self.kind_not_known];
        parts.iter().fold(Work::default(), |sum, part| Work {
            blocks: sum.blocks + part.blocks,
            cpu_ns: sum.cpu_ns.saturating_add(part.cpu_ns),
        })
    }

    /// The share of CPU time on a kind, by its place; `None` without CPU time.
    pub fn share(&self, kind: usize) -> Option<Share> {
        let all_ns = self.all.cpu_ns as f64;
        let work = self.kinds.get(kind)?.work;
        let most_ns = work.cpu_ns.saturating_add(self.unknown().cpu_ns);
        (all_ns > 0.0)
            .then(|| Share { least: work.cpu_ns as f64 / all_ns, most: most_ns as f64 / all_ns })
    }

    /// Whether the slowest kind of cores carried the job alone.
    pub fn carried_by_slowest(&self) -> Carried {
        let last = self.kinds.len().checked_sub(1);
        let Some((last, share)) = last.and_then(|last| Some((last, self.share(last)?))) else {
            return Carried::Nothing;
        };
        match self.allowed_kinds() {
            _ if last == 0 => Carried::OneKind,
            _ if self.kinds[last].cpus.is_empty() => Carried::NotAllowed,
            1 if share.least >= ALONE => Carried::NoOtherAllowed,
            _ if share.least >= ALONE => Carried::Alone(share),
            _ if share.most < ALONE => Carried::NotAlone(share),
            _ => Carried::CannotTell(share),
        }
    }

    /// Work per CPU second of the fastest kind over that of a kind: what a percentage
    /// of CPU time does not show. `None` where one of the two did nothing.
    pub fn fastest_over(&self, kind: usize) -> Option<f64> {
        let rate = |kind: usize| self.kinds.get(kind)?.work.blocks_per_cpu_second();
        Some(rate(0)? / rate(kind)?)
    }
}
