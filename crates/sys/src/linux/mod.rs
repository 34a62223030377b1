//! Linux and Android.

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
