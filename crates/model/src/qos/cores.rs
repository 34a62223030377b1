//! Whether the slowest kind of cores carried the jobs alone.

use super::figures::job_residency;
use super::{CaseRuns, Qos};
use crate::residency::{Carried, Share};
use crate::share::range;
use std::fmt;

/// What the blocks of all jobs say of the slowest kind of cores.
#[derive(Clone, Debug, PartialEq)]
pub enum Cores {
    /// The machine has one kind of cores.
    OneKind,
    /// Kinds are not known, with the reason.
    NotKnown(String),
    /// No job was allowed on cores of this kind.
    NotAllowed(String),
    /// All jobs were allowed on this kind only.
    OnlyAllowed(String),
    /// Jobs of which the same is true.
    Jobs {
        /// Name of the kind.
        kind: String,
        /// What.
        word: Word,
        /// Names of the jobs with the share of their CPU time that was there.
        jobs: Vec<(String, Share)>,
    },
}

/// What is true of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Cores of the kind carried them alone.
    Alone,
    /// They also ran elsewhere.
    NotAlone,
    /// Blocks that moved between kinds decide.
    CannotTell,
}

/// What follows for all jobs that were measured; `unknown` says why kinds of cores are not
/// known, if they are not.
pub fn cores(qos: &Qos, unknown: Option<&str>) -> Vec<Cores> {
    let mut groups = [Word::Alone, Word::NotAlone, Word::CannotTell].map(|word| (word, Vec::new()));
    let measured = qos.cases.iter().filter(|runs| !runs.runs.is_empty());
    let jobs = measured.flat_map(|runs| (0..runs.case.levels().len()).map(move |job| (runs, job)));
    let mut slowest = String::new();
    for (runs, job) in jobs {
        let Some(places) = job_residency(runs, job) else {
            continue;
        };
        if let Some(kind) = places.kinds.last() {
            slowest.clone_from(&kind.name);
        }
        let (place, share) = match places.carried_by_slowest() {
            Carried::OneKind => return vec![Cores::OneKind],
            Carried::NotAllowed => return vec![Cores::NotAllowed(slowest)],
            Carried::NoOtherAllowed => return vec![Cores::OnlyAllowed(slowest)],
            Carried::Nothing => continue,
            Carried::Alone(share) => (0, share),
            Carried::NotAlone(share) => (1, share),
            Carried::CannotTell(share) => (2, share),
        };
        groups[place].1.push((job_name(runs, job), share));
    }
    if let Some(why) = unknown {
        return vec![Cores::NotKnown(why.into())];
    }
    let groups = groups.into_iter().filter(|(_, jobs)| !jobs.is_empty());
    let of = |(word, jobs)| Cores::Jobs { kind: slowest.clone(), word, jobs };
    groups.map(of).collect()
}

/// `background alone`, `background with default`.
fn job_name(runs: &CaseRuns, job: usize) -> String {
    match runs.case.levels().as_slice() {
        [first, second] => {
            let [own, other] = match job {
                0 => [first, second],
                _ => [second, first],
            };
            format!("{} with {}", own.label(), other.label())
        }
        _ => runs.case.label(),
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cores::OneKind => {
                write!(f, "The machine has one kind of cores: no level runs on slower ones.")
            }
            Cores::NotKnown(why) => write!(f, "Kinds of cores are not known: {why}."),
            Cores::NotAllowed(kind) => write!(f, "The jobs were not allowed on {kind} CPUs."),
            Cores::OnlyAllowed(kind) => write!(
                f,
                "The jobs were allowed on {kind} CPUs only: the level did not choose them."
            ),
            Cores::Jobs { kind, word, jobs } => {
                let jobs: Vec<String> = jobs
                    .iter()
                    .map(|(name, share)| format!("{name} ({})", range(share.least, share.most)))
                    .collect();
                let jobs = jobs.join(", ");
                match word {
                    Word::Alone => write!(f, "Ran on {kind} CPUs alone: {jobs}."),
                    Word::NotAlone => write!(f, "Did not run on {kind} CPUs alone: {jobs}."),
                    Word::CannotTell => write!(
                        f,
                        "Can't tell whether on {kind} CPUs alone, since blocks moved: {jobs}."
                    ),
                }
            }
        }
    }
}
