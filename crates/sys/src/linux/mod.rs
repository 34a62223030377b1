//! What needs much code on Linux and Android. `platform.rs` chooses between this folder and `apple/`: files
//! that both have offer the same functions, and the modules above are the interface. `blocked.rs`,
//! `perf_event.rs` and `start.rs` serve only the files of this folder.

pub(crate) mod affinity;
mod blocked;
pub(crate) mod cgroup;
pub(crate) mod controls;
pub(crate) mod counters;
pub(crate) mod evidence;
pub(crate) mod filesystem;
pub(crate) mod group;
pub(crate) mod interrupts;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod pages;
mod perf_event;
pub(crate) mod perf_ring;
pub(crate) mod settings;
mod start;
pub(crate) mod starter;
pub(crate) mod task_records;
