//! Figures of cases: medians over the rounds with their intervals, ratios of
//! rounds, and predicted shares next to measured ones.

use super::predict::{self, Weights};
use super::{Case, CaseRun, CaseRuns, JobRun, Level, Qos};
use crate::estimate::Estimate;
use crate::stats::{self, Interval};
use crate::unit::Unit;
use crate::{interleaved, repeats};

/// What one job of a case took.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFigures {
    /// From the common start to its end.
    pub wall: Estimate,
    /// CPU time.
    pub cpu: Estimate,
    /// Bytes per second ([`JobFigures::throughput_unit`]).
    pub throughput: Estimate,
    /// Bytes of a run.
    pub bytes: u64,
    /// Time that its threads waited for a CPU.
    pub run_delay: Option<Estimate>,
    /// Context switches of both kinds.
    pub switches: Option<Estimate>,
    /// Migrations.
    pub migrations: Option<Estimate>,
}

impl JobFigures {
    /// The unit of the throughput.
    pub fn throughput_unit(&self) -> Unit {
        Unit::Bandwidth {
            bytes_per_op: self.bytes as f64,
        }
    }
}

/// Values of one job of a case, a run each.
fn values(runs: &CaseRuns, job: usize, of: impl Fn(&JobRun) -> f64) -> Vec<f64> {
    let jobs = runs.runs.iter().filter_map(|run| run.jobs.get(job));
    jobs.map(of).collect()
}

/// Figures of one job of a case.
pub fn of_job(runs: &CaseRuns, job: usize) -> JobFigures {
    let counted = |unit: Unit, of: fn(&JobRun) -> Option<u64>| {
        let jobs = runs.runs.iter().filter_map(|run| run.jobs.get(job));
        let all: Option<Vec<f64>> = jobs.map(|job| of(job).map(|n| n as f64)).collect();
        let least = match unit {
            Unit::Time => 0.0,
            _ => repeats::FEW_EVENTS,
        };
        all.map(|all| repeats::estimate(&all, &unit, least))
    };
    let walls = walls_ns(runs, job);
    let first = runs.runs.first().and_then(|run| run.jobs.get(job));
    JobFigures {
        wall: repeats::estimate(&walls, &Unit::Time, 0.0),
        cpu: repeats::estimate(
            &values(runs, job, |job| job.cpu_ns as f64),
            &Unit::Time,
            0.0,
        ),
        // The same runs in another unit: ns of one operation, which is one job.
        throughput: repeats::estimate(&walls, &Unit::Time, 0.0),
        bytes: first.map_or(0, |job| job.bytes),
        run_delay: counted(Unit::Time, |job| job.run_delay_ns),
        switches: counted(Unit::Count, |job| Some(job.voluntary? + job.involuntary?)),
        migrations: counted(Unit::Count, |job| job.migrations),
    }
}

/// Wall times of one job of a case, ns.
pub fn walls_ns(runs: &CaseRuns, job: usize) -> Vec<f64> {
    values(runs, job, |job| job.wall_ns as f64)
}

/// How many times as long a job took in this case as alone at its level, round
/// by round.
pub fn slowdown(qos: &Qos, runs: &CaseRuns, job: usize) -> Option<Interval> {
    let level = *runs.case.levels().get(job)?;
    let alone = qos.case(Case::Alone { level })?;
    interleaved::ratio(&walls_ns(alone, 0), &walls_ns(runs, job), 1)
}

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
    /// Why they differ by more than [`CLOSE`].
    pub reason: Option<Deviation>,
}

/// Predicted and measured shares that differ by no more than this agree.
pub const CLOSE: f64 = 0.02;
/// Less than this of the CPUs' time for both jobs: others had the rest.
const ALL_OURS: f64 = 0.97;
/// Shares are steady in runs that are longer than this.
const STEADY_NS: f64 = 2e9;

/// Why a share is not as predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Deviation {
    /// Other work had this part of the CPUs.
    OtherWork(f64),
    /// Both jobs ran together for this long only, ns.
    Short(f64),
    /// The weights don't act: no autogroups, and the sessions are compared.
    Unknown,
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Deviation::OtherWork(share) => {
                write!(f, "other processes had {:.0} % of the CPUs", share * 100.0)
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
    /// Points between the two.
    pub fn points_apart(&self) -> Option<f64> {
        Some((self.measured? - self.predicted?).abs() * 100.0)
    }
}

/// Predicted and measured shares of every case with two jobs.
pub fn shares(qos: &Qos) -> Vec<SharePair> {
    let two = qos
        .cases
        .iter()
        .filter(|runs| runs.case.levels().len() == 2);
    two.map(|runs| share_pair(qos, runs)).collect()
}

fn share_pair(qos: &Qos, runs: &CaseRuns) -> SharePair {
    let weights = |level: Level| Weights::of(qos.parts(level), qos.how.operations);
    let levels = runs.case.levels();
    let cpus = qos.how.cpus.len() as u32;
    let autogroups = qos.conditions.autogroups.get();
    let predicted = autogroups.and_then(|&autogroups| {
        predict::share(&weights(levels[1]), &weights(levels[0]), cpus, autogroups)
    });
    let measured = stats::median(shares_of_second(runs));
    let pair = SharePair {
        case: runs.case,
        predicted,
        measured,
        interval: share_interval(runs),
        reason: None,
    };
    let apart = pair.points_apart().is_some_and(|p| p > CLOSE * 100.0);
    SharePair {
        reason: apart.then(|| deviation(runs, cpus)),
        ..pair
    }
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

/// Part of the CPU time of all runs of a job on each CPU, with the blocks that a
/// second of CPU time did there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuPart {
    /// Number of the CPU.
    pub cpu: u32,
    /// Its part of the job's CPU time, 0 to 1.
    pub share: f64,
    /// Blocks per second of CPU time.
    pub blocks_per_cpu_second: f64,
}

/// Where a job ran, ascending by CPU; and the part of its CPU time in blocks that
/// moved between CPUs.
pub fn where_it_ran(runs: &CaseRuns, job: usize) -> (Vec<CpuPart>, f64) {
    let jobs = || runs.runs.iter().filter_map(|run| run.jobs.get(job));
    let moved: u64 = jobs().map(|job| job.moved_cpu_ns).sum();
    let mut cpus: Vec<u32> = jobs()
        .flat_map(|job| job.on_cpus.iter().map(|on| on.cpu))
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    let on = |cpu: u32| {
        let there = jobs().flat_map(move |job| job.on_cpus.iter().filter(move |on| on.cpu == cpu));
        there.fold((0, 0), |(blocks, ns), on| {
            (blocks + on.blocks, ns + on.cpu_ns)
        })
    };
    let settled: u64 = cpus.iter().map(|&cpu| on(cpu).1).sum();
    let all = (settled + moved).max(1) as f64;
    let parts = cpus.iter().map(|&cpu| {
        let (blocks, ns) = on(cpu);
        CpuPart {
            cpu,
            share: ns as f64 / all,
            blocks_per_cpu_second: blocks as f64 / (ns.max(1) as f64 / 1e9),
        }
    });
    (parts.collect(), moved as f64 / all)
}
