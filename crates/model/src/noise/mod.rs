//! What is known of a machine's noise: OS noise, the controls set for
//! a run, the controls with their state, and their effects.

pub mod applied;
pub mod control;
pub mod effect;
pub mod osnoise;
