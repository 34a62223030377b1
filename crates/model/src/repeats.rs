//! A quantity that was found anew in each of several runs of the same thing:
//! its median, how well that is known, and how far it can be trusted.

use crate::distribution::{of_groups, two_states};
use crate::estimate::{Estimate, Mode, SAMPLES_IN_ALL, Verdict, modes_text, of_distribution};
use crate::estimator::judge_runs;
use crate::phrases::counted;
use crate::spread::{Observation, SAMPLES_PER_WORKER};
use crate::stats::{self, Interval};
use crate::unit::Unit;

/// Stretches of time that the runs are divided into, at most.
const STRETCHES: usize = 8;
/// Runs that an interval of the median needs: of five none holds it in 95 %.
pub const LEAST_FOR_INTERVAL: usize = 6;
/// Whole numbers of events are judged as shares of this many where they are
/// fewer: one switch more or less is never noisy.
pub const FEW_EVENTS: f64 = 20.0;

/// Which stretch of time each of so many consecutive runs belongs to, from 0:
/// equal stretches, as many as have enough runs.
///
/// Runs that follow each other resemble each other (the machine's state lasts
/// for seconds), so that an interval from all of them as if they were
/// independent would be too narrow: what the stretches' medians say widens it.
pub fn stretch(run: usize, runs: usize) -> u32 {
    ((run * stretches(runs)) / runs.max(1)) as u32
}

/// How many stretches so many runs are divided into: as so many independent
/// runs they count.
pub fn stretches(runs: usize) -> usize {
    (runs / SAMPLES_PER_WORKER).clamp(1, STRETCHES)
}

/// The estimate from all runs' values, in their order. `least` is what widths
/// are judged as shares of where the value is smaller ([`FEW_EVENTS`] for
/// whole numbers of events, else 0).
///
/// The interval is the median's by order statistics (distribution-free), or
/// that of a t interval over the stretches' medians where this is wider, but
/// never beyond what was seen: of three stretches a t interval reaches four
/// standard errors, which says more about the table of t than about the runs.
pub fn estimate(values: &[f64], unit: &Unit, least: f64) -> Estimate {
    let grouped: Vec<(u32, f64)> =
        values.iter().enumerate().map(|(k, &value)| (stretch(k, values.len()), value)).collect();
    let mut typical = of_groups(&grouped);
    if let Some(t) = &mut typical {
        let seen = stats::sorted(values.iter().copied());
        if let (Some(&least), Some(&most)) = (seen.first(), seen.last()) {
            t.ns.low = t.ns.low.max(least);
            t.ns.high = t.ns.high.min(most);
        }
    }
    let states = typical.and_then(|t| states(values, &t.ns, unit, least));
    let (verdict, reason) = match &typical {
        None => (Verdict::CannotTell, "no run has ended".into()),
        Some(t) => judge_repeats(values, &t.ns, states.as_deref(), unit, least),
    };
    Estimate { modes: states.unwrap_or_default(), ..of_distribution(typical, verdict, reason) }
}

/// The two states that many runs fall into, if they do.
fn states(values: &[f64], median: &Interval, unit: &Unit, least: f64) -> Option<Vec<Mode>> {
    if values.len() < SAMPLES_IN_ALL || median.value < least {
        return None;
    }
    let readings: Vec<Observation> = (0..)
        .zip(values)
        .map(|(run, &value)| Observation { worker: run, at_ms: run, value })
        .collect();
    Some(two_states(&readings, unit)?.0)
}

fn judge_repeats(
    values: &[f64],
    median: &Interval,
    states: Option<&[Mode]>,
    unit: &Unit,
    least: f64,
) -> (Verdict, String) {
    if values.len() < LEAST_FOR_INTERVAL {
        let few = format!("only {}: too few for an interval", counted(values.len(), "run"));
        return (Verdict::CannotTell, few);
    }
    // Always the same is known as well as can be, also where it is 0.
    if median.half_width() == 0.0 {
        return (Verdict::Ok, String::new());
    }
    match states {
        Some(states) => (Verdict::TwoStates, modes_text(states, unit)),
        None => judge_runs(median, least, unit),
    }
}

/// Half of the median's interval as a share of it; infinite where there is no
/// interval yet. What a stop rule asks.
pub fn relative_half_width(values: &[f64]) -> f64 {
    match values.len() {
        0..LEAST_FOR_INTERVAL => f64::INFINITY,
        _ => estimate(values, &Unit::Time, 0.0)
            .typical
            .map_or(f64::INFINITY, |t| t.ns.relative_half_width()),
    }
}

/// Values beyond Tukey's fences: they are counted, never left out.
pub fn outliers(values: &[f64]) -> usize {
    stats::outliers_sorted(&stats::sorted(values.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_divided_into_equal_stretches() {
        let of = |n: usize| (0..n).map(|k| stretch(k, n)).collect::<Vec<_>>();
        assert_eq!(of(2), [0, 0]);
        assert_eq!(of(6), [0, 0, 0, 1, 1, 1]);
        assert_eq!(of(10).last(), Some(&2));
        assert_eq!([0, 2, 6, 10, 800].map(stretches), [1, 1, 2, 3, 8]);
        let many = of(800);
        for stretch in 0..8 {
            assert_eq!(many.iter().filter(|&&s| s == stretch).count(), 100);
        }
    }

    #[test]
    fn what_never_changes_is_known() {
        let zero = estimate(&[0.0; 10], &Unit::Count, FEW_EVENTS);
        assert_eq!(zero.verdict, Verdict::Ok, "{zero:?}");
        let few = estimate(&[3.0; 5], &Unit::Count, FEW_EVENTS);
        assert_eq!(few.verdict, Verdict::CannotTell);
        assert_eq!(few.reason, "only 5 runs: too few for an interval");
        assert_eq!(estimate(&[], &Unit::Time, 0.0).verdict, Verdict::CannotTell);
    }

    #[test]
    fn one_event_more_or_less_is_not_noise_and_ten_are() {
        let by = |step: f64| {
            let values: Vec<f64> = (0..30).map(|k| f64::from(k % 3) * step + 1.0).collect();
            estimate(&values, &Unit::Count, FEW_EVENTS).verdict
        };
        assert_eq!(by(1.0), Verdict::Ok);
        assert_ne!(by(10.0), Verdict::Ok);
    }

    #[test]
    fn no_interval_reaches_beyond_what_was_seen() {
        // Three stretches whose medians disagree.
        let values = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let ns = estimate(&values, &Unit::Count, FEW_EVENTS).typical;
        let ns = ns.expect("runs").ns;
        assert_eq!((ns.low, ns.value, ns.high), (0.0, 0.0, 1.0));
    }

    #[test]
    fn variation_of_counts_is_given_in_events() {
        let values: Vec<f64> = (0..30).map(|k| f64::from(k % 3) * 9.0).collect();
        let found = estimate(&values, &Unit::Count, FEW_EVENTS);
        assert!(found.reason.ends_with(" events"), "{}", found.reason);
    }

    #[test]
    fn two_states_are_given_in_the_rows_unit() {
        let values: Vec<f64> =
            (0..40).map(|k| if k % 2 == 0 { 1e6 } else { 2e6 } + f64::from(k)).collect();
        let found = estimate(&values, &Unit::Time, 0.0);
        assert_eq!(found.verdict, Verdict::TwoStates);
        assert!(found.reason.contains("1.00 ms in 50 %"), "{}", found.reason);
        let bytes = estimate(&values, &Unit::Bytes, 0.0);
        assert!(bytes.reason.contains("977 KiB"), "{}", bytes.reason);
    }

    #[test]
    fn a_drift_widens_the_interval() {
        // The same values: shuffled, and rising over the run.
        let rising: Vec<f64> = (0..80).map(|k| 100.0 + f64::from(k)).collect();
        let shuffled: Vec<f64> = (0..80).map(|k| 100.0 + f64::from(k * 37 % 80)).collect();
        let half = |values: &[f64]| relative_half_width(values);
        assert!(half(&rising) > 1.5 * half(&shuffled));
    }
}
