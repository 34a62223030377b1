//! How far a figure of a machine moves from one run to the next.

use crate::stats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure of a stored run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredFigure {
    /// When the run began, ms since 1970 UTC.
    pub started_unix_ms: u64,
    /// The figure, ns.
    pub ns: f64,
}

/// Runs that begin within this time of each other are a pair.
pub const NEIGHBOURS_MS: u64 = 3_600_000;
/// Share of the pairs that stay within the movement.
const PAIRS_WITHIN: f64 = 0.95;
/// Pairs that make it known: those of six runs within an hour.
const LEAST_PAIRS: u32 = 15;
/// Half of a 95 % interval in standard deviations.
pub(crate) const NORMAL_975: f64 = 1.96;

/// How far figures move, by row and point (none of a row that is one figure).
pub type MovementOfRows = BTreeMap<(String, Vec<u64>), Moved>;

/// What the pairs of a machine's runs say.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// By how much 95 % of pairs differ at most, as a logarithm of their ratio; of few pairs
    /// the largest, and absent where there is none.
    pub relative: Option<f64>,
    /// Runs with a figure.
    pub runs: u32,
    /// Pairs that began within [`NEIGHBOURS_MS`].
    pub pairs: u32,
}

impl Moved {
    /// From figures in any order: the quantile of their pairs, larger by what Student's t is than
    /// the normal quantile, since few runs know little of their spread.
    pub fn from_figures(figures: &[StoredFigure]) -> Moved {
        let usable = |figure: &&StoredFigure| figure.ns > 0.0 && figure.ns.is_finite();
        let figures: Vec<&StoredFigure> = figures.iter().filter(usable).collect();
        let mut moved = Vec::new();
        for (at, one) in figures.iter().enumerate() {
            let others = figures[at + 1..].iter();
            let near = others.filter(|other| {
                one.started_unix_ms.abs_diff(other.started_unix_ms) <= NEIGHBOURS_MS
            });
            moved.extend(near.map(|other| (one.ns / other.ns).ln().abs()));
        }
        let found = Moved { relative: None, runs: figures.len() as u32, pairs: moved.len() as u32 };
        let (share, larger) = match found.is_known() {
            true => (PAIRS_WITHIN, stats::t_quantile_975(figures.len() - 1) / NORMAL_975),
            false => (1.0, 1.0),
        };
        let relative = stats::quantile_sorted(&stats::sorted(moved), share);
        Moved { relative: relative.map(|relative| relative * larger), ..found }
    }

    /// Whether there are enough pairs to know it.
    pub fn is_known(&self) -> bool {
        self.pairs >= LEAST_PAIRS
    }
}
