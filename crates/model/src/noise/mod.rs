//! What is known of a machine's noise: gaps in a thread's time, what was set
//! against them for a run, the controls with their state, and their effects.

pub mod applied;
pub mod control;
pub mod effect;
pub mod gaps;
