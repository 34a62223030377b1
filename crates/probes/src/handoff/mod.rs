//! Two threads that hand over to each other: what a wake-up costs.

pub(crate) mod means;
pub(crate) mod pair;
pub(crate) mod placement;
pub(crate) mod plan;
mod play;
pub(crate) mod rows;
mod switches;
pub(crate) mod token;

pub(crate) use rows::probes;
