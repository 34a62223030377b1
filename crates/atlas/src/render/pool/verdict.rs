//! Whether more threads than CPUs cost anything.

use super::line::Line;
use super::{KURKIN, base};
use crate::render::figures::number_with_half;
use crate::render::intervals::{differs_from_nothing, quotient};
use model::estimate::CANNOT_TELL_ABOVE;
use model::stats::Interval;

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
pub(super) fn verdict(lines: &[Line], cpus: Option<u64>) -> String {
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

/// `1 thread`, `16 threads`.
pub(super) fn threads(n: u64) -> String {
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
    use crate::render::synthetic::stamped_figure;
    use model::estimate::Estimate;

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
}
