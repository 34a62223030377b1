//! Figures of cases: medians over the rounds with their intervals, ratios of
//! rounds, and where the jobs ran.

use super::{Case, CaseRuns, JobRun, Qos};
use crate::estimate::Estimate;
use crate::residency::Residency;
use crate::stats::Interval;
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

/// Where a job ran, over all rounds; `None` without any.
pub fn places(runs: &CaseRuns, job: usize) -> Option<Residency> {
    let mut each = runs.runs.iter().filter_map(|run| run.jobs.get(job));
    let mut all = each.next()?.residency.clone();
    for job in each {
        all.add_run(&job.residency);
    }
    Some(all)
}
