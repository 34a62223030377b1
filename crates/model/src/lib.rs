//! Types and arithmetic of latlas, with no input or output and no `unsafe`.
//!
//! The way of one number, as far as it lies here:
//! [`sample::Sample`] (what one bracket of the clock saw, with the evidence
//! with it) → [`gate::Gate`] (was the machine quiet then?) →
//! [`estimate::Estimate`] (quiet, typical, interval, verdict) →
//! [`run::Run`] (the document that everything later is drawn from).
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod campaign;
pub mod chart;
pub mod clusters;
pub mod command;
pub mod compare;
pub mod conditions;
pub mod context;
pub mod core_clock;
pub mod cpu_history;
pub mod cpu_wait;
mod dip;
pub mod distribution;
pub mod estimate;
pub mod estimator;
pub mod experiment;
pub mod figure;
pub mod filesystem;
pub mod fit;
pub mod gate;
pub mod history;
pub mod host_facts;
pub mod imported;
pub mod interleaved;
mod interval;
pub mod json;
pub mod judged;
pub mod keyed;
pub mod limits;
pub mod loop_cost;
mod low_end;
pub mod machine;
pub mod machine_readings;
pub mod misfit;
mod missing_points;
pub mod movement;
pub mod nearest;
pub mod noise;
pub mod older;
pub mod overview;
pub mod paired;
pub mod pattern;
pub mod phrases;
pub mod plateau;
pub mod printable;
pub mod program;
pub mod qos;
mod recorded;
pub mod regression;
mod repeatable_random;
pub mod repeats;
pub mod repetitions;
pub mod residency;
pub mod ridge;
pub mod row_kind;
pub mod run;
pub mod sample;
pub mod sample_columns;
pub mod selection_bias;
pub mod sequential;
pub mod setting;
pub mod share;
pub mod shown;
pub mod size;
mod spread;
mod states;
pub mod stats;
pub mod story;
pub mod summary;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
pub mod tail;
pub mod tally;
pub mod trace;
pub mod unit;
pub mod user_dir;
pub mod utc;
mod words;

pub use run::recording;
