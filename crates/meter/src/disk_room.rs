//! Whether the files of planned cells fit on the disk.

use crate::probe::OnDisk;
use crate::scratch::{self, ScratchDir, ScratchError};
use model::size::about;
use std::path::PathBuf;
use sys::filesystem::Room;

/// Of what is free, one part in this many is left alone: it is not all ours,
/// and a full disk harms others.
const LEFT_ALONE: u64 = 10;

/// Why the disk has no room for the files of a cell: a row's reason.
#[derive(thiserror::Error, Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum NoRoom {
    /// There is no directory.
    #[error(transparent)]
    NoDirectory(#[from] ScratchError),
    #[error("how much is free in {} can't be asked: {error}", directory.display())]
    Unknown { directory: PathBuf, error: String },
    #[error(
        "needs {}{}, {} free in {} (a tenth of it is left alone)",
        about(*.wanted), on_top_of(*.others, about(*.others)), about(*.free), directory.display()
    )]
    Bytes { wanted: u64, others: u64, free: u64, directory: PathBuf },
    #[error(
        "needs {wanted} files{}, {free} more can be made in {} (a tenth of them is left alone)",
        on_top_of(*.others, format!("{others} files")), directory.display()
    )]
    Files { wanted: u64, others: u64, free: u64, directory: PathBuf },
}

fn on_top_of(others: u64, text: String) -> String {
    match others {
        0 => String::new(),
        _ => format!(" on top of {text} for other rows"),
    }
}

/// Room on the disk that has been promised to cells so far.
pub struct DiskRoom {
    /// Where, and what is free there; or why there is nothing.
    place: Result<(PathBuf, Room), NoRoom>,
    promised: Vec<OnDisk>,
}

impl DiskRoom {
    /// In a place.
    pub fn on(place: &Result<ScratchDir, ScratchError>) -> DiskRoom {
        let room = |place: &ScratchDir| {
            // A default directory may not be there yet.
            let there = scratch::nearest(&place.directory);
            let directory = place.directory.clone();
            match sys::filesystem::room(there) {
                Ok(room) => Ok((directory, room)),
                Err(e) => Err(NoRoom::Unknown { directory, error: e.to_string() }),
            }
        };
        DiskRoom {
            place: place.as_ref().map_err(|why| why.clone().into()).and_then(room),
            promised: Vec::new(),
        }
    }

    /// Promises room to a cell. Gives whether it is the first in its room.
    pub fn admit(&mut self, wanted: &OnDisk) -> Result<bool, NoRoom> {
        let (directory, room) = self.place.as_ref().map_err(Clone::clone)?;
        let before = self.promised.clone();
        promise(&mut self.promised, wanted);
        let taken = |of: &[OnDisk]| of.iter().map(|o| on_blocks(o, room)).sum::<u64>();
        let files = |of: &[OnDisk]| of.iter().map(|o| o.files + o.kept).sum::<u64>();
        let usable = |free: u64| free - free / LEFT_ALONE;
        let refused = match room.files {
            _ if taken(&self.promised) > usable(room.bytes) => NoRoom::Bytes {
                wanted: on_blocks(wanted, room),
                others: taken(&before),
                free: room.bytes,
                directory: directory.clone(),
            },
            Some(free) if files(&self.promised) > usable(free) => NoRoom::Files {
                wanted: wanted.files + wanted.kept,
                others: files(&before),
                free,
                directory: directory.clone(),
            },
            _ => return Ok(before.len() < self.promised.len()),
        };
        self.promised = before;
        Err(refused)
    }

    /// Files that stay until the run ends, at most.
    pub(crate) fn kept_files(&self) -> u64 {
        self.promised.iter().map(|o| o.kept).sum()
    }
}

/// Adds a wish: to the room of that name, which grows to the larger of the
/// two, or as a room of its own.
fn promise(promised: &mut Vec<OnDisk>, wanted: &OnDisk) {
    match promised.iter_mut().find(|o| o.shared == wanted.shared) {
        Some(shared) => {
            shared.bytes = shared.bytes.max(wanted.bytes);
            shared.files = shared.files.max(wanted.files);
            shared.kept = shared.kept.max(wanted.kept);
        }
        None => promised.push(wanted.clone()),
    }
}

/// What files take on the disk: each begins a block of its own, and the last
/// is not full.
fn on_blocks(wanted: &OnDisk, room: &Room) -> u64 {
    wanted.bytes.saturating_add((wanted.files + wanted.kept).saturating_mul(room.block_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(shared: &str, bytes: u64, files: u64) -> OnDisk {
        OnDisk { shared: shared.into(), bytes, files, ..OnDisk::default() }
    }

    fn disk(bytes: u64, files: Option<u64>) -> DiskRoom {
        let room = Room { bytes, files, block_bytes: 1 << 10 };
        DiskRoom { place: Ok(("/x".into(), room)), promised: Vec::new() }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_fits_later_is_not() {
        let mut disk = disk(100 << 20, None);
        disk.admit(&wish("a", 50 << 20, 1)).expect("fits");
        let why = disk.admit(&wish("b", 41 << 20, 1)).expect_err("too much");
        assert_eq!(
            why.to_string(),
            "needs 41.0MiB on top of 50.0MiB for other rows, 100MiB free in /x (a tenth of it is \
             left alone)"
        );
        disk.admit(&wish("c", 39 << 20, 1)).expect("what was refused takes nothing");
        let why = disk.admit(&wish("d", 2 << 20, 0)).expect_err("full");
        let why = why.to_string();
        assert!(why.starts_with("needs 2048KiB on top of 89.0MiB"), "{why}");
    }

    #[test]
    fn a_tenth_is_left_and_blocks_count() {
        assert!(disk(100 << 10, None).admit(&wish("a", 91 << 10, 0)).is_err());
        assert!(disk(100 << 10, None).admit(&wish("a", 90 << 10, 0)).is_ok());
        let why = disk(100 << 10, None)
            .admit(&wish("a", 90, 90))
            .expect_err("90 blocks and 90 bytes")
            .to_string();
        assert!(why.starts_with("needs 90.1KiB, 100KiB free in /x"), "{why}");
        assert!(disk(100 << 10, None).admit(&wish("a", 90, 89)).is_ok());
    }

    #[test]
    fn a_shared_room_counts_once_at_its_largest() {
        let mut disk = disk(100 << 20, None);
        let sizes = [10 << 20, 80 << 20, 40 << 20];
        let first = sizes.map(|bytes| disk.admit(&wish("a", bytes, 1)).expect("one room"));
        assert_eq!(first, [true, false, false]);
        assert!(disk.admit(&wish("b", 11 << 20, 1)).is_err());
    }

    #[test]
    fn files_run_out_too() {
        let mut disk = disk(1 << 40, Some(100));
        disk.admit(&wish("a", 1, 80)).expect("fits");
        let why = disk.admit(&wish("b", 1, 11)).expect_err("too many");
        assert_eq!(
            why.to_string(),
            "needs 11 files on top of 80 files for other rows, 100 more can be made in /x (a tenth \
             of them is left alone)"
        );
        disk.admit(&wish("b", 1, 10)).expect("fits");
    }

    #[test]
    fn room_is_asked_where_the_files_would_be() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut place = scratch::scratch_in(dir.path()).expect("usable");
        place.directory = dir.path().join("not/yet");
        let mut there = DiskRoom::on(&Ok(place.clone()));
        assert_eq!(there.admit(&wish("a", 1, 1)), Ok(true));
        // Nothing can be made below a link to nowhere, whatever is free above.
        std::os::unix::fs::symlink("/none/such", dir.path().join("not")).expect("a link");
        let mut none = DiskRoom::on(&Ok(place));
        let why = none.admit(&wish("a", 1, 1)).expect_err("a link");
        assert!(matches!(why, NoRoom::Unknown { .. }), "{why}");
    }

    #[test]
    fn no_place_is_the_reason() {
        let why = ScratchError::NoDefault(Vec::new());
        let mut none = DiskRoom::on(&Err(why.clone()));
        assert_eq!(none.admit(&wish("a", 1, 1)), Err(why.into()));
    }
}
