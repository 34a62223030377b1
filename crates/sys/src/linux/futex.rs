//! `futex(2)`, private to the process.

use std::io;
use std::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};

#[inline]
pub(crate) fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    match futex::wait(word, Flags::PRIVATE, expected, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

#[inline]
pub(crate) fn wake_one(word: &AtomicU32) -> io::Result<()> {
    futex::wake(word, Flags::PRIVATE, 1)?;
    Ok(())
}
