//! Pictures as data: what is drawn of a run, apart from how. `plot` and the
//! report draw them as the same SVG; their figures are the document's.

mod bins;
mod comparison;
mod cpu_history;
mod csv;
mod curves;
mod decimate;
mod distribution;
mod effects;
pub(crate) mod figure;
mod files;
pub(crate) mod forest;
pub mod history;
mod judged;
mod knobs;
mod ladder;
pub(crate) mod lanes;
mod maker;
mod memory;
mod noise;
mod of_run;
mod paint;
mod paired;
mod percentiles;
mod pick;
mod place;
mod published;
mod shares;
mod slopes;
mod source;
mod standing;
pub mod svg;
mod table;
mod threads;
mod writes;

pub(crate) use crate::quantity::{axis_number as number, in_unit, scale_of};
pub(crate) use comparison::numbered;
pub use comparison::of_comparison;
pub use cpu_history::of_cpu_history;
pub(crate) use cpu_history::{CPU_PARTS, newest_intervals, of_cpu_history_while};
pub use csv::csv;
pub(crate) use csv::short_csv;
pub use decimate::extremes;
pub use distribution::of_row;
pub use effects::of_effects;
pub use judged::of_judgment;
pub(crate) use knobs::of_knobs;
pub use lanes::{MOST_THREADS, of_trace};
pub(crate) use memory::{NAIVE_LOOP, staircase};
pub use of_run::{LeftOut, of_run, one, pictures};
pub use paint::{PaintError, pdf, png};
pub use paired::of_paired;
pub use pick::{PickError, ladder_line, only, pick};
pub(crate) use place::PLACE;
pub use published::without_figures;
pub(crate) use shares::of_shares;
pub use slopes::of_slopes;
pub use source::{OtherRun, Picture, footer, name_of};
pub use standing::standing;
pub use table::tables;

pub use model::chart::*;

#[cfg(test)]
pub(crate) mod tests;
