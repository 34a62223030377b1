//! How many of a cheap operation fit into the time of a costly one.

use super::{OPERATIONS, OverviewOperation};
use crate::estimate::{Estimate, Verdict};
use crate::figure::number_of_digits;
use crate::run::Run;
use crate::stats::Interval;
use crate::unit::Unit;
use std::fmt::{self, Display};

/// Ratios of a run at most.
const MOST: usize = 3;
/// A smaller count says little.
const LEAST: f64 = 2.0;

/// Two operations and what a sentence calls them: several of the cheap one, the
/// costly one.
struct Pair {
    many: (&'static str, &'static str),
    one: (&'static str, &'static str),
}

/// In the order of preference.
const PAIRS: [Pair; 8] = {
    const fn pair(many: (&'static str, &'static str), one: (&'static str, &'static str)) -> Pair {
        Pair { many, one }
    }
    const ADD: (&str, &str) = ("cpu.add_i64", "additions");
    const LOAD: (&str, &str) = ("memory.latency/DRAM", "loading from memory once");
    [
        pair(ADD, LOAD),
        pair(("call.syscall", "system calls"), ("thread.create_join", "creating one thread")),
        pair(("thread.create_join", "threads"), ("process.fork_exec", "starting one process")),
        pair(("memory.latency/L1", "loads from L1 cache"), LOAD),
        pair(
            ("sync.mutex_uncontended", "mutexes locked and unlocked"),
            ("sync.semaphore_switch/free", "waking one thread"),
        ),
        pair(
            ("memory.latency/DRAM", "loads from memory"),
            ("disk.random_read_4K", "reading 4 KiB from disk"),
        ),
        pair(ADD, ("call.syscall", "one system call")),
        pair(("call.syscall", "system calls"), ("net.round_trip/tcp", "one TCP round trip")),
    ]
};

/// How many of one operation take as long as another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The cheap operation.
    pub many: OverviewOperation,
    /// The costly one.
    pub one: OverviewOperation,
    /// How many, with the interval that both figures support; `None` where they don't tell.
    pub count: Option<Interval>,
    /// What several of the cheap one are called.
    many_words: &'static str,
    /// What is done with the costly one.
    one_words: &'static str,
}

impl Ratio {
    /// `616 additions`: three digits, fewer where the intervals support fewer.
    pub fn amount(&self) -> String {
        match &self.count {
            Some(count) => {
                let count = number_of_digits(count.value, count.half_width());
                format!("{count} {}", self.many_words)
            }
            None => format!("{}: inconclusive", self.many_words),
        }
    }

    /// `in the time of loading from memory once`.
    pub fn time(&self) -> String {
        format!("in the time of {}", self.one_words)
    }
}

impl Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.amount(), self.time())
    }
}

/// The first three ratios between rows that a run has figures of: the same of every such run, also where the figures
/// don't tell, so that runs can be compared.
pub fn ratios(run: &Run) -> Vec<Ratio> {
    PAIRS.iter().filter_map(|pair| pair_ratio(run, pair)).take(MOST).collect()
}

fn pair_ratio(run: &Run, pair: &Pair) -> Option<Ratio> {
    let has_figure = |row: &str| time_of(run, row).and_then(Estimate::ns).is_some();
    let has_both = has_figure(pair.many.0) && has_figure(pair.one.0);
    let count = usable(run, pair.many.0).zip(usable(run, pair.one.0)).map(|(many, one)| {
        let share =
            Interval { value: 1.0 / many.value, low: 1.0 / many.high, high: 1.0 / many.low };
        one.times(&share)
    });
    // A count without its first digit is none.
    let count = count.filter(|count| count.relative_half_width() < 0.5);
    let says_little = count.is_some_and(|count| count.value < LEAST);
    (has_both && !says_little).then_some(Ratio {
        many: operation(pair.many.0)?,
        one: operation(pair.one.0)?,
        count,
        many_words: pair.many.1,
        one_words: pair.one.1,
    })
}

fn operation(row: &str) -> Option<OverviewOperation> {
    let mut all = OPERATIONS.into_iter();
    all.find(|operation| operation.row == row)
}

fn time_of<'r>(run: &'r Run, row: &str) -> Option<&'r Estimate> {
    let row = run.row(row).filter(|row| row.unit == Unit::Time)?;
    row.estimate().filter(|estimate| estimate.below_ns.is_none())
}

/// A time that says enough to be divided.
fn usable(run: &Run, row: &str) -> Option<Interval> {
    let estimate = time_of(run, row)?;
    let usable = !matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid);
    estimate.ns_of_run().filter(|ns| usable && ns.low > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Outcome;
    use crate::synthetic::{self, ok_outcome, row_of_times};

    fn of_rows(rows: &[(&str, f64, f64)]) -> Run {
        let mut run = synthetic::run();
        let of = |&(id, ns, half): &(&str, f64, f64)| row_of_times(id, ok_outcome(ns, half));
        run.rows = rows.iter().map(of).collect();
        run
    }

    const UNTOLD: &str =
        "loads from L1 cache: inconclusive in the time of loading from memory once";

    fn texts(run: &Run) -> Vec<String> {
        ratios(run).iter().map(Ratio::to_string).collect()
    }

    #[test]
    fn three_of_the_best_known() {
        let run = of_rows(&[
            ("cpu.add_i64", 0.25, 0.0002),
            ("memory.latency/DRAM", 154.0, 0.2),
            ("memory.latency/L1", 1.0, 0.001),
            ("call.syscall", 130.0, 1.0),
            ("thread.create_join", 19_000.0, 1_500.0),
            ("process.fork_exec", 863_000.0, 50_000.0),
        ]);
        assert_eq!(
            texts(&run),
            [
                "616 additions in the time of loading from memory once",
                "150 system calls in the time of creating one thread",
                "45 threads in the time of starting one process",
            ]
        );
        let first = ratios(&run)[0];
        assert_eq!((first.many.row, first.one.row), ("cpu.add_i64", "memory.latency/DRAM"));
        let count = first.count.expect("usable figures");
        assert!((count.value - 616.0).abs() < 1e-9);
        assert!(count.low < 615.5 && count.high > 616.5, "{first:?}");
    }

    #[test]
    fn figures_that_say_too_little_are_not_divided_and_no_other_pair_takes_their_place() {
        let rows = [("memory.latency/L1", 1.0, 0.01), ("memory.latency/DRAM", 100.0, 0.01)];
        assert_eq!(
            texts(&of_rows(&rows)),
            ["100 loads from L1 cache in the time of loading from memory once"]
        );
        for verdict in [Verdict::CannotTell, Verdict::Invalid] {
            let mut run = of_rows(&rows);
            let Outcome::Figure(estimate) = &mut run.rows[0].outcome else {
                panic!("a figure");
            };
            estimate.verdict = verdict;
            assert_eq!(texts(&run), [UNTOLD]);
        }
        // Wider than what it says, and no more than one and a half.
        let wide = [rows[0], ("memory.latency/DRAM", 100.0, 70.0)];
        assert_eq!(texts(&of_rows(&wide)), [UNTOLD]);
        let alike = [rows[0], ("memory.latency/DRAM", 1.5, 0.01)];
        assert_eq!(ratios(&of_rows(&alike)), []);
        assert_eq!(ratios(&of_rows(&[])), []);
    }

    #[test]
    fn every_pair_is_of_the_overview() {
        for pair in &PAIRS {
            assert!(operation(pair.many.0).is_some(), "{}", pair.many.0);
            assert!(operation(pair.one.0).is_some(), "{}", pair.one.0);
        }
    }
}
