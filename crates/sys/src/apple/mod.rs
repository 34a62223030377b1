//! Apple systems. Type-checked, never run: latlas was written without one.

pub(crate) mod affinity;
pub(crate) mod evidence;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod process;
mod sysctl;
pub(crate) mod task_records;
pub(crate) mod thread;
