//! What `latlas noise` prints.

mod effects;
pub(super) mod osnoise;
mod show;

pub use effects::effects;
pub use osnoise::osnoise;
pub use show::show;
