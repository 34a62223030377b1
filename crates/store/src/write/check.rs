//! Whether a run could be written, before it is measured.

use super::is_packed_name;
use super::temporary::create_temporary;
use crate::StoreError;
use crate::error::{FileAction, io};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use sys::attributes;
use sys::filesystem::reserve;
use sys::place::Place;

/// Room that a run's document needs, with some to spare: compressed, and not.
const PACKED_ROOM_BYTES: usize = 2 << 20;
const PLAIN_ROOM_BYTES: usize = 12 << 20;

/// Room for a run of this name.
pub(super) fn room_of(path: &Path) -> usize {
    if is_packed_name(path) { PACKED_ROOM_BYTES } else { PLAIN_ROOM_BYTES }
}

/// Finds out whether a file of a run's size could be made in a place, and take over what an
/// existing one has. Leaves nothing behind.
pub(super) fn check_room(
    place: &Place,
    path: &Path,
    existing: Option<&File>,
    room: usize,
) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(place, path, true)?;
    // Blocks are given at once, or refused (also by a quota), without a write to the disk.
    let found = match reserve(&file, room as u64) {
        Err(error) if error.kind() == ErrorKind::Unsupported => write_block(&mut file, room),
        reserved => reserved,
    };
    let kept = || existing.map_or(Ok(()), |existing| attributes::copy(existing, &file));
    let found = found.and_then(|()| kept());
    drop(file);
    let removed = place.remove(&temporary);
    found.and(removed).map_err(io(FileAction::Write, path))
}

/// What tells whether there is room where a file system can't reserve it (NFS before 4.2, some of FUSE).
fn write_block(file: &mut File, room: usize) -> std::io::Result<()> {
    // Bytes of all values: a file system that compresses makes less of zeros.
    let mut state = 1_u32;
    let block: Vec<u8> = (0..room)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        })
        .collect();
    // Quotas and file systems that allocate late refuse only with the sync.
    file.write_all(&block)?;
    file.sync_data()
}

/// The same for a new document in a directory.
pub(crate) fn check_keepable(directory: &Path) -> Result<(), StoreError> {
    let path = directory.join("a-run.json.zst");
    check_room(&super::entry(&path)?, &path, None, PACKED_ROOM_BYTES)
}
