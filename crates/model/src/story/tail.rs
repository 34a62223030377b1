//! Modes and tails of single operations in words.

use crate::estimate::{Estimate, Mode, Tail, Verdict};
use crate::figure::{self, decimals, time, time_scale};
use crate::share::percent;
use crate::shown::{interval_figure, time_with_half};
use crate::stats::Interval;
use crate::unit::Unit;

/// Rows whose tail has a line in the default table; `--wide` has all.
const TAIL_BY_DEFAULT: [&str; 3] = ["sched.wakeup", "collections.push/worst", "thread.create_join"];

/// The lines below a row of the default table: why it is not ok, its modes,
/// its tail.
pub fn notes_of_row(id: &str, estimate: &Estimate, unit: &Unit) -> Vec<String> {
    let modes =
        modes(&estimate.modes, |mode| figure::value_text(unit, unit.of_ns(mode.typical.ns.value)));
    let mut lines = Vec::new();
    // The reason for two states is the large modes, in the same words.
    if estimate.verdict != Verdict::Ok && !modes.contains(&estimate.reason) {
        lines.push(estimate.reason.clone());
    }
    lines.push(modes);
    if let Some(tail) = estimate.tail.filter(|_| has_tail_by_default(id)) {
        lines.push(tail_text(&tail));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn has_tail_by_default(id: &str) -> bool {
    TAIL_BY_DEFAULT.iter().any(|row| {
        id.strip_prefix(row).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// `same CPU 2.90 µs in 87 %, other CPU 37.0 µs in 13 %`; empty below two
/// modes.
fn modes(modes: &[Mode], figure: impl Fn(&Mode) -> String) -> String {
    if modes.len() < 2 {
        return String::new();
    }
    let words: Vec<String> =
        modes.iter().map(|m| format!("{} {} in {}", m.name, figure(m), percent(m.share))).collect();
    words.join(", ")
}

/// The modes with their intervals.
pub fn modes_with_intervals(estimate: &Estimate, unit: &Unit) -> String {
    modes(&estimate.modes, |mode| {
        interval_figure(&mode.typical.ns, unit).number_and_half().join(" ")
    })
}

/// `p99 41.0 µs ±3, max 1200 µs (1280 samples, 31 s)`: percentiles where enough
/// operations lie above them.
pub fn tail_text(tail: &Tail) -> String {
    let mut words: Vec<String> = [("p99", tail.p99_ns), ("p99.9", tail.p999_ns)]
        .into_iter()
        .filter_map(|(name, ns)| Some(format!("{name} {}", percentile(&ns?))))
        .collect();
    words.push(format!("max {}", longest(tail)));
    words.push(tail.reason());
    words.retain(|words| !words.is_empty());
    words.join(", ")
}

/// A percentile with its interval; by its ends where one lies much farther off
/// than the other, as they do in a long tail.
pub fn percentile(ns: &Interval) -> String {
    let (below, above) = (ns.value - ns.low, ns.high - ns.value);
    if above <= 2.0 * below && below <= 2.0 * above {
        return time_with_half(ns);
    }
    let (scale, name) = time_scale(ns.value);
    if time_scale(ns.low).1 != name || time_scale(ns.high).1 != name {
        let [value, low, high] = [ns.value, ns.low, ns.high].map(time);
        return format!("{value} ({low} to {high})");
    }
    let [value, low, high] =
        [ns.value, ns.low, ns.high].map(|v| format!("{:.*}", decimals(v / scale, 0.0), v / scale));
    format!("{value} {name} ({low} to {high})")
}

/// The longest operation, which means nothing without the number of samples
/// and the time that they were taken in.
pub fn longest(tail: &Tail) -> String {
    let seconds = f64::from(tail.over_ms) / 1e3;
    let places = usize::from(seconds < 10.0);
    format!("{} ({} samples, {seconds:.places$} s)", time(tail.longest_ns), tail.operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Longest;
    use crate::synthetic::{self, stamped_figure};

    fn mode(name: &str, share: f64, ns: f64) -> Mode {
        Mode {
            name: name.into(),
            share,
            typical: stamped_figure(ns, ns / 50.0).typical.expect("a figure"),
        }
    }

    fn two_modes() -> Estimate {
        Estimate {
            modes: vec![mode("same CPU", 0.87, 2_904.0), mode("other CPU", 0.13, 37_000.0)],
            ..stamped_figure(2_950.0, 30.0)
        }
    }

    #[test]
    fn modes_are_given_below_their_row_and_a_reason_only_once() {
        let notes = |estimate: &Estimate| notes_of_row("x.y", estimate, &Unit::Time);
        let mut estimate = two_modes();
        let modes = "same CPU 2.90 µs in 87 %, other CPU 37.0 µs in 13 %";
        assert_eq!(notes(&estimate), [modes]);
        estimate.modes.push(mode("migrated", 0.002, 90_000.0));
        estimate.verdict = Verdict::TwoStates;
        estimate.reason = modes.into();
        let all = format!("{modes}, migrated 90.0 µs in 0.20 %");
        assert_eq!(notes(&estimate), std::slice::from_ref(&all));
        estimate.verdict = Verdict::Noisy;
        estimate.reason = "samples vary by ±9 %".into();
        assert_eq!(notes(&estimate), [estimate.reason.clone(), all]);
        estimate.verdict = Verdict::Ok;
        estimate.modes.truncate(1);
        assert!(notes(&estimate).is_empty());
        // Built by the estimator, so that its words and ours stay the same.
        let run = synthetic::run();
        let row = run.row("sync.semaphore_switch/free").expect("the row");
        let estimate = row.estimate().expect("a figure");
        assert_eq!(estimate.verdict, Verdict::TwoStates);
        assert_eq!(notes(estimate).len(), 1, "{estimate:?}");
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
    fn a_tail_has_its_samples_and_their_time() {
        let mut tail = Tail {
            p99_ns: Some(Interval::about(41_030.0, 3_000.0)),
            p999_ns: None,
            longest_ns: 1_204_000.0,
            shortest_ns: 2_000.0,
            operations: 1280,
            over_ms: 31_200,
            verdict: None,
            longest: None,
        };
        let words = "p99 41 µs ±3, max 1.20 ms (1280 samples, 31 s)";
        assert_eq!(tail_text(&tail), words);
        let estimate = Estimate { tail: Some(tail), ..stamped_figure(2_950.0, 30.0) };
        let notes = |id| notes_of_row(id, &estimate, &Unit::Time);
        assert_eq!(notes("sched.wakeup/idle"), [words]);
        assert!(notes("sched.wakeups").is_empty() && notes("sync.handoff/pipe").is_empty());
        tail.verdict = Some(Verdict::CannotTell);
        tail.longest = Some(Longest { of: 7, scheduler: 5 });
        assert_eq!(tail_text(&tail), format!("{words}, {}", tail.reason()));
        (tail.p99_ns, tail.over_ms) = (None, 900);
        (tail.verdict, tail.longest) = (None, None);
        assert_eq!(tail_text(&tail), "max 1.20 ms (1280 samples, 0.9 s)");
    }
}
