//! What `latlas noise` prints.

pub(super) mod effects;
pub(super) mod osnoise;
mod show;

pub use show::show;
