//! What `latlas noise` prints.

mod effects;
pub(super) mod gaps;
mod show;

pub use effects::effects;
pub use gaps::gaps;
pub use show::{ShowOptions, show};
