//! Apple systems place threads themselves, by QoS class: there is no set of
//! CPUs to read or to choose.

use std::io;

use crate::platform::unsupported;

pub(crate) fn allowed_to(_task: libc::pid_t) -> io::Result<Vec<u32>> {
    Err(unsupported("a way to choose a thread's CPUs"))
}

pub fn current_cpu() -> Option<u32> {
    None
}
