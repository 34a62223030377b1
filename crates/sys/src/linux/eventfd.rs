//! `eventfd(2)`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::EventfdFlags;

pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?)
}
