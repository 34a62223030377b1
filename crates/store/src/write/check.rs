//! Whether a run could be written, before it is measured.

use super::target::{Target, is_packed_name, target};
use super::temporary::create_temporary;
use crate::StoreError;
use crate::error::{FileAction, io};
use rustix::fs::{Access, access};
use std::io::Write;
use std::path::Path;

/// Room that a run's document needs, with some to spare: compressed, and not.
const PACKED_ROOM_BYTES: usize = 2 << 20;
const PLAIN_ROOM_BYTES: usize = 12 << 20;

/// Finds out whether a file of a run's size could be made at a path. Leaves
/// nothing behind.
pub(crate) fn check_room(path: &Path) -> Result<(), StoreError> {
    let (temporary, mut file) = create_temporary(path)?;
    // Bytes of all values: a file system that compresses makes less of zeros.
    let mut state = 1_u32;
    let room = match is_packed_name(path) {
        true => PACKED_ROOM_BYTES,
        false => PLAIN_ROOM_BYTES,
    };
    let block: Vec<u8> = (0..room)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        })
        .collect();
    // Quotas and file systems that allocate late refuse only now.
    let written = file.write_all(&block).and_then(|()| file.sync_data());
    drop(file);
    let removed = std::fs::remove_file(&temporary);
    written.and(removed).map_err(io(FileAction::Write, path))
}

/// Finds out before measuring whether [`write`] would work afterwards: a typo
/// must not cost a minute. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    match target(path)? {
        // Opening a pipe would wait for its reader, and closing it end the reader.
        Target::Stream => {
            access(path, Access::WRITE_OK).map_err(|e| io(FileAction::Write, path)(e.into()))
        }
        Target::File(path) => check_room(&path),
    }
}
