//! A case of Oakley's on this machine.

use crate::references::QosCase;
use model::qos::figures::{job_residency, of_job, seen, slowdown, slowdown_seen, walls_ns};
use model::qos::{Case, CaseRuns, Level, Qos};
use model::repeats::LEAST_FOR_INTERVAL;
use model::residency::Residency;
use model::share::percent;
use model::stats::{self, Interval};
use serde::Serialize;

/// CPUs that are named one by one.
const MOST_NAMED: usize = 4;

/// What a case took on this machine.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct OakleyHere {
    /// Its time: the median; of any level alone that of their medians.
    pub ns: Interval,
    /// Over the same level's time alone; absent of a job alone.
    pub ratio: Option<Interval>,
    /// Rounds.
    pub rounds: usize,
    /// Whether both reach from the least to the most that was seen, as of few rounds or of several
    /// levels; else they are 95 % intervals.
    pub is_range: bool,
    /// Which cores did the work, in shares of its CPU time.
    pub cores: Option<String>,
}

/// Why a case has no figures of ours.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum NoOakleyCase {
    #[error("not in this run: {}", measures(*.0))]
    NotInRun(Case),
    #[error("not in this run: latlas qos --cases alone")]
    NoneAlone,
    #[error("left out: {0}")]
    LeftOut(String),
    #[error("no round was completed")]
    NoRound,
}

/// Our figures of a case.
///
/// # Errors
/// Why there are none.
pub(super) fn oakley_here(case: &QosCase, qos: &Qos) -> Result<OakleyHere, NoOakleyCase> {
    let level = |number: u32| Level::from(number);
    let (wanted, is_lower) = match case.jobs[..] {
        [] => return any_alone(qos),
        [one] => (Case::Alone { level: level(one) }, false),
        [one, other, ..] if one == other => (Case::Same { level: level(one) }, false),
        [one, other, ..] => {
            let (high, low) = (level(one.max(other)), level(one.min(other)));
            (Case::Pair { high, low }, one < other)
        }
    };
    let runs = qos.case(wanted).ok_or(NoOakleyCase::NotInRun(wanted))?;
    if runs.runs.is_empty() {
        let why = runs.left_out.clone().map(NoOakleyCase::LeftOut);
        return Err(why.unwrap_or(NoOakleyCase::NoRound));
    }
    let job = match wanted {
        Case::Same { .. } => later(runs, case.second),
        _ => usize::from(is_lower),
    };
    let walls = walls_ns(runs, job);
    let is_range = walls.len() < LEAST_FOR_INTERVAL;
    let ns = match is_range {
        true => seen(&walls),
        false => of_job(runs, job).wall.ns(),
    };
    Ok(OakleyHere {
        ns: ns.ok_or(NoOakleyCase::NoRound)?,
        ratio: match (wanted, is_range) {
            (Case::Alone { .. }, _) => None,
            (_, true) => slowdown_seen(qos, runs, job),
            (_, false) => slowdown(qos, runs, job),
        },
        rounds: walls.len(),
        is_range,
        cores: job_residency(runs, job).and_then(|places| cores(&places)),
    })
}

/// The command that measures a case.
fn measures(case: Case) -> String {
    let kind = match case {
        Case::Pair { .. } => "pairs",
        Case::Same { level } if level == Level::BACKGROUND => "lowest",
        Case::Same { .. } => "highest",
        _ => "alone",
    };
    let mut levels = case.levels();
    levels.sort_unstable();
    levels.dedup();
    let levels: Vec<String> = levels.into_iter().map(Level::label).collect();
    format!("latlas qos --cases {kind} --levels {}", levels.join(","))
}

/// Of two jobs that are alike, the one that took longer in the median, or the
/// other.
fn later(runs: &CaseRuns, second: bool) -> usize {
    let median = |job| of_job(runs, job).wall.ns().map_or(0.0, |ns| ns.value);
    usize::from((median(1) >= median(0)) == second)
}

/// Of all levels alone the medians, and the cores together.
fn any_alone(qos: &Qos) -> Result<OakleyHere, NoOakleyCase> {
    let alone = qos.cases.iter().filter(|runs| matches!(runs.case, Case::Alone { .. }));
    let alone: Vec<&CaseRuns> = alone.filter(|runs| !runs.runs.is_empty()).collect();
    let medians = alone.iter().filter_map(|runs| stats::median(walls_ns(runs, 0)));
    let medians: Vec<f64> = medians.collect();
    let mut places = alone.iter().filter_map(|runs| job_residency(runs, 0));
    let first = places.next();
    let all = first.map(|first| {
        places.fold(first, |mut all, other| {
            all.add_run(&other);
            all
        })
    });
    Ok(OakleyHere {
        ns: seen(&medians).ok_or(NoOakleyCase::NoneAlone)?,
        ratio: None,
        rounds: alone.iter().map(|runs| runs.runs.len()).min().unwrap_or(0),
        is_range: true,
        cores: all.and_then(|places| cores(&places)),
    })
}

/// The kinds of cores where there are several, else the CPUs, with their shares of the CPU time.
fn cores(places: &Residency) -> Option<String> {
    let all_ns = Some(places.all.cpu_ns).filter(|ns| *ns > 0)? as f64;
    let share = |name: &str, ns: u64| format!("{name} {}", percent(ns as f64 / all_ns));
    let on_cpus = || places.cpus.iter().map(|of| (format!("CPU {}", of.cpu), of.work.cpu_ns));
    let on: Vec<(String, u64)> = match places.kinds.len() {
        0 | 1 => on_cpus().collect(),
        _ => places.kinds.iter().map(|kind| (kind.name.clone(), kind.work.cpu_ns)).collect(),
    };
    let certain_ns: u64 = on.iter().map(|(_, ns)| ns).sum();
    let moved = share("moved", places.all.cpu_ns.saturating_sub(certain_ns));
    if places.kinds.len() > 1 || on.len() <= MOST_NAMED {
        let named = on.iter().map(|(name, ns)| share(name, *ns));
        return Some(named.chain([moved]).collect::<Vec<_>>().join(", "));
    }
    let (busiest, ns) = on.iter().max_by_key(|(_, ns)| *ns)?;
    Some(format!("{} CPUs, most {}, {moved}", on.len(), share(busiest, *ns)))
}
