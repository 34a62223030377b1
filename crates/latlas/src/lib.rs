//! The program `latlas`: what does each common operation cost on this machine? And what the programs beside it
//! share with it ([`program`]): their frame, the configuration, output, and measuring.
//!
//! It is no library for others: `meter` is.
#![forbid(unsafe_code)]
// They panic where they can't print: `output` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arguments;
pub mod catalogue;
pub mod command;
pub mod config;
mod echo;
pub mod ending;
mod glossary;
pub mod output;
mod packs;
mod pager;
mod pages;
pub mod program;
mod programs;
mod progress;
mod selection;
mod start;

pub use start::{latlas, measuring_role, program_beside};

/// A row crossed the gate set with --fail-above.
pub const GATE_CROSSED: u8 = 1;
/// `latlas fit`: the machine is not the one expected.
const DIFFERS: u8 = 1;
/// Done, but the result is unreliable.
pub const UNRELIABLE: u8 = 3;
/// The request can't be carried out.
pub const REFUSED: u8 = 2;
