//! What all runs of one arm come to: the figures that perf-book's appendix A
//! gives of each control (task clock, CPUs utilised, switches, migrations,
//! cycles, GHz, elapsed).

use super::OneRun;
use crate::stats;

/// Medians over the runs, but where a name says otherwise; absent where
/// nothing is counted, or no run is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunMedians {
    /// Time from the making of its process until its end was seen, ns.
    pub wall_ns: Option<f64>,
    /// Time of its work, ns.
    pub took_ns: Option<f64>,
    /// Mean time of the work, ns.
    pub mean_ns: Option<f64>,
    /// Standard deviation of that as a share of its mean.
    pub variation: Option<f64>,
    /// CPU time, user and system, ns.
    pub task_clock_ns: Option<f64>,
    /// CPU time over time: 1 is one CPU all the while.
    pub cpus_utilized: Option<f64>,
    /// Times a run gave up its CPU.
    pub voluntary: Option<f64>,
    /// Times it was taken from it.
    pub involuntary: Option<f64>,
    /// Times it went on on another CPU; the mean, since most runs have none.
    pub mean_migrations: Option<f64>,
    /// Clock cycles.
    pub cycles: Option<f64>,
    /// Cycles over CPU time, GHz.
    pub ghz: Option<f64>,
    /// Median of how late it woke up, ns.
    pub late_p50_ns: Option<f64>,
    /// The 99 % quantile of that, ns.
    pub late_p99_ns: Option<f64>,
}

/// The figures of these runs.
pub fn run_medians(runs: &[OneRun]) -> RunMedians {
    let median = |of: &dyn Fn(&OneRun) -> Option<f64>| -> Option<f64> {
        let all: Option<Vec<f64>> = runs.iter().map(of).collect();
        stats::median(all?)
    };
    let cpu_ns = |run: &OneRun| (run.user_ns + run.system_ns) as f64;
    let times: Vec<f64> = runs.iter().map(|run| run.took_ns as f64).collect();
    let mean_ns = stats::mean(&times);
    let migrations: Option<Vec<f64>> =
        runs.iter().map(|run| run.migrations.map(|n| n as f64)).collect();
    RunMedians {
        wall_ns: median(&|run| Some(run.wall_ns as f64)),
        took_ns: stats::median(times.iter().copied()),
        mean_ns,
        variation: stats::standard_deviation(&times)
            .zip(mean_ns)
            .map(|(deviation, mean)| deviation / mean)
            .filter(|share| share.is_finite()),
        task_clock_ns: median(&|run| Some(cpu_ns(run))),
        cpus_utilized: median(&|run| (run.wall_ns > 0).then(|| cpu_ns(run) / run.wall_ns as f64)),
        voluntary: median(&|run| Some(run.voluntary as f64)),
        involuntary: median(&|run| Some(run.involuntary as f64)),
        mean_migrations: migrations.and_then(|counts| stats::mean(&counts)),
        cycles: median(&|run| run.cycles.map(|n| n as f64)),
        ghz: median(&|run| {
            let cycles = run.cycles? as f64;
            (cpu_ns(run) > 0.0).then(|| cycles / cpu_ns(run))
        }),
        late_p50_ns: median(&|run| run.wakeups.map(|w| w.p50_ns)),
        late_p99_ns: median(&|run| run.wakeups.map(|w| w.p99_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_runs() {
        let run = |took_ns, cycles, migrations| OneRun {
            wall_ns: took_ns + 10,
            took_ns,
            user_ns: 30,
            system_ns: 10,
            voluntary: 2,
            involuntary: 7,
            migrations: Some(migrations),
            cycles,
            ..OneRun::default()
        };
        let three = [run(50, Some(100), 0), run(100, Some(120), 3), run(60, Some(160), 0)];
        let all = run_medians(&three);
        assert_eq!((all.took_ns, all.mean_ns), (Some(60.0), Some(70.0)));
        assert_eq!(all.wall_ns, Some(70.0));
        // Deviations -20, 30, -10: 700 over two.
        let variation = all.variation.expect("three");
        assert!((variation - 700.0_f64.sqrt() / 70.0).abs() < 1e-12);
        assert_eq!(all.task_clock_ns, Some(40.0));
        assert_eq!(all.cpus_utilized, Some(40.0 / 70.0));
        assert_eq!((all.voluntary, all.involuntary), (Some(2.0), Some(7.0)));
        assert_eq!(all.mean_migrations, Some(1.0));
        assert_eq!((all.cycles, all.ghz), (Some(120.0), Some(3.0)));
        assert_eq!(all.late_p99_ns, None);
        let uncounted = run_medians(&[run(1, None, 0), run(2, Some(1), 0)]);
        assert_eq!(uncounted.cycles, None, "of some runs only is of none");
        assert_eq!(run_medians(&[]), RunMedians::default());
    }
}
