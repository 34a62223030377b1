//! Where the level of a row changed, if it did.

use super::null::HistoryStretch;
use super::spread::Spread;
use super::{FEWEST, LEVEL, Past};
use crate::compare::finding::{Correction, POWER, judge};
use crate::compare::ratio::Ratio;
use crate::compare::reading::Variance;
use crate::compare::student;
use crate::stats::{self, Interval};
use serde::Serialize;

/// Runs count for their level up to so many standard deviations from its
/// median.
const REACH: f64 = 2.5;

/// A change smaller than so many of one run's standard deviations is not marked:
/// runs of one machine wander slowly by as much without any cause one could name.
const LEAST: f64 = 1.5;

/// Runs of one level.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The first of its runs,
    pub from: usize,
    /// and the first that is not of it any more.
    pub to: usize,
    /// The level with its 95 % interval, in the unit of the figures.
    pub level: Interval,
    /// The level over that of the segment before, with its 95 % interval;
    /// absent for the first. The size of what was looked for is, where it was
    /// found, a little larger than the truth.
    pub ratio: Option<Interval>,
}

/// What can be said of a past.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct Changes {
    /// Stretches of runs at one level each, in order; one where no change was
    /// shown, none without any run.
    pub segments: Vec<Segment>,
    /// Whether there were enough runs to look for a change at all.
    pub looked: bool,
    /// The chance of any mark where nothing changed.
    pub error_rate: f64,
    /// Standard deviation of one run about its level, as a share.
    pub runs_differ: f64,
    /// Correlation of one run with the next that is reckoned with.
    pub resemblance: f64,
    /// The smallest change in the middle of the last segment that would be
    /// found in 80 % of cases, as a share; absent where it is too short.
    pub detectable: Option<f64>,
}

/// Looks for changes of the level.
///
/// A stretch is divided where the largest step in it is larger than in all but
/// 1 % of made-up histories that vary alike and don't change; then both parts
/// are looked at in the same way. So a history without a change gets a mark in
/// 1 % of cases, and each stretch next to a real change as often. What comes
/// out smaller than one and a half of one run's standard deviations is no mark.
pub fn changes(past: &Past) -> Changes {
    let spread = Spread::from_past(past);
    let mut starts = Vec::new();
    divide(past, &spread, [0, past.len()], &mut starts);
    starts.sort_unstable();
    settle(past, &spread, &mut starts);
    while let Some(weakest) = too_small(past, &spread, &starts) {
        starts.remove(weakest);
        settle(past, &spread, &mut starts);
    }
    let levels: Vec<StretchLevel> = stretches(past, &starts)
        .map(|[from, to]| StretchLevel::between(past, &spread, from, to))
        .collect();
    let last = levels.last().map(|last| [last.from, last.to]);
    Changes {
        looked: past.len() >= 2 * FEWEST,
        error_rate: LEVEL,
        runs_differ: deviation(past, &spread).unwrap_or(0.0),
        resemblance: spread.resemblance,
        detectable: last.and_then(|last| detectable(past, &spread, last)),
        segments: segments(&levels),
    }
}

/// Where new levels begin in this stretch.
fn divide(past: &Past, spread: &Spread, [from, to]: [usize; 2], starts: &mut Vec<usize>) {
    let stretch = HistoryStretch { past, spread, ends: [from, to] };
    let found = judge([&stretch], Correction::Holm(LEVEL), None)[0];
    if let Some(step) = stretch.largest().filter(|_| found.is_different()) {
        starts.push(step.at);
        divide(past, spread, [from, step.at], starts);
        divide(past, spread, [step.at, to], starts);
    }
}

/// Stretches between the starts of new levels.
fn stretches(past: &Past, starts: &[usize]) -> impl Iterator<Item = [usize; 2]> {
    let ends: Vec<usize> = starts.iter().copied().chain([past.len()]).collect();
    let begins: Vec<usize> = [0].into_iter().chain(starts.iter().copied()).collect();
    begins.into_iter().zip(ends).map(<[usize; 2]>::from).filter(|[from, to]| from < to)
}

/// Moves each start to the place between its neighbours that suits the two
/// levels best: an interval that found it may have held little of them.
fn settle(past: &Past, spread: &Spread, starts: &mut [usize]) {
    for which in 0..starts.len() {
        let from = which.checked_sub(1).map_or(0, |before| starts[before]);
        let to = starts.get(which + 1).copied().unwrap_or(past.len());
        let before = StretchLevel::between(past, spread, from, starts[which]).ln;
        let after = StretchLevel::between(past, spread, starts[which], to).ln;
        let misfit = |at: usize, level: f64| {
            let square = (past.ln[at] - level).powi(2) / (spread.factor * past.assumed[at]);
            square.min(REACH * REACH)
        };
        // Cost of each place, less that of the first.
        let mut cost = 0.0;
        let mut best = (f64::INFINITY, starts[which]);
        for at in from..=to - FEWEST {
            if at >= from + FEWEST && cost < best.0 {
                best = (cost, at);
            }
            cost += misfit(at, before) - misfit(at, after);
        }
        starts[which] = best.1;
    }
}

/// The start of a level that differs least from the one before, if by less
/// than [`LEAST`].
fn too_small(past: &Past, spread: &Spread, starts: &[usize]) -> Option<usize> {
    let least = LEAST * deviation(past, spread)?;
    let levels: Vec<f64> = stretches(past, starts)
        .map(|[from, to]| StretchLevel::between(past, spread, from, to).ln)
        .collect();
    let steps = levels.windows(2).map(|two| (two[1] - two[0]).abs());
    let smallest = steps.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (smallest.1 < least).then_some(smallest.0)
}

/// Standard deviation of one run, of the logarithm.
fn deviation(past: &Past, spread: &Spread) -> Option<f64> {
    let assumed = stats::median(past.assumed.iter().copied())?;
    Some((spread.factor * assumed).sqrt())
}

/// The level of a stretch.
struct StretchLevel {
    from: usize,
    to: usize,
    ln: f64,
    error: Variance,
}

impl StretchLevel {
    fn between(past: &Past, spread: &Spread, from: usize, to: usize) -> StretchLevel {
        let own = &past.ln[from..to];
        let median = stats::median(own.iter().copied()).unwrap_or(f64::NAN);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (ln, assumed) in own.iter().zip(&past.assumed[from..to]) {
            let reach = REACH * (spread.factor * assumed).sqrt();
            sum += (ln - median).clamp(-reach, reach) / assumed;
            weights += 1.0 / assumed;
        }
        StretchLevel {
            from,
            to,
            ln: median + sum / weights,
            error: Variance { value: spread.factor * spread.of_means() / weights, df: spread.df },
        }
    }

    fn interval(&self) -> Interval {
        Ratio { ln: self.ln, error: self.error }.interval_or_value()
    }

    /// This level over the one before.
    fn over(&self, before: &StretchLevel) -> Interval {
        let value = self.error.value + before.error.value;
        Ratio { ln: self.ln - before.ln, error: Variance { value, ..self.error } }
            .interval_or_value()
    }
}

fn segments(levels: &[StretchLevel]) -> Vec<Segment> {
    let before = |at: usize| at.checked_sub(1).map(|before| &levels[before]);
    levels
        .iter()
        .enumerate()
        .map(|(at, level)| Segment {
            from: level.from,
            to: level.to,
            level: level.interval(),
            ratio: before(at).map(|before| level.over(before)),
        })
        .collect()
}

/// The smallest change in the middle of a stretch that would be found with
/// [`POWER`].
fn detectable(past: &Past, spread: &Spread, [from, to]: [usize; 2]) -> Option<f64> {
    if to - from < 2 * FEWEST {
        return None;
    }
    let weights: f64 = past.assumed[from..to].iter().map(|a| 1.0 / a).sum();
    let error = (4.0 * spread.factor / weights).sqrt();
    let for_power = student::quantile(POWER, f64::INFINITY) * spread.of_means().sqrt();
    let found = (HistoryStretch { past, spread, ends: [from, to] }.limit() + for_power) * error;
    // It must come out above the least, too.
    let marked = LEAST * deviation(past, spread)? + for_power * error;
    Some(found.max(marked).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four runs that vary alike, of which one is far away.
    #[test]
    fn a_level_is_a_mean_that_one_odd_run_can_t_move_far() {
        let past = Past { ln: vec![1.0, 1.0, 1.0, 3.0], assumed: vec![0.01; 4] };
        let spread = Spread { factor: 4.0, df: 9.0, resemblance: 0.0 };
        let level = StretchLevel::between(&past, &spread, 0, 4);
        // 2.5 standard deviations of 0.2, shared by four.
        assert!((level.ln - (1.0 + 0.5 / 4.0)).abs() < 1e-12, "{}", level.ln);
        assert!((level.error.value - 0.04 / 4.0).abs() < 1e-12);
        assert_eq!(level.error.df, 9.0);
        // Runs that resemble each other say less.
        let alike = Spread { resemblance: 0.4, ..spread };
        let slow = 0.5 + 0.5 * 9.0;
        let level = StretchLevel::between(&past, &alike, 0, 4);
        assert!((level.error.value - slow * 0.01).abs() < 1e-12);
    }
}
