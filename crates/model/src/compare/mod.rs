//! The statistics of setting one run against another, apart from any document
//! or drawing. `docs/compare.md` tells them in words.
//!
//! The way of one row: [`measure`] (which figures may be compared) →
//! [`reading::Reading`] of each run → [`between`] (what runs differ by beyond
//! their intervals) → [`ratio::Ratio`] → [`finding`] (all rows together, since
//! many rows are many chances to be fooled).

pub mod between;
pub mod exchange;
pub mod finding;
pub mod gate;
pub mod measure;
pub mod multiplicity;
pub mod permuted;
pub mod ratio;
pub mod reading;
pub mod runs;
pub mod student;
