//! F_NOCACHE.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.mode(0o600).open(path)?;
    for (command, value) in [(libc::F_NOCACHE, 1), (libc::F_RDAHEAD, 0)] {
        // SAFETY: both commands take an int and touch no memory of ours.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, value) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(file)
}
