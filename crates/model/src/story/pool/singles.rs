//! Every single operation of a pool: the means, and the histogram.

use super::super::histogram::{DamagedCell, Distribution, histogram_table, values};
use super::super::{Block, Note, tail};
use super::{PROBE, PUBLISHED, Size, base, threads};
use crate::figure::time;
use crate::run::Run;
use crate::spread::by_worker;
use crate::stats::{self, Interval};
use std::collections::BTreeMap;

/// Every single operation, by number of threads.
pub(super) struct Singles {
    /// Threads, and the operations' times by worker.
    by_threads: BTreeMap<u64, Vec<(u32, f64)>>,
    /// Why some can't be read.
    damaged: Option<DamagedCell>,
}

impl Singles {
    pub(super) fn measured_in(run: &Run, sizes: &[Size]) -> Singles {
        let mut singles = Singles { by_threads: BTreeMap::new(), damaged: None };
        let id = format!("{PROBE}/single");
        for size in sizes {
            let Some(cell) = run.cell(&id, &[size.threads]) else {
                continue;
            };
            let workers = cell.samples.samples();
            match values(cell, run.clock.ns_per_tick).and_then(|ns| Ok((ns, workers?))) {
                Ok((ns, samples)) => {
                    let by_worker = samples.iter().map(|s| s.worker).zip(ns).collect();
                    singles.by_threads.insert(size.threads, by_worker);
                }
                Err(why) => singles.damaged = Some(why),
            }
        }
        singles
    }

    fn at_threads(&self, threads: u64) -> Option<&[(u32, f64)]> {
        self.by_threads.get(&threads).map(Vec::as_slice)
    }

    /// Mean of all operations, with the t interval over the means of the worker
    /// processes: infinitely wide where there is one process only.
    pub(super) fn mean_ns(&self, threads: u64) -> Option<Interval> {
        let operations = self.at_threads(threads)?;
        let value = mean(operations.iter().map(|&(_, ns)| ns))?;
        let workers = by_worker(operations).into_values();
        let means: Vec<f64> = workers.filter_map(|own| mean(own.into_iter())).collect();
        let half = stats::t_interval(&means).map_or(f64::INFINITY, |i| i.half_width());
        Some(Interval::about(value, half))
    }

    /// The distribution with one thread per CPU and that of the published
    /// number of threads.
    pub(super) fn story(&self, sizes: &[Size], cpus: Option<u64>) -> Vec<Block> {
        if let Some(why) = &self.damaged {
            return vec![Block::note(format!("No histogram of single operations: {why}."))];
        }
        let numbers = self.by_threads.keys().copied();
        let few = cpus.and_then(|n| base(numbers.clone(), n));
        let many = numbers.clone().find(|&n| n == PUBLISHED).or(numbers.max());
        let both = few.into_iter().chain(many.filter(|&n| Some(n) != few));
        let distributions: Vec<Distribution> = both
            .filter_map(|number| {
                let size = sizes.iter().find(|size| size.threads == number)?;
                Some(Distribution {
                    name: threads(number),
                    estimate: size.single?,
                    values_ns: self.at_threads(number)?.iter().map(|&(_, ns)| ns).collect(),
                })
            })
            .collect();
        let Some(table) = histogram_table(&distributions) else {
            return Vec::new();
        };
        let alone = sizes.iter().find(|size| size.threads == 1);
        let alone = alone.and_then(|size| size.ideal?.ns());
        let alone =
            alone.map_or(String::new(), |ns| format!(" (the procedure alone: {})", time(ns.value)));
        let mut story =
            vec![Block::Heading(format!("  all single operations{alone}, logarithmic bins"))];
        for one in &distributions {
            story.extend(one.estimate.tail.iter().map(|tail| {
                Block::Note(Note::new(format!("  {:<10}  ", one.name), tail::tail_text(tail)))
            }));
        }
        story.push(Block::Table(table));
        story
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), v| (n + 1, sum + v));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::super::super::histogram::tests::counted;
    use super::super::{sizes, story};
    use super::*;
    use crate::sample_columns::DamagedColumns;
    use crate::synthetic;

    #[test]
    fn the_mean_is_of_all_single_operations() {
        let mut run = synthetic::run();
        let mean =
            |run: &Run| Singles::measured_in(run, &sizes(run)).mean_ns(4).expect("a mean").value;
        let before = mean(&run);
        let mut cells = run.cells.iter_mut();
        let cell = cells.find(|cell| cell.row == "sched.pool/single" && cell.at == [4]);
        let samples = &mut cell.expect("a cell").samples;
        // One operation that takes as long as all others together, and those
        // again: the mean doubles where a median would not move.
        let others: u64 = samples.second_ticks.iter().map(|to| to - 40).sum();
        samples.second_ticks[5] += others;
        assert!((mean(&run) / before - 2.0).abs() < 0.02);
    }

    #[test]
    fn one_process_alone_gives_no_interval_of_a_mean() {
        let mean_ns = |operations| {
            let by_threads = [(2, operations)].into();
            let singles = Singles { by_threads, damaged: None };
            singles.mean_ns(2)
        };
        let one = mean_ns(vec![(0, 10.0), (0, 20.0)]).expect("a mean");
        assert_eq!((one.value, one.half_width()), (15.0, f64::INFINITY));
        // Means 15 and 17: t(1) times 1.41 / sqrt(2).
        let two = mean_ns(vec![(0, 10.0), (0, 20.0), (3, 17.0)]).expect("a mean");
        assert!((two.value - 47.0 / 3.0).abs() < 1e-9);
        assert!((two.half_width() - 12.706).abs() < 0.01, "{two:?}");
        assert_eq!(mean_ns(Vec::new()), None);
    }

    #[test]
    fn every_single_operation_is_in_the_histogram() {
        let mut run = synthetic::run();
        let of = |threads: u64| -> usize {
            let cells = run.cells.iter();
            cells
                .filter(|c| c.row == "sched.pool/single" && c.at == [threads])
                .map(|c| c.samples.first_ticks.len())
                .sum()
        };
        assert_eq!(counted(&story(&run)), of(4) + of(16));
        for cell in run.cells.iter_mut().filter(|cell| cell.at == [16]) {
            cell.samples.second_ticks.pop();
        }
        let damaged = Singles::measured_in(&run, &sizes(&run));
        assert!(matches!(
            damaged.damaged,
            Some(DamagedCell::Columns(DamagedColumns::Length { column: "second_ticks", .. }))
        ));
        assert_eq!(counted(&story(&run)), 0);
        run.cells.clear();
        assert_eq!(Singles::measured_in(&run, &sizes(&run)).story(&sizes(&run), Some(4)), []);
    }
}
