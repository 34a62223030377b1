//! Writing to a pipe or a device, which may be slow to take it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::time::Duration;

/// How long a reader may take nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes all bytes to a descriptor that was opened not to block.
pub(super) fn write_all_bytes(file: &File, bytes: &[u8]) -> std::io::Result<()> {
    write_within(file, bytes, PATIENCE)
}

pub(super) fn write_within(
    mut file: &File,
    mut bytes: &[u8],
    patience: Duration,
) -> std::io::Result<()> {
    let limit = Timespec::try_from(patience).map_err(std::io::Error::other)?;
    while !bytes.is_empty() {
        let mut room = [PollFd::new(file, PollFlags::OUT)];
        if poll(&mut room, Some(&limit))? == 0 {
            let text = format!("its reader took nothing for {} s", patience.as_secs());
            return Err(std::io::Error::new(ErrorKind::TimedOut, text));
        }
        match file.write(bytes) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            written => bytes = &bytes[written?..],
        }
    }
    Ok(())
}
