//! The clock of the core that a run measured on.

use crate::movement::{Moved, NORMAL_975, StoredFigure};
use crate::phrases::counted;
use crate::share::half;
use crate::stats::Interval;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The core's clock as the canaries saw it, from chains of dependent adds of
/// one cycle each, over the whole run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockMovement {
    /// 95 % of pairs of runs are expected to differ by at most this, as a
    /// logarithm of the ratio of their clocks: 0.03 is 3 %.
    pub relative: f64,
    /// How that is known.
    pub source: MovementSource,
}

/// How a movement of the core clock is known.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl ClockMovement {
    /// What is assumed where too few runs are stored. Of eleven core-bound rows
    /// in five runs each, (max - min) / median in ns was 6.6 %, all of it the
    /// clock's (docs/method.md): a standard deviation of 6.6 / 2.33 = 2.8 %, with
    /// which 95 % of pairs of runs differ by at most 1.96 * sqrt(2) * 2.8 = 8 %.
    pub const FLOOR: ClockMovement =
        ClockMovement { relative: 0.08, source: MovementSource::Floor };

    /// From the median cycles of a machine's stored runs, in any order. Few of them may
    /// widen what is assumed, and don't replace it.
    pub fn from_clocks(clocks: &[StoredFigure]) -> ClockMovement {
        let moved = Moved::from_figures(clocks);
        let least = if moved.is_known() { 0.0 } else { ClockMovement::FLOOR.relative };
        match moved.relative.filter(|relative| *relative >= least) {
            Some(relative) => ClockMovement {
                relative,
                source: MovementSource::Stored { runs: moved.runs, pairs: moved.pairs },
            },
            None => ClockMovement::FLOOR,
        }
    }
}

/// The standard deviation of one run's clock, where 95 % of pairs of runs stay
/// within this movement.
pub(crate) fn deviation(relative: f64) -> f64 {
    relative / (NORMAL_975 * std::f64::consts::SQRT_2)
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

    fn stored_clock(minute: u64, cycle_ns: f64) -> StoredFigure {
        StoredFigure { started_unix_ms: minute * 60_000, ns: cycle_ns }
    }

    #[test]
    fn without_stored_runs_it_is_assumed() {
        assert_eq!(ClockMovement::from_clocks(&[]), ClockMovement::FLOOR);
        assert_eq!(ClockMovement::from_clocks(&[stored_clock(0, 0.25)]), ClockMovement::FLOOR);
        let broken = [stored_clock(0, 0.0), stored_clock(1, f64::NAN), stored_clock(2, -1.0)];
        assert_eq!(ClockMovement::from_clocks(&broken), ClockMovement::FLOOR);
        assert_eq!(ClockMovement::FLOOR.to_string(), "±8.0 % (assumed: too few stored runs)");
    }

    #[test]
    fn few_runs_widen_what_is_assumed_and_never_narrow_it() {
        let steady: Vec<_> = (0..5).map(|k| stored_clock(k, 0.25)).collect();
        assert_eq!(ClockMovement::from_clocks(&steady), ClockMovement::FLOOR);
        let moved = ClockMovement::from_clocks(&[stored_clock(0, 0.25), stored_clock(5, 0.30)]);
        assert!((moved.relative - 1.2_f64.ln()).abs() < 1e-12, "{moved:?}");
        let source = MovementSource::Stored { runs: 2, pairs: 1 };
        assert_eq!(moved.source, source);
    }

    #[test]
    fn six_runs_of_an_hour_replace_it() {
        let steady: Vec<_> = (0..6).map(|k| stored_clock(k * 10, 0.25)).collect();
        let found = ClockMovement::from_clocks(&steady);
        assert_eq!(found.relative, 0.0);
        assert_eq!(found.to_string(), "±0.0 % (6 stored runs)");
    }

    #[test]
    fn runs_of_other_hours_are_no_pairs() {
        // Two clocks, half a day apart: within an hour nothing moved.
        let mut runs: Vec<_> = (0..6).map(|k| stored_clock(k * 10, 0.25)).collect();
        runs.extend((0..6).map(|k| stored_clock(720 + k * 10, 0.30)));
        let found = ClockMovement::from_clocks(&runs);
        assert_eq!(found.relative, 0.0, "{found:?}");
        let source = MovementSource::Stored { runs: 12, pairs: 30 };
        assert_eq!(found.source, source);
        // The order says nothing.
        runs.reverse();
        assert_eq!(ClockMovement::from_clocks(&runs), found);
    }

    #[test]
    fn one_stray_run_of_many_says_little() {
        // 59 pairs of 1770.
        let mut runs: Vec<_> = (0..60).map(|k| stored_clock(k, 0.25)).collect();
        runs[7].ns = 0.5;
        assert!(ClockMovement::from_clocks(&runs).relative < 0.01);
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
            between_runs: Some(ClockMovement::from_clocks(&[
                stored_clock(0, 0.25),
                stored_clock(5, 0.30),
            ])),
            ..clock
        };
        let text = serde_json::to_string(&with).expect("text");
        assert_eq!(serde_json::from_str::<CoreClock>(&text).expect("read"), with);
    }
}
