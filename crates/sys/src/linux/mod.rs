//! Linux and Android.

pub(crate) mod affinity;
pub(crate) mod cgroup;
pub(crate) mod evidence;
pub(crate) mod files;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod semaphore;
