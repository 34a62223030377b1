//! What is kept, set beside other figures, and drawn: the store of runs, the
//! published references, and pure functions from a Run document to text.
//! Nothing here measures or prints.
#![forbid(unsafe_code)]

pub mod chart;
pub mod compare;
mod crash;
pub mod exchange;
pub mod history;
pub mod index;
pub mod input;

pub mod pattern;
pub mod references;
pub mod render;
pub mod report;
pub mod schema;
pub mod store;
pub mod tables;
pub mod text;
pub mod utc;

pub use model::nearest::{nearest, suggestion};
