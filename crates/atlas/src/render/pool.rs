//! What `sched.pool` is measured for: whether more threads than CPUs cost
//! anything here.

use super::COLUMNS;
use super::curves::Marks;
use super::figures::{number_with_half, time_with_half, typical};
use super::intervals::{differs_from_nothing, quotient};
use super::layout::{Grid, left, right, wrap};
use super::tails::percentile;
use model::estimate::{CANNOT_TELL_ABOVE, Estimate, Verdict};
use model::run::{Axis, CurvePoint, Outcome, Row, Run};
use model::stats::Interval;

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
    let mut grid = Grid::default();
    grid.free(format!(
        "{PROBE}: time an operation; ideal: the procedure alone over min(threads, CPUs)"
    ));
    let mut marks = Marks::default();
    let mut heading = vec![right("threads  ")];
    heading.extend(["time", "", "", "ideal", "", "of ideal", "single operation"].map(left));
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
        entries.push(left(line.single.map_or(String::new(), single)));
        grid.entries(entries);
    }
    let mut text = grid.render(1);
    text.push_str(&marks.legend());
    let cpus = run.machine.allowed_cpus.get().map(|cpus| cpus.len() as u64);
    for line in wrap("  ", &verdict(&lines, cpus), COLUMNS) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Median and 10 % to 90 % of single operations, and how far they reach.
fn single(estimate: &Estimate) -> String {
    let mut text = typical(estimate, &model::unit::Unit::Time);
    if let Some(p99) = estimate.tail.and_then(|tail| tail.p99_ns) {
        text.push_str(&format!(", p99 {}", percentile(&p99)));
    }
    text
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

/// What more threads cost than the number nearest to that of the CPUs: how
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
    let Some(&(base_threads, base)) = known.iter().find(|(threads, _)| *threads >= cpus) else {
        return format!(
            "What more threads than CPUs cost can't be told: no figure to rely on of {cpus} \
             threads or more beside their ideal."
        );
    };
    let beyond: Vec<Beyond> = known
        .iter()
        .filter(|(threads, _)| *threads > base_threads)
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
             {base_threads} threads on {on}."
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
    format!("{figures}: {}.", parts.join("; "))
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
            "16 threads on 2 CPUs take 1.05 ±0.04 of the ideal, 2 threads 1.02 ±0.04: more threads \
             than CPUs cost nothing that can be told from noise here (3 % ±5)."
        );
    }

    #[test]
    fn what_stands_out_of_the_noise_is_a_cost() {
        let text = judged(&[(2, 1.02, 1.0), (16, 1.1, 1.0)], Some(2));
        // 1.1 / 1.02 is 7.8 % more; half is 1.078 times 1.41 %.
        assert!(text.ends_with(": 16 threads cost 8 % ±2."), "{text}");
        let text = judged(&[(2, 1.1, 1.0), (16, 1.0, 1.0)], Some(2));
        assert!(text.ends_with(": 16 threads gain 9 % ±2."), "{text}");
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
                ": 16 threads cost 8 % ±2; 64 threads cost 20 % ±2; 4 threads cost nothing that can \
                 be told from noise here (1 % ±2); of 8 threads the figures are too wide to tell."
            ),
            "{text}"
        );
        let text = judged(&[(2, 1.0, 3.0), (4, 1.0, 3.0), (16, 1.0, 3.0)], Some(2));
        assert!(text.contains("here (4: 0 % ±5, 16: 0 % ±5)"), "{text}");
    }

    #[test]
    fn the_first_with_a_thread_for_each_cpu_is_the_base() {
        let pools = [(1, 1.0, 1.0), (2, 1.5, 1.0), (4, 1.1, 1.0), (16, 1.1, 1.0)];
        let text = judged(&pools, Some(3));
        assert!(
            text.contains("on 3 CPUs") && text.contains(", 4 threads 1.10"),
            "{text}"
        );
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
