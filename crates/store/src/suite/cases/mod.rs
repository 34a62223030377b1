//! The tests that hold for runs in a directory and in a database, a file for each topic. The folder above
//! runs them on both; what is about the index file alone is in `index/tests`.

mod answers;
mod percentiles;
mod runs;
mod tags;
mod writers;

pub(super) use answers::*;
pub(super) use percentiles::*;
pub(super) use runs::*;
pub(super) use tags::*;
pub(super) use writers::*;
