//! Apple systems. Type-checked, never run: latlas was written without one.

pub(crate) mod affinity;
pub(crate) mod attached;
pub(crate) mod command;
pub(crate) mod controls;
pub(crate) mod counters;
pub(crate) mod direct_io;
pub(crate) mod dispatch;
pub(crate) mod eventfd;
pub(crate) mod evidence;
pub(crate) mod filesystem;
pub(crate) mod futex;
pub(crate) mod heap;
pub(crate) mod interrupts;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod numa;
pub(crate) mod page_cache;
pub(crate) mod pages;
pub(crate) mod power;
pub(crate) mod process;
pub(crate) mod semaphore;
mod sysctl;
pub(crate) mod system_calls;
pub(crate) mod task_records;
pub(crate) mod thread;
pub(crate) mod timer;
pub(crate) mod vdso;
