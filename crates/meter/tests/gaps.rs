//! The gap detector on a scripted machine: known gaps in, the very same out.
//! No clock of the real machine takes part but in the last two tests, which
//! compare counts.

#[path = "gaps/scripted.rs"]
mod scripted;

#[path = "gaps/attribution.rs"]
mod attribution;
#[path = "gaps/clock.rs"]
mod clock;
#[path = "gaps/real.rs"]
mod real;
#[path = "gaps/sums.rs"]
mod sums;
