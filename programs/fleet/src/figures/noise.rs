//! How quiet hosts were during their runs.

use model::stats;
use model::summary::KeptRun;
use serde::Serialize;

/// Further than so many standard deviations from the median of the hosts is unusual.
const UNUSUAL: f64 = 4.0;
/// Deviations of shares below this are nothing.
const LEAST: f64 = 0.01;

/// Noise of a host: the median over its runs.
#[derive(Serialize, Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Share of the readings of the canaries that were quiet.
    pub quiet_share: Option<f64>,
    /// Time the hypervisor ran others, over the time of the run: of one CPU, so it may be above 1.
    pub steal_share: Option<f64>,
    /// It was less quiet than others, or had more stolen.
    pub unusual: bool,
}

/// Of all hosts.
pub(super) fn of_hosts<'r>(hosts: impl Iterator<Item = &'r Vec<&'r KeptRun>>) -> Vec<Noise> {
    let median = |runs: &[&KeptRun], of: fn(&KeptRun) -> Option<f64>| {
        stats::median(runs.iter().filter_map(|run| of(run)))
    };
    let steal = |run: &KeptRun| {
        let steal = run.facts.steal_ns? as f64;
        (run.wall_ms > 0).then(|| steal / (run.wall_ms as f64 * 1e6))
    };
    let mut all: Vec<Noise> = hosts
        .map(|runs| Noise {
            quiet_share: median(runs, |run| run.facts.quiet_share),
            steal_share: median(runs, steal),
            unusual: false,
        })
        .collect();
    let quiet = limit(all.iter().filter_map(|noise| noise.quiet_share.map(|share| -share)));
    let steal = limit(all.iter().filter_map(|noise| noise.steal_share));
    for noise in &mut all {
        let beyond =
            |share: Option<f64>, limit: Option<f64>| share.zip(limit).is_some_and(|(s, l)| s > l);
        let restless = beyond(noise.quiet_share.map(|share| -share), quiet);
        noise.unusual = restless || beyond(noise.steal_share, steal);
    }
    all
}

/// Above this a share is unusual.
fn limit(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let shares: Vec<f64> = shares.collect();
    let median = stats::median(shares.iter().copied())?;
    let deviation = stats::deviation_from(median, shares)?;
    Some(median + UNUSUAL * deviation.max(LEAST))
}
