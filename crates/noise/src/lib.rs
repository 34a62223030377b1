//! Noise of the machine: controls with their state, set and restored exactly,
//! and their effect here.
//!
//! Prints nothing. All system files are read and written through
//! [`sys::files::Files`], so that a fake machine can stand for a real one.
#![forbid(unsafe_code)]

pub mod ab;
pub mod change;
pub mod control;
pub mod cpus;
#[cfg(any(test, feature = "fixtures"))]
pub mod machines;
mod pattern;
pub(crate) mod shield;
pub mod tune;
