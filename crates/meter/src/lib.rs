//! The meter of latlas: measures what an operation costs, and says how far
//! the figure can be trusted.
//!
//! It is a library of its own: see [`function::Session`] and
//! `examples/my_function.rs`.
//!
//! The way of a number here: [`plan::plan`] lays out cells, workers and
//! visits; [`conduct::conduct`] sends worker processes ([`worker`]) to visit
//! them in a shuffled order; a visit ([`visit`]) restores the working set and
//! takes short samples between canaries ([`surroundings`]); and
//! [`assemble`] makes the Run document of what came back.
#![forbid(unsafe_code)]

pub mod assemble;
pub mod bench;
pub mod clock;
pub mod commands;
pub mod conduct;
pub mod controls;
pub mod core_kind;
pub mod crew;
mod disk_room;
pub mod extra;
pub mod found;
pub mod function;
pub mod gaps;
pub mod pace;
mod place;
pub mod plan;
pub mod probe;
mod rounds;
pub mod schedule;
pub mod scratch;
pub mod surroundings;
pub mod visit;
pub mod wire;
pub mod worker;
