//! What more threads than CPUs cost.

use super::{PUBLISHED, Size, base, cpus, sizes, threads};
use crate::compare::finding::Verdict;
use crate::estimate::CANNOT_TELL_ABOVE;
use crate::run::Run;
use crate::share::with_half;
use crate::shown::number_with_half;
use crate::stats::Interval;
use std::fmt::{self, Display};

/// What more threads than CPUs cost.
#[derive(Clone, Debug, PartialEq)]
pub enum PoolCost {
    /// The number of CPUs is not known.
    CpusUnknown,
    /// No number of threads has a usable figure.
    NoFigure,
    /// No usable figure of more threads than CPUs, or than these.
    NoneAbove(u64),
    /// There are figures.
    Judged {
        /// CPUs that the pool could use.
        cpus: u64,
        /// Threads that the others are compared with.
        base: u64,
        /// Their time over the ideal.
        base_ratio: Interval,
        /// Each number of threads above the CPUs, rising.
        more: Vec<More>,
    },
}

/// A number of threads above that of the CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct More {
    /// Threads.
    pub threads: u64,
    /// Their time over the ideal.
    pub ratio: Interval,
    /// How much more of the ideal they take than the base: 0.08 for 8 %.
    pub cost: Interval,
}

impl More {
    /// What its interval says: the same where it includes 0, and is not too wide to rule out a large cost.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_difference(&self.cost, CANNOT_TELL_ABOVE)
    }

    fn more_text(&self) -> String {
        let percent = with_half(&self.cost);
        let (verb, percent, remark) = match self.verdict() {
            Verdict::Different if self.cost.value > 0.0 => ("cost", percent.as_str(), ""),
            Verdict::Different => ("save", percent.trim_start_matches('-'), ""),
            Verdict::SameWithinNoise => ("cost", percent.as_str(), " (not significant)"),
            Verdict::CannotTell => ("cost", percent.as_str(), " (interval too wide to tell)"),
        };
        format!("{} {verb} {percent}{remark}", threads(self.threads))
    }
}

impl PoolCost {
    /// That of a run.
    pub fn from_run(run: &Run) -> PoolCost {
        pool_cost(&sizes(run), cpus(run))
    }
}

fn pool_cost(sizes: &[Size], cpus: Option<u64>) -> PoolCost {
    let Some(cpus) = cpus.filter(|&cpus| cpus > 0) else {
        return PoolCost::CpusUnknown;
    };
    let ratios = sizes.iter().filter_map(|size| Some((size.threads, size.ratio()?)));
    let ratios: Vec<(u64, Interval)> = ratios.collect();
    let numbers = ratios.iter().map(|(threads, _)| *threads);
    let base = base(numbers, cpus).and_then(|n| ratios.iter().find(|(threads, _)| *threads == n));
    let Some(&(base, base_ratio)) = base else {
        return PoolCost::NoFigure;
    };
    let above = ratios.iter().filter(|(threads, _)| *threads > base.max(cpus));
    let more: Vec<More> = above
        .filter_map(|&(threads, ratio)| {
            Some(More {
                threads,
                ratio,
                cost: ratio.over(&base_ratio)?.minus(&Interval::about(1.0, 0.0)),
            })
        })
        .collect();
    match more.is_empty() {
        true => PoolCost::NoneAbove(base.max(cpus)),
        false => PoolCost::Judged { cpus, base, base_ratio, more },
    }
}

impl Display for PoolCost {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const UNKNOWN: &str = "Cost of more threads than CPUs unknown:";
        match self {
            PoolCost::CpusUnknown => write!(f, "{UNKNOWN} the number of CPUs is unknown."),
            PoolCost::NoFigure => write!(f, "{UNKNOWN} no usable figure."),
            PoolCost::NoneAbove(n) => {
                write!(f, "{UNKNOWN} no usable figure above {}.", threads(*n))
            }
            PoolCost::Judged { cpus, base, base_ratio, more } => {
                let plural = if *cpus == 1 { "" } else { "s" };
                // The published number, else the largest, stands for all.
                let first = more.iter().find(|more| more.threads == PUBLISHED);
                if let Some(first) = first.or(more.last()) {
                    write!(
                        f,
                        "On {cpus} CPU{plural} {} take {} of the ideal, {} {}. ",
                        threads(first.threads),
                        number_with_half(&first.ratio),
                        threads(*base),
                        number_with_half(base_ratio)
                    )?;
                }
                let texts: Vec<String> = more.iter().map(More::more_text).collect();
                write!(f, "Relative to {}: {}.", threads(*base), texts.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{self, Estimate};
    use crate::run::Outcome;
    use crate::synthetic::{self, stamped_figure};

    /// Judges pools that take so many of their ideal: threads, ratio, half of
    /// its interval in percent.
    fn judged(pools: &[(u64, f64, f64)], cpus: Option<u64>) -> PoolCost {
        let figures = pools.iter().map(|&(threads, ratio, percent)| {
            let ns = 2e6 * ratio;
            let measured = stamped_figure(ns, ns * percent / 100.0);
            (threads, measured, stamped_figure(2e6, 0.0))
        });
        let figures: Vec<(u64, Estimate, Estimate)> = figures.collect();
        let sizes = figures.iter().map(|(threads, measured, ideal)| Size {
            threads: *threads,
            measured: Some(measured),
            ideal: Some(ideal),
            single: None,
        });
        pool_cost(&sizes.collect::<Vec<_>>(), cpus)
    }

    /// The base and each answer.
    fn answers(pools: &[(u64, f64, f64)], cpus: u64) -> (u64, Vec<(u64, Verdict)>) {
        match judged(pools, Some(cpus)) {
            PoolCost::Judged { base, more, .. } => {
                let answers = more.iter().map(|more| (more.threads, more.verdict()));
                (base, answers.collect())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_verdict_in_words() {
        let pools = [(1, 1.0, 1.0), (2, 1.02, 3.0), (16, 1.05, 3.0)];
        // 1.05 / 1.02 is 2.9 % more; half is the root of 3² + 3², 4.2 %.
        assert_eq!(
            judged(&pools, Some(2)).to_string(),
            "On 2 CPUs 16 threads take 1.05 ±0.04 of the ideal, 2 threads 1.02 ±0.04. Relative to \
             2 threads: 16 threads cost 3 % ±5 (not significant)."
        );
        // 1.1 / 1.02 is 7.8 % more; half is 1.078 times 1.41 %.
        let text = judged(&[(2, 1.02, 1.0), (16, 1.1, 1.0)], Some(2)).to_string();
        assert!(text.ends_with(": 16 threads cost 8 % ±2."), "{text}");
        let text = judged(&[(2, 1.1, 1.0), (16, 1.0, 1.0)], Some(1)).to_string();
        assert!(text.starts_with("On 1 CPU 16") && text.ends_with("save 9 % ±2."), "{text}");
    }

    #[test]
    fn each_number_of_threads_has_an_answer() {
        let pools =
            [(2, 1.0, 1.0), (4, 1.01, 1.0), (8, 1.0, 60.0), (16, 1.08, 1.0), (64, 0.8, 1.0)];
        let expected = vec![
            (4, Verdict::SameWithinNoise),
            (8, Verdict::CannotTell),
            (16, Verdict::Different),
            (64, Verdict::Different),
        ];
        assert_eq!(answers(&pools, 2), (2, expected));
    }

    #[test]
    fn the_base_has_at_most_one_thread_per_cpu() {
        let pools = [(1, 1.0, 1.0), (2, 1.5, 1.0), (4, 1.1, 1.0), (16, 1.1, 1.0)];
        assert_eq!(answers(&pools, 3).0, 2);
        // No figure of fewer threads than CPUs: the smallest there is.
        assert_eq!(answers(&pools[2..], 3).0, 4);
        assert_eq!(answers(&pools, 1).0, 1);
        // Threads that have a CPU each are not more than CPUs.
        let (_, more) = answers(&[(1, 1.0, 1.0), (4, 1.0, 1.0), (16, 1.0, 1.0)], 5);
        assert_eq!(more, [(16, Verdict::SameWithinNoise)]);
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        let pools = [(1, 1.0, 1.0), (2, 1.0, 1.0)];
        assert_eq!(judged(&pools, None), PoolCost::CpusUnknown);
        assert_eq!(judged(&pools, Some(2)), PoolCost::NoneAbove(2));
        assert_eq!(judged(&pools, Some(64)), PoolCost::NoneAbove(64));
        assert_eq!(judged(&pools[1..], Some(1)), PoolCost::NoneAbove(2));
        assert_eq!(judged(&[], Some(2)), PoolCost::NoFigure);
    }

    #[test]
    fn a_run_is_judged_by_its_plan_and_its_usable_figures() {
        let mut run = synthetic::run();
        let cpus_of = |run: &Run| match PoolCost::from_run(run) {
            PoolCost::Judged { cpus, .. } => Some(cpus),
            _ => None,
        };
        run.plan.cpus = vec![0, 2];
        assert_eq!(cpus_of(&run), Some(2));
        run.plan.cpus.clear();
        assert_eq!(cpus_of(&run), Some(4));
        for row in run.rows.iter_mut().filter(|row| row.id == super::super::PROBE) {
            let Outcome::Curve { points, .. } = &mut row.outcome else {
                panic!("a curve");
            };
            for point in points {
                point.estimate.verdict = estimate::Verdict::Invalid;
            }
        }
        assert_eq!(PoolCost::from_run(&run), PoolCost::NoFigure);
        run.rows.retain(|row| !row.id.starts_with("sched.pool"));
        assert_eq!(super::super::story(&run), []);
    }
}
