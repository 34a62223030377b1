//! The clock of the core that a run measured on.

use crate::share::half;
use crate::stats::{self, Interval};
use crate::text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The core's clock as the canaries saw it, from chains of dependent adds of
/// one cycle each, over the whole run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
pub struct CoreClock {
    /// Length of a cycle in ns: the median over the run, with an interval
    /// from stretches of the run.
    pub cycle_ns: Interval,
    /// 10 % quantile, ns.
    pub p10_ns: f64,
    /// 90 % quantile, ns.
    pub p90_ns: f64,
    /// Shortest cycle (1 % quantile), ns.
    pub shortest_ns: f64,
    /// Longest cycle (99 % quantile), ns.
    pub longest_ns: f64,
    /// Readings behind it.
    pub readings: u32,
    /// How far the clock moves from one run to the next; absent in documents
    /// that don't say, whose intervals in ns hold for their own clock only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<ClockMovement>,
}

/// How far the core clock moves between two runs of a machine that begin within
/// an hour of each other.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
pub struct ClockMovement {
    /// 95 % of pairs of runs are expected to differ by at most this, as a
    /// logarithm of the ratio of their clocks: 0.03 is 3 %.
    pub relative: f64,
    /// How that is known.
    pub source: MovementSource,
}

/// How a movement of the core clock is known.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum MovementSource {
    /// Assumed: too few stored runs, or these moved by less.
    Floor,
    /// From stored runs of this machine.
    Stored {
        /// Runs.
        runs: u32,
        /// Pairs of them that began within an hour.
        pairs: u32,
    },
}

/// A stored run's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredClock {
    /// When the run began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// Its median cycle, ns.
    pub cycle_ns: f64,
}

/// Runs that begin within this time of each other are a pair.
pub const NEIGHBOURS_MS: u64 = 3_600_000;
/// Share of the pairs that stay within the movement.
const PAIRS_WITHIN: f64 = 0.95;
/// Fewer pairs (15 are those of six runs within an hour) may widen what is
/// assumed, and don't replace it.
const LEAST_PAIRS: usize = 15;

impl ClockMovement {
    /// What is assumed where too few runs are stored. Of eleven core-bound rows
    /// in five runs each, (max - min) / median in ns was 6.6 %, all of it the
    /// clock's (docs/method.md): a standard deviation of 6.6 / 2.33 = 2.8 %, with
    /// which 95 % of pairs of runs differ by at most 1.96 * sqrt(2) * 2.8 = 8 %.
    pub const FLOOR: ClockMovement =
        ClockMovement { relative: 0.08, source: MovementSource::Floor };

    /// From the clocks of a machine's stored runs, in any order: the quantile of
    /// their pairs, larger by what Student's t is than the normal quantile, since
    /// few runs know little of their spread. Of few pairs the largest, if it is
    /// more than what is assumed.
    pub fn of(clocks: &[StoredClock]) -> ClockMovement {
        let usable = |clock: &&StoredClock| clock.cycle_ns > 0.0 && clock.cycle_ns.is_finite();
        let clocks: Vec<&StoredClock> = clocks.iter().filter(usable).collect();
        let mut moved = Vec::new();
        for (at, one) in clocks.iter().enumerate() {
            let others = clocks[at + 1..].iter();
            let near = others.filter(|other| {
                one.started_unix_ms.abs_diff(other.started_unix_ms) <= NEIGHBOURS_MS
            });
            moved.extend(near.map(|other| (one.cycle_ns / other.cycle_ns).ln().abs()));
        }
        let moved = stats::sorted(moved);
        let (share, larger, least) = match moved.len() >= LEAST_PAIRS {
            true => (PAIRS_WITHIN, stats::t_quantile_975(clocks.len() - 1) / HALF, 0.0),
            false => (1.0, 1.0, ClockMovement::FLOOR.relative),
        };
        match stats::quantile_sorted(&moved, share) {
            Some(relative) if relative * larger >= least => ClockMovement {
                relative: relative * larger,
                source: MovementSource::Stored {
                    runs: clocks.len() as u32,
                    pairs: moved.len() as u32,
                },
            },
            _ => ClockMovement::FLOOR,
        }
    }
}

/// Half of a 95 % interval in standard deviations.
const HALF: f64 = 1.96;

/// The standard deviation of one run's clock, where 95 % of pairs of runs stay
/// within this movement.
pub(crate) fn deviation(relative: f64) -> f64 {
    relative / (HALF * std::f64::consts::SQRT_2)
}

impl Default for ClockMovement {
    fn default() -> ClockMovement {
        ClockMovement::FLOOR
    }
}

impl fmt::Display for ClockMovement {
    /// `±3.1 % (12 stored runs)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", half(self.relative))?;
        match self.source {
            MovementSource::Floor => f.write_str("(assumed: too few stored runs)"),
            MovementSource::Stored { runs, .. } => {
                write!(f, "({})", counted(runs as usize, "stored run"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(minute: u64, cycle_ns: f64) -> StoredClock {
        StoredClock { started_unix_ms: minute * 60_000, cycle_ns }
    }

    #[test]
    fn without_stored_runs_it_is_assumed() {
        assert_eq!(ClockMovement::of(&[]), ClockMovement::FLOOR);
        assert_eq!(ClockMovement::of(&[run(0, 0.25)]), ClockMovement::FLOOR);
        let broken = [run(0, 0.0), run(1, f64::NAN), run(2, -1.0)];
        assert_eq!(ClockMovement::of(&broken), ClockMovement::FLOOR);
        assert_eq!(ClockMovement::FLOOR.to_string(), "±8.0 % (assumed: too few stored runs)");
    }

    #[test]
    fn few_runs_widen_what_is_assumed_and_never_narrow_it() {
        let steady: Vec<_> = (0..5).map(|k| run(k, 0.25)).collect();
        assert_eq!(ClockMovement::of(&steady), ClockMovement::FLOOR);
        let moved = ClockMovement::of(&[run(0, 0.25), run(5, 0.30)]);
        assert!((moved.relative - 1.2_f64.ln()).abs() < 1e-12, "{moved:?}");
        let source = MovementSource::Stored { runs: 2, pairs: 1 };
        assert_eq!(moved.source, source);
    }

    #[test]
    fn six_runs_of_an_hour_replace_it() {
        let steady: Vec<_> = (0..6).map(|k| run(k * 10, 0.25)).collect();
        let found = ClockMovement::of(&steady);
        assert_eq!(found.relative, 0.0);
        assert_eq!(found.to_string(), "±0.0 % (6 stored runs)");
    }

    #[test]
    fn runs_of_other_hours_are_no_pairs() {
        // Two clocks, half a day apart: within an hour nothing moved.
        let mut runs: Vec<_> = (0..6).map(|k| run(k * 10, 0.25)).collect();
        runs.extend((0..6).map(|k| run(720 + k * 10, 0.30)));
        let found = ClockMovement::of(&runs);
        assert_eq!(found.relative, 0.0, "{found:?}");
        let source = MovementSource::Stored { runs: 12, pairs: 30 };
        assert_eq!(found.source, source);
        // The order says nothing.
        runs.reverse();
        assert_eq!(ClockMovement::of(&runs), found);
    }

    #[test]
    fn one_stray_run_of_many_says_little() {
        // 59 pairs of 1770.
        let mut runs: Vec<_> = (0..60).map(|k| run(k, 0.25)).collect();
        runs[7].cycle_ns = 0.5;
        assert!(ClockMovement::of(&runs).relative < 0.01);
    }

    #[test]
    fn a_document_without_it_reads() {
        let text = r#"{"cycle_ns":{"value":0.3,"low":0.3,"high":0.3},"p10_ns":0.3,
            "p90_ns":0.3,"shortest_ns":0.3,"longest_ns":0.3,"readings":1}"#;
        let clock: CoreClock = serde_json::from_str(text).expect("an older document");
        assert_eq!(clock.between_runs, None);
        let again = serde_json::to_string(&clock).expect("text");
        assert!(!again.contains("between_runs"), "{again}");
        let with = CoreClock {
            between_runs: Some(ClockMovement::of(&[run(0, 0.25), run(5, 0.30)])),
            ..clock
        };
        let text = serde_json::to_string(&with).expect("text");
        assert_eq!(serde_json::from_str::<CoreClock>(&text).expect("read"), with);
    }
}
