//! A row over many runs of one machine: where its level changed, and which
//! change would have shown. `docs/history.md` tells the test in words and what
//! it comes to in simulation.
//!
//! The way: [`Past`] (logarithms, each with what one run is assumed to vary
//! by) → [`spread`] (how much more the runs really vary, and whether one
//! resembles the one before) → [`scan`] (the largest step over all places) →
//! [`null`] (how large it comes out where nothing changed) → [`change`]
//! (segments with their levels).

pub mod change;
mod null;
mod scan;
mod spread;

use crate::compare::between::Wander;
use crate::compare::reading::Reading;

/// Fewest runs on either side of a change: one or two odd runs are no other
/// level.
pub const FEWEST: usize = 3;
/// Runs that are looked at most: time grows faster than their number, and what
/// changed so many runs ago is seen in the picture.
pub const NEWEST: usize = 200;
/// The chance that a history without any change gets a mark.
pub const LEVEL: f64 = 0.01;

/// Figures of one row over time, the oldest first, on the logarithmic scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Logarithms of the figures.
    ln: Vec<f64>,
    /// The variance that each is assumed to have among runs.
    assumed: Vec<f64>,
}

impl Past {
    /// From the readings of runs, which are assumed to vary as a comparison
    /// assumes it.
    pub fn from_readings(readings: &[Reading], wander: Wander) -> Past {
        let usable = |r: &&Reading| Past::takes(r, wander);
        let used: Vec<&Reading> = readings.iter().filter(usable).collect();
        Past {
            ln: used.iter().map(|r| r.ln).collect(),
            assumed: used.iter().map(|r| wander.among_runs(r)).collect(),
        }
    }

    /// Whether a reading is taken: one that is no number, or of which nothing
    /// is known, is left out.
    pub fn takes(reading: &Reading, wander: Wander) -> bool {
        reading.ln.is_finite() && wander.among_runs(reading).is_finite()
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.ln.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ln.is_empty()
    }
}
