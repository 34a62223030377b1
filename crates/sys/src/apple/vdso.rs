//! Apple's kernel maps data into every process, and no code.

use std::io;

pub(crate) fn check() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems have no vDSO: their C library reads the kernel's data by itself",
    ))
}

pub(crate) fn coarse_clock() -> i64 {
    0
}
