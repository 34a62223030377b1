//! Apple systems place threads themselves, by quality of service; there is
//! no set of CPUs to read or to choose.

use std::io;

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems do not let a thread choose its CPUs",
    ))
}

pub(crate) fn allowed_cpus() -> io::Result<Vec<u32>> {
    unsupported()
}

pub(crate) fn set_allowed(_cpus: &[u32]) -> io::Result<()> {
    unsupported()
}

pub(crate) fn set_allowed_of(_task: u32, _cpus: &[u32]) -> io::Result<()> {
    unsupported()
}

pub(crate) fn current_cpu() -> Option<u32> {
    None
}
