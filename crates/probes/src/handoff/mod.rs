//! Two threads that pass a token back and forth: the rows `sync.handoff` and `sync.semaphore_switch` are in
//! `rows.rs`. `means.rs`: futex, pipe, socket, ...; `placement.rs`: on which CPUs. The frame (`pair.rs`,
//! `plan.rs`) is also that of rows of `net/` and of the semaphores of `dispatch/`.

pub(crate) mod means;
pub(crate) mod pair;
pub(crate) mod placement;
pub(crate) mod plan;
mod play;
pub(crate) mod rows;
mod switches;
pub(crate) mod token;

pub(crate) use rows::handoff_probes;
