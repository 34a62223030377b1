//! Blocks for `latlas noise`: `show.rs` for the controls, `osnoise.rs` for a measured CPU, `effects.rs` for
//! `noise ab`. What `noise tune` set and restored is printed by the command itself.

pub(super) mod effects;
pub(super) mod osnoise;
mod show;

pub use show::controls_blocks;
