//! Noise of the machine, and what can be done about it: controls with their
//! state, set and put back exactly, and what each of them is worth here.
//!
//! Prints nothing. All system files are read and written through
//! [`files::Files`], so that a fake machine can stand for a real one.
#![forbid(unsafe_code)]

pub mod ab;
pub mod change;
pub mod control;
pub mod files;
#[cfg(any(test, feature = "fixtures"))]
pub mod machines;
pub(crate) mod shield;
pub mod tune;
