//! Which journals of this boot were restored. A copy in a state directory that was moved or copied before may be
//! found later; it must not be restored again.

use super::{Header, sync};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use sys::filesystem::open_unless_link;

/// Its name in the machine's directory, which is of one boot.
const NAME: &str = "restored";

/// Notes a journal in the machine's directory. On the disk when this returns.
pub(super) fn note_journal(machine: &Path, journal: &Header) -> io::Result<()> {
    let mut line = serde_json::to_vec(journal)?;
    line.push(b'\n');
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let file = open_unless_link(&mut options, &machine.join(NAME))?;
    let mut file = file.ok_or_else(|| io::Error::other("it is a link"))?;
    file.write_all(&line)?;
    file.sync_all()?;
    sync(machine)
}

/// Whether a journal was put back; not where that can't be read.
pub(super) fn has(machine: &Path, journal: &Header) -> bool {
    let mut text = String::new();
    let read = open_unless_link(OpenOptions::new().read(true), &machine.join(NAME));
    let read = read.and_then(|file| file.map_or(Ok(0), |mut file| file.read_to_string(&mut text)));
    let is_it = |line: &str| serde_json::from_str::<Header>(line).is_ok_and(|one| one == *journal);
    read.is_ok() && text.lines().any(is_it)
}
