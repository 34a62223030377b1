//! Apple systems. Type-checked, never run: latlas was written without one.
//! What is public is documented at its Linux twin.
#![allow(missing_docs)]

pub(crate) mod affinity;
pub(crate) mod controls;
pub(crate) mod counters;
pub(crate) mod evidence;
pub(crate) mod filesystem;
pub(crate) mod group;
pub(crate) mod interrupts;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod perf_ring;
pub(crate) mod power;
mod qos_class;
pub(crate) mod settings;
mod sysctl;
pub(crate) mod task_records;
