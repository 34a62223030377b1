//! Modes and tails of stamped operations in words.

use super::figures::{set, time_with_half};
use model::estimate::{Estimate, Mode, Tail, Verdict};
use model::figure::{self, decimals, time, time_scale};
use model::stats::Interval;
use model::unit::Unit;

/// Rows whose tail has a line in the default table, if they have one (single
/// operations do); `--wide` has all. Which rows a full run takes enough
/// operations of for a p99.9 is another question, and the probe's to answer.
const TAIL_BY_DEFAULT: [&str; 3] = [
    "sched.wakeup",
    "collections.push/worst",
    "thread.create_join",
];

/// What stands below a row of the default table, one entry a line: why it is
/// not ok, its modes, its tail.
pub(crate) fn below_row(id: &str, estimate: &Estimate, unit: &Unit) -> Vec<String> {
    let modes = modes(&estimate.modes, |mode| {
        figure::value(unit, unit.of_ns(mode.typical.ns.value))
    });
    let mut lines = Vec::new();
    // The reason for two states is the large modes, in the same words.
    if estimate.verdict != Verdict::Ok && !modes.contains(&estimate.reason) {
        lines.push(estimate.reason.clone());
    }
    lines.push(modes);
    if let Some(tail) = estimate.tail.filter(|_| concerns(id)) {
        lines.push(in_words(&tail));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn concerns(id: &str) -> bool {
    TAIL_BY_DEFAULT.iter().any(|row| {
        id.strip_prefix(row)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// `same CPU 2.90 µs in 87 %, other CPU 37.0 µs in 13 %`; empty below two
/// modes.
fn modes(modes: &[Mode], figure: impl Fn(&Mode) -> String) -> String {
    if modes.len() < 2 {
        return String::new();
    }
    let words: Vec<String> = modes
        .iter()
        .map(|m| format!("{} {} in {} %", m.name, figure(m), percent(m.share)))
        .collect();
    words.join(", ")
}

/// The modes with their intervals.
pub(super) fn modes_with_intervals(estimate: &Estimate, unit: &Unit) -> String {
    modes(&estimate.modes, |mode| {
        let f = set(&mode.typical.ns, unit);
        format!("{} {} ±{}", f.value, f.unit, f.half_width)
    })
}

/// A share in percent; a few of very many are not none.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let rest = percent.min(100.0 - percent);
    match rest {
        r if r > 0.0 && r < 1.0 => format!("{percent:.*}", 1 + usize::from(r < 0.1)),
        _ => format!("{percent:.0}"),
    }
}

/// `p99 41.0 µs ±3, longest 1200 µs of 1280 in 31 s`: percentiles where enough
/// operations lie above them.
pub(crate) fn in_words(tail: &Tail) -> String {
    let mut words: Vec<String> = [("p99", tail.p99_ns), ("p99.9", tail.p999_ns)]
        .into_iter()
        .filter_map(|(name, ns)| Some(format!("{name} {}", percentile(&ns?))))
        .collect();
    words.push(format!("longest {}", longest(tail)));
    words.push(tail.reason());
    words.retain(|words| !words.is_empty());
    words.join(", ")
}

/// A percentile with its interval; by its ends where one lies much farther off
/// than the other, as they do in a long tail.
pub(super) fn percentile(ns: &Interval) -> String {
    let (below, above) = (ns.value - ns.low, ns.high - ns.value);
    if above <= 2.0 * below && below <= 2.0 * above {
        return time_with_half(ns);
    }
    let (scale, name) = time_scale(ns.high);
    let [value, low, high] =
        [ns.value, ns.low, ns.high].map(|v| format!("{:.*}", decimals(v / scale, 0.0), v / scale));
    format!("{value} {name} ({low} to {high})")
}

/// The longest operation means nothing without their number and the time over
/// which they were seen.
pub(super) fn longest(tail: &Tail) -> String {
    let seconds = f64::from(tail.over_ms) / 1e3;
    let over = match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    };
    format!("{} of {} in {over}", time(tail.longest_ns), tail.operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic::{self, stamped_figure};
    use model::estimate::Longest;

    fn mode(name: &str, share: f64, ns: f64) -> Mode {
        Mode {
            name: name.into(),
            share,
            typical: stamped_figure(ns, ns / 50.0).typical.expect("a figure"),
        }
    }

    fn two_modes() -> Estimate {
        Estimate {
            modes: vec![
                mode("same CPU", 0.87, 2_904.0),
                mode("other CPU", 0.13, 37_000.0),
            ],
            ..stamped_figure(2_950.0, 30.0)
        }
    }

    #[test]
    fn modes_stand_below_their_row() {
        assert_eq!(
            below_row("sync.semaphore_switch/free", &two_modes(), &Unit::Time),
            ["same CPU 2904 ns in 87 %, other CPU 37.0 µs in 13 %"]
        );
        let mut one = two_modes();
        one.modes.pop();
        assert!(below_row("sync.semaphore_switch/free", &one, &Unit::Time).is_empty());
    }

    #[test]
    fn words_that_are_the_reason_are_not_said_twice() {
        let mut estimate = two_modes();
        estimate.modes.push(mode("migrated", 0.002, 90_000.0));
        estimate.verdict = Verdict::TwoStates;
        estimate.reason = "same CPU 2904 ns in 87 %, other CPU 37.0 µs in 13 %".into();
        let lines = below_row("x.y", &estimate, &Unit::Time);
        assert_eq!(
            lines,
            [format!("{}, migrated 90.0 µs in 0.2 %", estimate.reason)]
        );
        estimate.verdict = Verdict::Noisy;
        estimate.reason = "samples disagree by ±9 %".into();
        let lines = below_row("x.y", &estimate, &Unit::Time);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[0], estimate.reason);
    }

    #[test]
    fn the_reason_given_by_the_estimate_itself_is_one_of_them() {
        // Built by the estimator, so that its words and ours stay the same.
        let run = synthetic::run();
        let row = run.row("sync.semaphore_switch/free").expect("the row");
        let estimate = row.estimate().expect("a figure");
        assert_eq!(estimate.verdict, Verdict::TwoStates);
        assert_eq!(
            below_row(&row.id, estimate, &row.unit).len(),
            1,
            "{estimate:?}"
        );
    }

    #[test]
    fn a_few_of_very_many_are_not_none() {
        let texts = [0.0, 0.0004, 0.004, 0.13, 0.996, 0.9996, 1.0].map(percent);
        assert_eq!(texts, ["0", "0.04", "0.4", "13", "99.6", "99.96", "100"]);
    }

    #[test]
    fn an_uneven_interval_is_given_by_its_ends() {
        let of = |value, low, high| percentile(&Interval { value, low, high });
        assert_eq!(of(41_000.0, 38_000.0, 45_000.0), "41 µs ±4");
        assert_eq!(of(150_000.0, 110_000.0, 356_000.0), "150 µs (110 to 356)");
        assert_eq!(of(8_063.0, 5_900.0, 14_423.0), "8.06 µs (5.90 to 14.4)");
        assert_eq!(of(7.0, 7.0, 7.0), "7.00 ns ±0.00");
    }

    #[test]
    fn tails_say_of_how_many_and_how_long() {
        let mut tail = Tail {
            p99_ns: Some(Interval {
                value: 41_030.0,
                low: 38_000.0,
                high: 44_000.0,
            }),
            p999_ns: None,
            longest_ns: 1_204_000.0,
            shortest_ns: 2_000.0,
            operations: 1280,
            over_ms: 31_200,
            verdict: None,
            longest: None,
        };
        let text = "p99 41 µs ±3, longest 1204 µs of 1280 in 31 s";
        assert_eq!(in_words(&tail), text);
        let estimate = Estimate {
            tail: Some(tail),
            ..stamped_figure(2_950.0, 30.0)
        };
        assert_eq!(
            below_row("sched.wakeup/idle", &estimate, &Unit::Time),
            [text]
        );
        assert!(below_row("sched.wakeups", &estimate, &Unit::Time).is_empty());
        assert!(below_row("sync.handoff/pipe", &estimate, &Unit::Time).is_empty());
        tail.verdict = Some(Verdict::CannotTell);
        tail.longest = Some(Longest {
            of: 7,
            scheduler: 5,
        });
        assert_eq!(
            in_words(&tail),
            format!(
                "{text}, p99 not known: its interval reaches the longest, 5 of the longest 7 were \
                 the scheduler's"
            )
        );
        (tail.p99_ns, tail.over_ms) = (None, 900);
        (tail.verdict, tail.longest) = (None, None);
        assert_eq!(in_words(&tail), "longest 1204 µs of 1280 in 0.9 s");
    }
}
