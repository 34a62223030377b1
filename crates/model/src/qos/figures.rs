//! Figures of cases: medians over the rounds with their intervals, ratios of
//! rounds, and where the jobs ran.

use super::{Case, CaseRuns, JobRun, Qos};
use crate::cpu_wait::CpuWait;
use crate::estimate::Estimate;
use crate::residency::Residency;
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
        Unit::Bandwidth { bytes_per_op: self.bytes as f64 }
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
        cpu: repeats::estimate(&values(runs, job, |job| job.cpu_ns as f64), &Unit::Time, 0.0),
        // The same runs in another unit: ns of one operation, which is one job.
        throughput: repeats::estimate(&walls, &Unit::Time, 0.0),
        bytes: first.map_or(0, |job| job.bytes),
        run_delay: counted(Unit::Time, |job| job.run_delay_ns),
        switches: counted(Unit::Count, |job| Some(job.voluntary? + job.involuntary?)),
        migrations: counted(Unit::Count, |job| job.migrations),
    }
}

/// The wait for CPUs that other programs had, in the time of a job that has no other beside it;
/// `None` where it is no part of that time, and where the system doesn't count.
pub fn wait_for_others(qos: &Qos, runs: &CaseRuns) -> Option<CpuWait> {
    let operations = match runs.case {
        Case::Alone { .. } | Case::Long { .. } => qos.how.operations,
        Case::Operations { operations, .. } => operations,
        // They wait for each other, which is what is measured.
        Case::Pair { .. } | Case::Same { .. } => return None,
    };
    let cpus = qos.how.cpus.len().max(1) as f64;
    let at_once = f64::from(operations.max(1)).min(cpus);
    let jobs = runs.runs.iter().filter_map(|run| run.jobs.first());
    let times = jobs.map(|job| {
        let (wall_ns, cpu_ns) = (job.wall_ns as f64, job.cpu_ns as f64);
        // More operations than CPUs wait for each other as well: others had what they did not use.
        let of_others_ns = (job.run_delay_ns? as f64).min(cpus * wall_ns - cpu_ns);
        Some((wall_ns, of_others_ns / at_once))
    });
    CpuWait::within_runs(&times.collect::<Option<Vec<_>>>()?)
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
    interleaved::interleaved_ratio(&walls_ns(alone, 0), &walls_ns(runs, job), 1)
}

/// The same as it was seen: the median of the rounds, the least and the most.
pub fn slowdown_seen(qos: &Qos, runs: &CaseRuns, job: usize) -> Option<Interval> {
    let level = *runs.case.levels().get(job)?;
    let alone = walls_ns(qos.case(Case::Alone { level })?, 0);
    let ours = walls_ns(runs, job).into_iter().zip(alone);
    let ratios: Vec<f64> = ours.map(|(ours, alone)| ours / alone).collect();
    seen(&ratios).filter(|ratio| ratio.high.is_finite())
}

/// The median of values with the least and the most; `None` of none.
pub fn seen(values: &[f64]) -> Option<Interval> {
    let sorted = stats::sorted(values.iter().copied());
    let (low, high) = (*sorted.first()?, *sorted.last()?);
    Some(Interval { value: stats::median(sorted)?, low, high })
}

/// Where a job ran, over all rounds; `None` without any.
pub fn job_residency(runs: &CaseRuns, job: usize) -> Option<Residency> {
    let mut each = runs.runs.iter().filter_map(|run| run.jobs.get(job));
    let mut all = each.next()?.residency.clone();
    for job in each {
        all.add_run(&job.residency);
    }
    Some(all)
}
