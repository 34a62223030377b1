//! Rows of threads: created and joined (`create_join.rs`), and the life of one that has work to do
//! (`lifecycle.rs`). `end.rs` finds out when a thread is gone, `joins.rs` checks how often its creator left
//! the CPU.

mod create_join;
mod end;
mod joins;
mod lifecycle;

use meter::probe::Probe;

pub(crate) fn thread_probes() -> Vec<Probe> {
    vec![create_join::create_join_probe(), lifecycle::lifecycle_probe()]
}
