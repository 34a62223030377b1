//! Shares of the CPU time that two jobs had while both ran: predicted by weights next
//! to measured.

use super::predict::{self, Weights};
use super::{Case, CaseRun, CaseRuns, Level, Qos, Setting};
use crate::compare::finding::Verdict;
use crate::repeats::LEAST_FOR_INTERVAL;
use crate::share::percent;
use crate::stats::{self, Interval};
use std::fmt;

/// The second job's part of the CPU time of both while both ran, in each run.
pub fn shares_of_second(runs: &CaseRuns) -> Vec<f64> {
    runs.runs.iter().filter_map(share_of_second).collect()
}

fn share_of_second(run: &CaseRun) -> Option<f64> {
    let [first, second] = run.jobs.as_slice() else {
        return None;
    };
    let both = first.together_cpu_ns + second.together_cpu_ns;
    (both > 0).then(|| second.together_cpu_ns as f64 / both as f64)
}

/// Median share with its interval; `None` of fewer runs than an interval needs.
pub fn share_interval(runs: &CaseRuns) -> Option<Interval> {
    let sorted = stats::sorted(shares_of_second(runs));
    stats::quantile_interval_sorted(&sorted, 0.5)
}

/// A share by weights and as measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SharePair {
    /// The case.
    pub case: Case,
    /// The second job's share, predicted.
    pub predicted: Option<f64>,
    /// Median of the measured ones.
    pub measured: Option<f64>,
    /// With its interval, where there are enough rounds.
    pub interval: Option<Interval>,
    /// Whether all of the interval is within [`CLOSE`] and [`CLOSE_RATIO`] of the prediction, or beyond one of
    /// them, where both are known.
    pub agreement: Option<Verdict>,
    /// Why it is not as predicted, where it is not.
    pub deviation: Option<Deviation>,
}

/// Shares that differ by less than this may agree.
pub const CLOSE: f64 = 0.02;
/// Shares of which one is less than this times the other may agree: the weights of
/// neighboring nice values. 2 points alone are more than a small share has.
pub const CLOSE_RATIO: f64 = 1.25;
/// A share this far from a half on one side shows a preference.
pub(super) const PREFERRED: f64 = 0.05;
/// Less than this of the CPUs' time for both jobs: others had the rest.
const ALL_OURS: f64 = 0.97;
/// Shares are steady in runs that are longer than this.
const STEADY_NS: f64 = 2e9;

/// Why a share is not as predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Deviation {
    /// Neither job had this part of the CPUs' time: other work, idle time, or a hypervisor.
    OtherWork(f64),
    /// Both jobs ran together for this long only, ns.
    Short(f64),
    /// None of them.
    Unknown,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deviation::OtherWork(share) => {
                write!(f, "neither job had {} of the CPUs' time", percent(*share))
            }
            Deviation::Short(ns) => write!(
                f,
                "both ran together for {} only: shares are steady from 2 s",
                crate::figure::time(*ns)
            ),
            Deviation::Unknown => write!(f, "cause unknown"),
        }
    }
}

impl SharePair {
    /// Whether it is as predicted, in a word.
    pub fn word(&self) -> Option<&'static str> {
        self.agreement.map(|agreement| match agreement {
            Verdict::SameWithinNoise => "agree",
            Verdict::Different => "differ",
            Verdict::CannotTell => "inconclusive",
        })
    }

    /// Why, if it does not agree.
    pub fn reason(&self) -> Option<String> {
        match self.agreement? {
            Verdict::SameWithinNoise => None,
            Verdict::Different => self.deviation.as_ref().map(ToString::to_string),
            Verdict::CannotTell => Some(match self.interval {
                Some(_) => "rounds vary too much".into(),
                None => format!("needs {LEAST_FOR_INTERVAL} rounds"),
            }),
        }
    }

    /// Points from the predicted share to the measured one.
    pub fn points_apart(&self) -> Option<f64> {
        Some((self.measured? - self.predicted?) * 100.0)
    }

    /// The measured share over the predicted one.
    pub fn ratio(&self) -> Option<f64> {
        let predicted = self.predicted.filter(|&predicted| predicted > 0.0)?;
        Some(self.measured? / predicted)
    }
}

/// Predicted and measured shares of every case with two jobs.
pub fn share_pairs(qos: &Qos) -> Vec<SharePair> {
    let two = qos.cases.iter().filter(|runs| runs.case.levels().len() == 2);
    two.map(|runs| share_pair(qos, runs)).collect()
}

/// Whether a part of a level was seen to act: it weighs between sessions, and the shares of a pair
/// with the level are unequal as the weights predict.
pub fn seen_to_act(qos: &Qos, level: Level, setting: &Setting) -> bool {
    if !weighs(qos, setting) {
        return false;
    }
    let of_level = |pair: &SharePair| matches!(pair.case, Case::Pair { high, low } if high == level || low == level);
    share_pairs(qos).iter().filter(|pair| of_level(pair)).any(|pair| {
        pair.agreement == Some(Verdict::SameWithinNoise)
            && pair.measured.is_some_and(|share| share < 0.5 - PREFERRED)
    })
}

/// Whether a part is a weight between the jobs' sessions.
pub fn weighs(qos: &Qos, setting: &Setting) -> bool {
    let autogroups = qos.conditions.autogroups.get();
    matches!(
        (setting, autogroups),
        (Setting::Autogroup(_), Some(true))
            | (Setting::Nice(_), Some(false))
            | (Setting::QosClass(_), _)
    )
}

/// The second job's share by the weights.
pub(super) fn predicted(qos: &Qos, case: Case) -> Option<f64> {
    let weights = |level: Level| Weights::of_parts(qos.parts(level), qos.how.operations);
    let levels = case.levels();
    let cpus = qos.how.cpus.len() as u32;
    let autogroups = *qos.conditions.autogroups.get()?;
    predict::predicted_share(&weights(levels[1]), &weights(levels[0]), cpus, autogroups)
}

fn share_pair(qos: &Qos, runs: &CaseRuns) -> SharePair {
    let cpus = qos.how.cpus.len() as u32;
    let predicted = predicted(qos, runs.case);
    let interval = share_interval(runs);
    let measured = stats::median(shares_of_second(runs));
    let agreement = predicted.zip(measured).map(|(predicted, _)| {
        let lowest = (predicted - CLOSE).max(predicted / CLOSE_RATIO);
        let highest = (predicted + CLOSE).min(predicted * CLOSE_RATIO);
        Verdict::of_range(interval.as_ref(), lowest..=highest)
    });
    let differs = agreement == Some(Verdict::Different);
    let deviation = differs.then(|| deviation(runs, cpus));
    SharePair { case: runs.case, predicted, measured, interval, agreement, deviation }
}

fn deviation(runs: &CaseRuns, cpus: u32) -> Deviation {
    let used = stats::median(runs.runs.iter().map(|run| {
        let both: u64 = run.jobs.iter().map(|job| job.together_cpu_ns).sum();
        both as f64 / (run.together_ns.max(1) as f64 * f64::from(cpus))
    }));
    let together = stats::median(runs.runs.iter().map(|run| run.together_ns as f64));
    match (used, together) {
        (Some(used), _) if used < ALL_OURS => Deviation::OtherWork(1.0 - used),
        (_, Some(ns)) if ns < STEADY_NS => Deviation::Short(ns),
        _ => Deviation::Unknown,
    }
}
