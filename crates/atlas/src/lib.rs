//! What is kept, set beside other figures, and drawn: the store of runs, the
//! published references, and pure functions from a Run document to text.
//! Nothing here measures or prints.
#![forbid(unsafe_code)]

pub mod compare;
pub mod exchange;
mod nearest;
pub mod pattern;
pub mod references;
pub mod render;
pub mod schema;
pub mod store;
pub mod tables;
mod utc;

pub use nearest::{nearest, suggestion};
