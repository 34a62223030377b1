//! Two sides row by row: what they share, the ratio with its interval, and
//! what may be said of it. The statistics are `model::compare`; here documents
//! become their input, and their answers a [`Comparison`] to print.
//!
//! Everything is a pure function of the documents; nothing here reads files.

mod alike;
mod bases;
mod comparison;
mod core_unit;
pub mod gate;
mod held_out;
pub mod history;
pub mod judged;
pub mod no_reference;
mod normalize;
pub mod obstacle;
pub mod operand;
mod options;
pub mod paired;
mod pairwise;
pub mod references;
pub(crate) mod row;
pub mod selftest;
pub(crate) mod shared;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod traces;

pub use alike::{Difference, alike, files_alike};
pub use comparison::{Comparison, Method, RunFacts, SideFacts};
pub use operand::{FigureSource, Operand};
pub use options::{CompareError, MEMORY_REFERENCE, Normalize, Options, USUAL_MARGIN};
pub use pairwise::compare;
pub use row::{ComparedRow, Direction, Ends, RatioFigure, SideFigure};
