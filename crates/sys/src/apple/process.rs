//! There is no death signal on Apple systems.

use std::io;

pub(crate) fn set_death_signal() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Apple systems can't end a process with its parent",
    ))
}
