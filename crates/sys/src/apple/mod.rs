//! Apple systems. Type-checked, never run: latlas was written without one.

pub(crate) mod affinity;
pub(crate) mod evidence;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod semaphore;
mod sysctl;
