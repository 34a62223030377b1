//! Two threads that hand over to each other: what a wake-up costs.

pub(crate) mod means;
pub(crate) mod pair;
pub(crate) mod placement;
mod play;
mod rows;
pub(crate) mod switches;

pub(crate) use rows::probes;
