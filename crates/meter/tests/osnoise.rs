//! The detour detector on a scripted machine: known detours in, the very same out.
//! No clock of the real machine takes part but in the last two tests, which
//! compare counts.
#![allow(clippy::disallowed_methods)]

extern crate latlas_meter as meter;

#[path = "osnoise/scripted.rs"]
mod scripted;

#[path = "osnoise/attribution.rs"]
mod attribution;
#[path = "osnoise/clock.rs"]
mod clock;
#[path = "osnoise/real.rs"]
mod real;
#[path = "osnoise/sums.rs"]
mod sums;
