//! The suites of others: a harness is data ([`Adapter`]), which says what tells it, how it is built, lists its
//! benchmarks, runs one, and which of the store's importers reads the result. A seventh is a file of the user's.

mod adapter;
mod build;
mod detect;
mod environment;
mod error;
mod explain;
mod fill;
mod layout;
mod line;
mod listing;
mod options;
mod programs;
mod results;
mod suites;

pub use adapter::{Adapter, AdapterError};
pub use error::HarnessError;
pub use explain::Explanation;
pub use options::SuiteOptions;
pub use suites::Suites;
