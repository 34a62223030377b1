//! The cases of both.

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
