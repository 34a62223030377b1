//! Two threads that hand over to each other: what a wake-up costs.

pub(crate) mod means;
mod modes;
pub(crate) mod pair;
pub(crate) mod placement;
mod play;
mod rows;
pub(crate) mod switches;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use rows::probes;
