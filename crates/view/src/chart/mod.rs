//! Pictures as data: what is drawn of a run, apart from how. `plot` and the
//! report draw them as the same SVG; their figures are the document's.

mod bins;
mod comparison;
mod cpu_history;
mod csv;
mod curves;
mod decimate;
mod distribution;
pub(crate) mod figure;
mod files;
pub mod history;
mod ladder;
mod lanes;
mod maker;
mod memory;
mod noise;
mod of_run;
mod paint;
mod percentiles;
mod pick;
mod source;
mod standing;
pub mod svg;
mod table;
mod threads;

pub(crate) use crate::quantity::{in_unit, scale_of, text as number};
pub use comparison::of_comparison;
pub use cpu_history::of_cpu_history;
pub use csv::csv;
pub use decimate::extremes;
pub use distribution::of_row;
pub use lanes::{MOST_THREADS, of_trace};
pub(crate) use memory::{NAIVE_LOOP, staircase};
pub use of_run::{LeftOut, of_run, one, pictures};
pub use paint::{PaintError, pdf, png};
pub use pick::{PickError, only, pick};
pub use source::{OtherRun, Picture, footer, name_of};
pub use standing::standing;
pub use table::tables;

pub use model::chart::*;

#[cfg(test)]
pub(crate) mod tests;
