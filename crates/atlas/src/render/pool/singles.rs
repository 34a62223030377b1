//! Every single operation of a pool: their means, and the picture of all of
//! them.

use super::line::Line;
use super::verdict::threads;
use super::{KURKIN, PROBE, base};
use crate::render::COLUMNS;
use crate::render::histogram::{Panel, draw, values};
use crate::render::layout::Grid;
use crate::render::tails::in_words;
use model::figure::time;
use model::run::{Cell, Run};
use model::stats::{self, Interval};

/// Every single operation, by number of threads.
pub(super) struct Singles {
    /// Threads, and the operations' lengths by worker.
    known: Vec<(u64, Vec<(u32, f64)>)>,
    /// Why some are not drawn.
    damaged: Option<String>,
}

impl Singles {
    pub(super) fn of(run: &Run, lines: &[Line]) -> Singles {
        let mut singles = Singles {
            known: Vec::new(),
            damaged: None,
        };
        let id = format!("{PROBE}/single");
        for line in lines {
            let own = |cell: &&Cell| cell.row == id && cell.at == [line.threads];
            let Some(cell) = run.cells.iter().find(own) else {
                continue;
            };
            let workers = cell.samples.samples();
            match values(cell, run.clock.ns_per_tick).and_then(|ns| Ok((ns, workers?))) {
                Ok((ns, samples)) => {
                    let by_worker = samples.iter().map(|s| s.worker).zip(ns).collect();
                    singles.known.push((line.threads, by_worker));
                }
                Err(why) => singles.damaged = Some(why),
            }
        }
        singles
    }

    fn at(&self, threads: u64) -> Option<&[(u32, f64)]> {
        let found = self.known.iter().find(|(n, _)| *n == threads);
        found.map(|(_, operations)| operations.as_slice())
    }

    /// Mean of all operations, with the width of the t interval over the means
    /// of the worker processes: not a known one, where there is one process.
    pub(super) fn mean_ns(&self, threads: u64) -> Option<Interval> {
        let operations = self.at(threads)?;
        let value = mean(operations.iter().map(|&(_, ns)| ns))?;
        let mut workers: Vec<u32> = operations.iter().map(|&(worker, _)| worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let of = |worker: u32| {
            let own = operations.iter().filter(move |&&(w, _)| w == worker);
            mean(own.map(|&(_, ns)| ns))
        };
        let means: Vec<f64> = workers.into_iter().filter_map(of).collect();
        let between = stats::t_interval(&means);
        let half = between.map_or(f64::INFINITY, |between| between.half_width());
        Some(Interval {
            value,
            low: value - half,
            high: value + half,
        })
    }

    /// The whole distribution with a thread for each CPU beside that of the
    /// published number of threads.
    pub(super) fn picture(&self, lines: &[Line], cpus: Option<u64>) -> String {
        if let Some(why) = &self.damaged {
            return format!("  Single operations are not drawn: {why}.\n");
        }
        let numbers = self.known.iter().map(|(threads, _)| *threads);
        let mut drawn: Vec<u64> = cpus
            .and_then(|n| base(numbers.clone(), n))
            .into_iter()
            .collect();
        let many = numbers.clone().find(|&n| n == KURKIN).or(numbers.max());
        drawn.extend(many.filter(|n| !drawn.contains(n)));
        let panels: Vec<Panel> = drawn
            .into_iter()
            .filter_map(|number| {
                let line = lines.iter().find(|line| line.threads == number)?;
                Some(Panel {
                    name: threads(number),
                    estimate: line.single?,
                    values_ns: self.at(number)?.iter().map(|&(_, ns)| ns).collect(),
                })
            })
            .collect();
        let mut grid = Grid::default();
        let alone = lines
            .iter()
            .find(|line| line.threads == 1)
            .and_then(|line| line.ideal?.ns())
            .map(|ns| format!(" (the procedure alone: {})", time(ns.value)))
            .unwrap_or_default();
        grid.free(format!(
            "  every single operation{alone}, in bins of equal factors"
        ));
        for panel in &panels {
            if let Some(tail) = &panel.estimate.tail {
                grid.wrapped(&format!("  {:<10}  ", panel.name), &in_words(tail), COLUMNS);
            }
        }
        match draw(&mut grid, &panels) {
            true => grid.render(1),
            false => String::new(),
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), v| (n + 1, sum + v));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::figures::time_with_half;
    use crate::render::pool::pool;
    use crate::render::synthetic;

    /// The last number of the line about so many threads, without its unit.
    fn mean_of(text: &str, threads: &str) -> f64 {
        let line = text.lines().find(|l| l.trim_start().starts_with(threads));
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        words[words.len() - 3].parse().expect("a number")
    }

    #[test]
    fn the_mean_is_of_all_single_operations() {
        let mut run = synthetic::run();
        let before = mean_of(&pool(&run), "4 ");
        let cell = run
            .cells
            .iter_mut()
            .find(|cell| cell.row == "sched.pool/single" && cell.at == [4]);
        let samples = &mut cell.expect("a cell").samples;
        // One operation that takes as long as all others together, and those
        // again: the mean doubles where a median would not move.
        let others: u64 = samples.second_ticks.iter().map(|to| to - 40).sum();
        samples.second_ticks[5] += others;
        let after = mean_of(&pool(&run), "4 ");
        assert!((after / before - 2.0).abs() < 0.02, "{before} {after}");
    }

    #[test]
    fn one_process_alone_gives_no_interval_of_a_mean() {
        let singles = |operations| Singles {
            known: vec![(2, operations)],
            damaged: None,
        };
        let one = singles(vec![(0, 10.0), (0, 20.0)])
            .mean_ns(2)
            .expect("a mean");
        assert_eq!(one.value, 15.0);
        assert!(time_with_half(&one).ends_with("±?"));
        // Means 15 and 17: t(1) times 1.41 / sqrt(2).
        let two = singles(vec![(0, 10.0), (0, 20.0), (3, 17.0)]).mean_ns(2);
        let two = two.expect("a mean");
        assert!((two.value - 47.0 / 3.0).abs() < 1e-9);
        assert!((two.half_width() - 12.706).abs() < 0.01, "{two:?}");
        assert_eq!(singles(Vec::new()).mean_ns(2), None);
    }

    #[test]
    fn every_single_operation_is_drawn_beside_the_published_number() {
        let mut run = synthetic::run();
        let counted = |text: &str| -> usize {
            text.lines()
                .skip_while(|line| !line.trim_start().starts_with("from "))
                .skip(1)
                .flat_map(|line| line.split_whitespace().skip(2))
                .filter_map(|word| word.parse::<usize>().ok())
                .sum()
        };
        let text = pool(&run);
        assert!(
            text.contains("4 threads  ") && text.contains("16 threads\n"),
            "{text}"
        );
        let of = |run: &Run, threads: u64| -> usize {
            let cells = run.cells.iter();
            cells
                .filter(|c| c.row == "sched.pool/single" && c.at == [threads])
                .map(|c| c.samples.first_ticks.len())
                .sum()
        };
        assert_eq!(counted(&text), of(&run, 4) + of(&run, 16), "{text}");
        for cell in run.cells.iter_mut().filter(|cell| cell.at == [16]) {
            cell.samples.second_ticks.pop();
        }
        let text = pool(&run);
        assert!(text.contains("not drawn: column second_ticks"), "{text}");
        run.cells.clear();
        let text = pool(&run);
        assert!(!text.contains("every single"), "{text}");
    }
}
