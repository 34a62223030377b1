//! What `sched.pool` is measured for: whether more threads than CPUs cost
//! anything here.

use super::COLUMNS;
use super::curves::Marks;
use super::figures::{number_with_half, time_with_half, typical};
use super::histogram::{Panel, draw, values};
use super::intervals::{differs_from_nothing, quotient};
use super::layout::{Grid, left, right, wrap};
use super::tails::in_words;
use model::estimate::{CANNOT_TELL_ABOVE, Estimate, Verdict};
use model::figure::time;
use model::run::{Axis, Cell, CurvePoint, Outcome, Row, Run};
use model::stats::{self, Interval};
use model::unit::Unit;

const PROBE: &str = "sched.pool";
/// Threads of the published study.
const KURKIN: u64 = 16;

/// Whether a row is a column of this block.
pub(super) fn draws(row: &Row) -> bool {
    let own = row
        .id
        .strip_prefix(PROBE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    own && points(row).is_some()
}

fn points(row: &Row) -> Option<&[CurvePoint]> {
    match &row.outcome {
        Outcome::Curve {
            axis: Axis::Threads,
            points,
        } => Some(points),
        _ => None,
    }
}

/// What is known of one number of threads.
struct Line<'r> {
    threads: u64,
    took: Option<&'r Estimate>,
    ideal: Option<&'r Estimate>,
    single: Option<&'r Estimate>,
}

impl Line<'_> {
    /// Time of an operation over the ideal.
    fn ratio(&self) -> Option<Interval> {
        quotient(&told(self.took?)?, &told(self.ideal?)?)
    }
}

/// The figure of a point that may be built on.
fn told(estimate: &Estimate) -> Option<Interval> {
    let untold = matches!(estimate.verdict, Verdict::CannotTell | Verdict::Invalid);
    estimate.ns().filter(|_| !untold)
}

/// The block; empty where no pool was measured.
pub(super) fn pool(run: &Run) -> String {
    let lines = lines(run);
    if lines.is_empty() {
        return String::new();
    }
    let singles = Singles::of(run, &lines);
    let mut grid = Grid::default();
    grid.free(format!(
        "{PROBE}: time an operation; ideal: the procedure alone over min(threads, CPUs)"
    ));
    let mut marks = Marks::default();
    let mut heading = vec![right("threads  ")];
    heading.extend(
        [
            "time",
            "",
            "",
            "ideal",
            "",
            "of ideal",
            "single operation",
            "mean",
        ]
        .map(left),
    );
    grid.entries(heading);
    for line in &lines {
        let figure = |estimate: Option<&Estimate>| {
            let ns = estimate.and_then(Estimate::ns);
            let text = ns.map_or("-".into(), |ns| time_with_half(&ns));
            let (value, half) = text.rsplit_once(" ±").unwrap_or((&text, ""));
            let half = match half {
                "" => String::new(),
                half => format!("±{half}"),
            };
            [right(value), left(half)]
        };
        let verdict = line.took.map_or(Verdict::Ok, |e| e.verdict);
        let published = if line.threads == KURKIN {
            "Kurkin's "
        } else {
            ""
        };
        let mut entries = vec![right(format!("  {published}{}  ", line.threads))];
        entries.extend(figure(line.took));
        entries.push(left(marks.of(verdict).to_string().trim()));
        entries.extend(figure(line.ideal));
        let ratio = line.ratio();
        entries.push(left(ratio.map_or(String::new(), |r| number_with_half(&r))));
        entries.push(left(
            line.single
                .map_or(String::new(), |e| typical(e, &Unit::Time)),
        ));
        let mean = singles.mean_ns(line.threads).map(|ns| time_with_half(&ns));
        entries.push(left(mean.unwrap_or_default()));
        grid.entries(entries);
    }
    let mut text = grid.render(1);
    text.push_str(&marks.legend());
    let cpus = cpus(run);
    for line in wrap("  ", &verdict(&lines, cpus), COLUMNS) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&singles.picture(&lines, cpus));
    text
}

/// How many CPUs the pool could use: those of the plan, else those that the
/// machine allows.
fn cpus(run: &Run) -> Option<u64> {
    let planned = Some(&run.plan.cpus).filter(|cpus| !cpus.is_empty());
    let cpus = planned.or(run.machine.allowed_cpus.get())?;
    Some(cpus.len() as u64)
}

/// The number of threads that others are held against: as near to that of the
/// CPUs as there is one not above it; else the smallest.
fn base(threads: impl Iterator<Item = u64> + Clone, cpus: u64) -> Option<u64> {
    let within = threads.clone().filter(|&n| n <= cpus).max();
    within.or(threads.min())
}

/// Every single operation, by number of threads.
struct Singles {
    /// Threads, and the operations' lengths by worker.
    known: Vec<(u64, Vec<(u32, f64)>)>,
    /// Why some are not drawn.
    damaged: Option<String>,
}

impl Singles {
    fn of(run: &Run, lines: &[Line]) -> Singles {
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
    fn mean_ns(&self, threads: u64) -> Option<Interval> {
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
    fn picture(&self, lines: &[Line], cpus: Option<u64>) -> String {
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

fn lines(run: &Run) -> Vec<Line<'_>> {
    let of = |id: &str| run.row(id).and_then(points).unwrap_or_default();
    let (took, ideal, single) = (of(PROBE), of("sched.pool/ideal"), of("sched.pool/single"));
    let mut threads: Vec<u64> = took.iter().chain(single).map(|p| p.x).collect();
    threads.sort_unstable();
    threads.dedup();
    let at = |points: &'_ [CurvePoint], x: u64| points.iter().position(|p| p.x == x);
    threads
        .into_iter()
        .map(|x| Line {
            threads: x,
            took: at(took, x).map(|k| &took[k].estimate),
            ideal: at(ideal, x).map(|k| &ideal[k].estimate),
            single: at(single, x).map(|k| &single[k].estimate),
        })
        .collect()
}

/// What more threads than CPUs cost against the [`base`]: how
/// much more of their ideal they take.
struct Beyond {
    threads: u64,
    ratio: Interval,
    /// 0.08 for 8 %.
    cost: Interval,
}

impl Beyond {
    fn percent(&self) -> String {
        let percent = self.cost.scaled(100.0);
        // `8 % ±3`
        let text = number_with_half(&percent);
        text.replacen(" ±", " % ±", 1)
    }
}

/// Whether more threads than CPUs cost anything, with the figures that it
/// stands on.
fn verdict(lines: &[Line], cpus: Option<u64>) -> String {
    let Some(cpus) = cpus.filter(|&cpus| cpus > 0) else {
        return "What more threads than CPUs cost can't be told: the number of CPUs is unknown."
            .into();
    };
    let on = match cpus {
        1 => "1 CPU".to_owned(),
        n => format!("{n} CPUs"),
    };
    let known: Vec<(u64, Interval)> = lines
        .iter()
        .filter_map(|line| Some((line.threads, line.ratio()?)))
        .collect();
    let numbers = known.iter().map(|(threads, _)| *threads);
    let found = base(numbers, cpus).and_then(|n| known.iter().find(|(threads, _)| *threads == n));
    let Some(&(base_threads, base)) = found else {
        return "What more threads than CPUs cost can't be told: no figure to rely on beside its \
                ideal."
            .into();
    };
    let beyond: Vec<Beyond> = known
        .iter()
        .filter(|(threads, _)| *threads > base_threads.max(cpus))
        .filter_map(|&(threads, ratio)| {
            let factor = quotient(&ratio, &base)?;
            let cost = Interval {
                value: factor.value - 1.0,
                low: factor.low - 1.0,
                high: factor.high - 1.0,
            };
            Some(Beyond {
                threads,
                ratio,
                cost,
            })
        })
        .collect();
    // The published number, else the largest, stands for all.
    let Some(first) = beyond
        .iter()
        .find(|b| b.threads == KURKIN)
        .or(beyond.last())
    else {
        return format!(
            "What more threads than CPUs cost can't be told: no figure to rely on of more than \
             {} on {on}.",
            threads(base_threads.max(cpus))
        );
    };
    let figures = format!(
        "{} threads on {on} take {} of the ideal, {} {}",
        first.threads,
        number_with_half(&first.ratio),
        threads(base_threads),
        number_with_half(&base)
    );
    let (clear, rest): (Vec<&Beyond>, Vec<&Beyond>) =
        beyond.iter().partition(|b| differs_from_nothing(&b.cost));
    let (vague, free): (Vec<&Beyond>, Vec<&Beyond>) = rest
        .into_iter()
        .partition(|b| b.cost.half_width() > CANNOT_TELL_ABOVE);
    let said = clear.iter().map(|b| match b.cost.value > 0.0 {
        true => format!("{} threads cost {}", b.threads, b.percent()),
        false => format!(
            "{} threads gain {}",
            b.threads,
            b.percent().trim_start_matches('-')
        ),
    });
    let mut parts: Vec<String> = said.collect();
    if !free.is_empty() {
        let percents: Vec<String> = free
            .iter()
            .map(|b| match free.len() {
                1 => b.percent(),
                _ => format!("{}: {}", b.threads, b.percent()),
            })
            .collect();
        let subject = match clear.is_empty() && vague.is_empty() {
            true => "more threads than CPUs".to_owned(),
            false => format!("{} threads", names(&free)),
        };
        parts.push(format!(
            "{subject} cost nothing that can be told from noise here ({})",
            percents.join(", ")
        ));
    }
    if !vague.is_empty() {
        parts.push(format!(
            "of {} threads the figures are too wide to tell",
            names(&vague)
        ));
    }
    format!(
        "{figures}: against {}, {}.",
        threads(base_threads),
        parts.join("; ")
    )
}

fn threads(n: u64) -> String {
    match n {
        1 => "1 thread".into(),
        n => format!("{n} threads"),
    }
}

fn names(of: &[&Beyond]) -> String {
    let names: Vec<String> = of.iter().map(|b| b.threads.to_string()).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::layout::width;
    use crate::render::synthetic::{self, stamped_figure};

    /// Judges pools that take so many of their ideal: threads, ratio, half of
    /// its interval in percent.
    fn judged(pools: &[(u64, f64, f64)], cpus: Option<u64>) -> String {
        let estimates: Vec<(u64, Estimate, Estimate)> = pools
            .iter()
            .map(|&(threads, ratio, percent)| {
                let took = 2e6 * ratio;
                (
                    threads,
                    stamped_figure(took, took * percent / 100.0),
                    stamped_figure(2e6, 0.0),
                )
            })
            .collect();
        let lines: Vec<Line> = estimates
            .iter()
            .map(|(threads, took, ideal)| Line {
                threads: *threads,
                took: Some(took),
                ideal: Some(ideal),
                single: None,
            })
            .collect();
        verdict(&lines, cpus)
    }

    #[test]
    fn what_noise_allows_costs_nothing_that_can_be_told() {
        let text = judged(&[(1, 1.0, 1.0), (2, 1.02, 3.0), (16, 1.05, 3.0)], Some(2));
        // 1.05 / 1.02 is 2.9 % more; half is the root of 3² + 3², 4.2 %.
        assert_eq!(
            text,
            "16 threads on 2 CPUs take 1.05 ±0.04 of the ideal, 2 threads 1.02 ±0.04: against \
             2 threads, more threads than CPUs cost nothing that can be told from noise here (3 % ±5)."
        );
    }

    #[test]
    fn what_stands_out_of_the_noise_is_a_cost() {
        let text = judged(&[(2, 1.02, 1.0), (16, 1.1, 1.0)], Some(2));
        // 1.1 / 1.02 is 7.8 % more; half is 1.078 times 1.41 %.
        assert!(
            text.ends_with(": against 2 threads, 16 threads cost 8 % ±2."),
            "{text}"
        );
        let text = judged(&[(2, 1.1, 1.0), (16, 1.0, 1.0)], Some(2));
        assert!(
            text.ends_with(": against 2 threads, 16 threads gain 9 % ±2."),
            "{text}"
        );
    }

    #[test]
    fn each_number_of_threads_is_judged() {
        let pools = [
            (2, 1.0, 1.0),
            (4, 1.01, 1.0),
            (8, 1.0, 60.0),
            (16, 1.08, 1.0),
            (64, 1.2, 1.0),
        ];
        let text = judged(&pools, Some(2));
        assert!(
            text.ends_with(
                " 16 threads cost 8 % ±2; 64 threads cost 20 % ±2; 4 threads cost nothing that can \
                 be told from noise here (1 % ±2); of 8 threads the figures are too wide to tell."
            ),
            "{text}"
        );
        let text = judged(&[(2, 1.0, 3.0), (4, 1.0, 3.0), (16, 1.0, 3.0)], Some(2));
        assert!(text.contains("here (4: 0 % ±5, 16: 0 % ±5)"), "{text}");
    }

    #[test]
    fn the_base_has_at_most_a_thread_for_each_cpu() {
        let pools = [(1, 1.0, 1.0), (2, 1.5, 1.0), (4, 1.1, 1.0), (16, 1.1, 1.0)];
        let text = judged(&pools, Some(3));
        assert!(
            text.contains("on 3 CPUs") && text.contains(", 2 threads 1.50"),
            "{text}"
        );
        assert!(text.contains("against 2 threads, "), "{text}");
        // No figure of fewer threads than CPUs: the smallest there is.
        let text = judged(&pools[2..], Some(3));
        assert!(text.contains(", 4 threads 1.10"), "{text}");
        // Threads that have a CPU each are not more than CPUs.
        let pools = [(1, 1.0, 1.0), (4, 1.0, 1.0), (16, 1.0, 1.0)];
        let text = judged(&pools, Some(5));
        assert!(!text.contains("(4:"), "{text}");
        let text = judged(&pools, Some(1));
        assert!(
            text.contains("on 1 CPU ") && text.contains(", 1 thread 1.00"),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        let pools = [(1, 1.0, 1.0), (2, 1.0, 1.0)];
        for (pools, cpus) in [
            (&pools[..], None),
            (&pools, Some(2)),
            (&pools, Some(64)),
            (&pools[1..], Some(1)),
            (&[], Some(2)),
        ] {
            let text = judged(pools, cpus);
            assert!(text.contains("can't be told"), "{text}");
        }
    }

    #[test]
    fn figures_that_can_not_be_relied_on_are_no_ground() {
        let mut run = synthetic::run();
        for row in run.rows.iter_mut().filter(|row| row.id == PROBE) {
            let Outcome::Curve { points, .. } = &mut row.outcome else {
                panic!("a curve");
            };
            for point in points {
                point.estimate.verdict = Verdict::Invalid;
            }
        }
        let text = pool(&run);
        assert!(
            text.contains("can't be told") && text.contains('!'),
            "{text}"
        );
    }

    #[test]
    fn a_plan_that_narrows_the_cpus_is_followed() {
        let mut run = synthetic::run();
        run.plan.cpus = vec![0, 2];
        let text = pool(&run);
        assert!(text.contains("16 threads on 2 CPUs"), "{text}");
        run.plan.cpus.clear();
        let text = pool(&run);
        assert!(text.contains("16 threads on 4 CPUs"), "{text}");
    }

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

    #[test]
    fn the_block_names_the_published_number_and_keeps_to_the_page() {
        let run = synthetic::run();
        let text = pool(&run);
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        let marked = text.lines().filter(|l| l.contains("Kurkin's"));
        let marked: Vec<&str> = marked.map(str::trim_start).collect();
        assert_eq!(marked.len(), 1, "{text}");
        assert!(marked[0].starts_with("Kurkin's 16 "), "{text}");
        let mut without = run;
        without.rows.retain(|row| !draws(row));
        assert_eq!(pool(&without), "");
    }
}
