//! What the figures say in words, case by case.

use super::cores::{Cores, cores};
use super::figures::{self, slowdown};
use super::shares::{PREFERRED, predicted, share_interval};
use super::{Case, CaseRuns, Level, Qos};
use crate::compare::finding::Verdict;
use crate::interleaved;
use crate::repeats::LEAST_FOR_INTERVAL;
use crate::share::{limit, with_half};
use crate::shown::number_with_half;
use crate::stats::Interval;
use std::fmt;

/// Times within this of each other are the same.
const SAME: f64 = 0.05;
/// A job that takes up to this much longer than alone is not affected.
const UNAFFECTED: f64 = 1.10;

/// A sentence about the results.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// Whether the level matters with nothing competing.
    Alone {
        /// Levels that differ from default, with their time over default's.
        differ: Vec<(Level, Interval)>,
        /// Levels of which the runs don't say.
        unclear: Vec<Level>,
    },
    /// What a lower level cost a higher one.
    Pair {
        /// The higher level.
        high: Level,
        /// The lower one.
        low: Level,
        /// Whether the lower one had another share than an equal one: if less, it gave way.
        word: Verdict,
        /// The lower one's share of the CPU time.
        share: Option<Interval>,
        /// Time of the higher over its time alone.
        high_time: Option<Interval>,
        /// Time of the lower over its time alone.
        low_time: Option<Interval>,
        /// Time of the higher over its time alone by the weights: as long as the lower one runs it
        /// has the rest of the CPUs.
        predicted: Option<f64>,
        /// Levels without some of their parts.
        refused: Vec<String>,
    },
    /// What two jobs of one level cost each other.
    Same {
        /// The level.
        level: Level,
        /// Time of each over its time alone.
        times: [Option<Interval>; 2],
    },
    /// How the throughput went in a long run.
    Long {
        /// The level.
        level: Level,
        /// Throughput in the last tenth over that in the first.
        last_over_first: Option<f64>,
        /// What the level was at the end, where it had changed.
        changed: Vec<String>,
    },
    /// Which kind of cores did it.
    Cores(Cores),
    /// Jobs did not compete: there is a CPU for each operation.
    NoCompetition {
        /// Operations of both jobs.
        operations: u32,
        /// CPUs.
        cpus: u32,
    },
}

/// All conclusions, in the order of the cases.
pub fn conclusions(qos: &Qos, unknown_kinds: Option<&str>) -> Vec<Conclusion> {
    let mut all: Vec<Conclusion> = alone(qos).into_iter().collect();
    let (operations, cpus) = (2 * qos.how.operations, qos.how.cpus.len() as u32);
    let competing = qos.cases.iter().any(|runs| runs.case.levels().len() == 2);
    if competing && operations <= cpus {
        all.push(Conclusion::NoCompetition { operations, cpus });
    }
    let measured = qos.cases.iter().filter(|runs| !runs.runs.is_empty());
    all.extend(measured.filter_map(|runs| match runs.case {
        Case::Pair { high, low } => Some(pair(qos, runs, high, low)),
        Case::Same { level } => {
            Some(Conclusion::Same { level, times: [0, 1].map(|job| slowdown(qos, runs, job)) })
        }
        Case::Long { level, .. } => Some(long(runs, level)),
        Case::Alone { .. } | Case::Operations { .. } => None,
    }));
    all.extend(cores(qos, unknown_kinds).into_iter().map(Conclusion::Cores));
    all
}

fn alone(qos: &Qos) -> Option<Conclusion> {
    let default = qos.case(Case::Alone { level: Level::DEFAULT })?;
    let others: Vec<(Level, &CaseRuns)> = qos
        .cases
        .iter()
        .filter_map(|runs| match runs.case {
            Case::Alone { level } if level != Level::DEFAULT => Some((level, runs)),
            _ => None,
        })
        .collect();
    let (mut differ, mut unclear) = (Vec::new(), Vec::new());
    for (level, runs) in &others {
        let walls = [default, runs].map(|runs| figures::walls_ns(runs, 0));
        let found = interleaved::finding(&walls[0], &walls[1], others.len(), SAME);
        match (found.verdict, found.ratio) {
            (Verdict::Different, Some(ratio)) => differ.push((*level, ratio)),
            (Verdict::SameWithinNoise, _) => {}
            _ => unclear.push(*level),
        }
    }
    (!others.is_empty()).then_some(Conclusion::Alone { differ, unclear })
}

fn pair(qos: &Qos, runs: &CaseRuns, high: Level, low: Level) -> Conclusion {
    let share = share_interval(runs);
    let refused = [high, low].into_iter().filter_map(|level| {
        let parts = qos.parts(level).iter().filter(|part| !part.holds());
        let parts: Vec<String> = parts.map(|part| part.setting.label()).collect();
        (!parts.is_empty()).then(|| format!("{}: {}", level.label(), parts.join(", ")))
    });
    Conclusion::Pair {
        high,
        low,
        word: Verdict::of_range(share.as_ref(), 0.5 - PREFERRED..=0.5 + PREFERRED),
        share,
        high_time: slowdown(qos, runs, 0),
        low_time: slowdown(qos, runs, 1),
        predicted: predicted(qos, runs.case).map(|share| 1.0 / (1.0 - share)),
        refused: refused.collect(),
    }
}

fn long(runs: &CaseRuns, level: Level) -> Conclusion {
    let job = runs.runs.first().and_then(|run| run.jobs.first());
    let tenths = job.map(|job| job.tenths.as_slice()).unwrap_or_default();
    let last_over_first = match tenths {
        [first, .., last] if *first > 0.0 => Some(last / first),
        _ => None,
    };
    let changed = job.into_iter().flat_map(|job| &job.changed);
    Conclusion::Long {
        level,
        last_over_first,
        changed: changed.map(|part| part.setting.label()).collect(),
    }
}

fn times_text(ratio: Option<&Interval>) -> String {
    match ratio {
        Some(ratio) => format!("{} times its time alone", number_with_half(ratio)),
        None => "a time that can't be compared with its time alone".to_owned(),
    }
}

fn level_list(levels: &[Level]) -> String {
    let names: Vec<String> = levels.iter().map(|level| level.label()).collect();
    names.join(", ")
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conclusion::Alone { differ, unclear } => {
                match differ.as_slice() {
                    [] if unclear.is_empty() => write!(
                        f,
                        "With nothing competing the level does not matter: each takes as long as \
                         default (within {}).",
                        limit(SAME)
                    )?,
                    [] => write!(f, "With nothing competing:")?,
                    differ => {
                        let all: Vec<String> = differ
                            .iter()
                            .map(|(level, ratio)| {
                                format!("{} {} times", level.label(), number_with_half(ratio))
                            })
                            .collect();
                        write!(
                            f,
                            "With nothing competing the level matters: {} the time of default;",
                            all.join(", ")
                        )?;
                    }
                }
                match unclear.is_empty() {
                    true if differ.is_empty() => Ok(()),
                    true => write!(f, " none other differs."),
                    false => write!(
                        f,
                        " inconclusive for {} (too few rounds, or they disagree).",
                        level_list(unclear)
                    ),
                }
            }
            Conclusion::Pair {
                high,
                low,
                word,
                share,
                high_time,
                low_time,
                predicted,
                refused,
            } => {
                let (high, low) = (high.label(), low.label());
                let less = share.is_some_and(|share| share.value < 0.5);
                let gave_way = *word == Verdict::Different && less;
                let share = share.as_ref().map(with_half).unwrap_or_default();
                let (high_time, low_time) = (high_time.as_ref(), low_time.as_ref());
                match word {
                    Verdict::Different if gave_way => {
                        write!(
                            f,
                            "{low} gave way to {high}: {share} of the CPU time while both ran; {low} \
                             took {}, {high} {}",
                            times_text(low_time),
                            times_text(high_time)
                        )?;
                        match high_time {
                            Some(t) if t.high <= UNAFFECTED => write!(f, ": within 10 %.")?,
                            Some(_) => match predicted {
                                Some(times) => write!(f, "; {times:.2} by the weights.")?,
                                None => write!(f, ".")?,
                            },
                            None => write!(f, ".")?,
                        }
                    }
                    Verdict::SameWithinNoise => write!(
                        f,
                        "{low} and {high} are not distinguishable: {low} had {share} of the CPU time while \
                         both ran."
                    )?,
                    Verdict::Different => write!(
                        f,
                        "{low} had more than {high}: {share} of the CPU time while both ran."
                    )?,
                    Verdict::CannotTell => write!(
                        f,
                        "Whether {low} gave way to {high} is inconclusive (too few rounds, or \
                         they disagree)."
                    )?,
                }
                match refused.is_empty() || gave_way {
                    true => Ok(()),
                    false => write!(f, " Not set: {}.", refused.join("; ")),
                }
            }
            Conclusion::Same { level, times: [None, None] } => write!(
                f,
                "Two {} jobs at once: {LEAST_FOR_INTERVAL} rounds are needed to compare with the time alone.",
                level.label()
            ),
            Conclusion::Same { level, times: both } => write!(
                f,
                "Two {} jobs at once: the first took {}, the second {}.",
                level.label(),
                times_text(both[0].as_ref()),
                times_text(both[1].as_ref())
            ),
            Conclusion::Long { level, last_over_first, changed } => {
                match last_over_first {
                    Some(ratio) => write!(
                        f,
                        "{} in a long run: throughput of the last tenth is {ratio:.2} times that of \
                         the first",
                        level.label()
                    )?,
                    None => write!(f, "{} in a long run: not measured", level.label())?,
                }
                match changed.is_empty() {
                    true => write!(f, "; nothing that was set had changed at the end."),
                    false => write!(f, "; at the end it had {}.", changed.join(", ")),
                }
            }
            Conclusion::Cores(cores) => write!(f, "{cores}"),
            Conclusion::NoCompetition { operations, cpus } => write!(
                f,
                "Two jobs have {operations} operations at once on {cpus} CPUs: they don't compete."
            ),
        }
    }
}
