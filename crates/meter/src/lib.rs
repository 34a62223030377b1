//! The meter of latlas: measures what an operation costs, and says how far
//! the figure can be trusted.
//!
//! It is a library of its own: see [`function::Session`] and
//! `examples/my_function.rs`.
//!
//! The way of a number here: [`plan::plan`] lays out cells, workers and
//! visits; [`conduct::conduct`] sends worker processes ([`worker`]) to visit
//! them in a shuffled order; a visit ([`visit`]) restores the working set and
//! takes short samples between canaries ([`environment`]); and
//! [`assemble`] makes the Run document of what came back.
#![warn(missing_docs)]
// Threads of tests may panic where there are none.
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub use {compare, model};

pub mod assemble;
pub mod cell_state;
pub mod clock;
pub mod commands;
pub mod conduct;
pub mod controls;
pub mod core_kind;
pub mod cpu_history;

pub mod disk_room;
pub mod environment;
pub mod extra;
pub mod function;
mod in_process;
pub mod machine_shape;
pub mod measuring_lock;
pub mod observer;
pub mod one_visit;
pub mod osnoise;
pub mod pace;
pub mod pack;
pub mod placement;
pub mod plan;
pub mod probe;
pub mod program;
pub mod rejudge;
mod rounds;
mod row_notes;
pub mod run_context;
pub mod run_remark;
pub mod schedule;
pub mod scratch;
mod shared_parts;
pub mod visit;
pub mod waits;
pub mod wire;
pub mod work;
pub mod worker;
pub mod worker_memory;
pub mod worker_pool;
