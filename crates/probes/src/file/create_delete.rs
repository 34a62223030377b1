//! Files made, a hundred to a directory, and files deleted.
//!
//! A creation must not pay for what was deleted before, which on ext4 without
//! a journal is dear (`docs/disk.md`). So what the one row makes is never
//! deleted while the run lasts, only emptied, and lies in directories that
//! the file system was asked to place apart; what the other deletes was made
//! elsewhere, for it.

use crate::engine::files::{OwnDirectory, filesystem_note};
use crate::engine::single::VISIT_AT_MOST;
use crate::engine::threads::event;
use crate::engine::waits::watched;
use meter::probe::{
    Derive, Effort, Event, MachineShape, OnDisk, Probe, Shape, Work, WorkError, WorkingSet,
};
use meter::worker_memory::WorkerMemory;
use model::run::{Axis, Bound, Regime, Scale};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::clock::Counter;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The catalogue's sizes.
const SIZES: [u64; 11] =
    [0, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB];
/// A first look.
const QUICK_SIZES: [u64; 4] = [0, KIB, 16 * KIB, MIB];

/// Files in the directory when it is full.
const FILES: usize = 100;

/// Files that a visit deletes at most.
const DELETED: usize = 25;

/// Bytes written by one call at most.
const CALL: usize = 128 << 10;

/// Bytes that a pass leaves in the page cache at most, to be deleted before
/// the kernel writes them back.
const PASS_BYTES: u64 = 16 * MIB;

/// Places of the rows among the variants.
const CREATE: usize = 0;
const DELETE: usize = 1;

pub(super) fn create_delete_probe() -> Probe {
    Probe {
        variants: vec!["".into(), "file.delete".into()],
        title: "creating a file, and deleting it".into(),
        operation: "Of file.create, one open() with O_CREAT and O_EXCL of a new name in a directory that fills up to 100 files, write() of the file's bytes in calls of at most 128 KiB, and close(); of file.delete, one unlink() of such a file.".into(),
        method: format!("Each creation and each deletion is stamped. A batch makes a directory and fills it, the first file uncounted; afterwards its files are emptied, and stay until the run ends: no creation pays for a deletion of this row. The directory lies apart from everything else where the file system supports it (ext4: the mark of `chattr +T`), so that it does not pay for other rows' deletions either. file.delete has separate files, up to {DELETED} a batch, created untimed in another directory and deleted in the same order, the first uncounted. On a slow file system a batch creates no more files after 0.1 s. Up to 128 KiB all hundred files are of the row's size. Above, 16 MiB are of that size ({} files of 256 KiB, 16 of 1 MiB, 4 of 4 MiB, 2 of 8 MiB): that keeps the dirty pages few, so that the kernel has no reason to write them back, which would disturb what follows. Nothing is synced: a file that is emptied or deleted soon after its creation may never reach the disk, and its deletion drops pages of the page cache rather than blocks of the disk. The bytes are random.", files_of(256 * KIB)).into(),
        source: "Kurkin's file test: 100 files a directory, writes of 128 KiB, no fsync; his last version has 1 MiB only, his sizes of 0, 1 and 8 KiB are unused. LMbench's lat_fs has the same calls, but thousands of files in a tree of such directories, and does not require a new name (O_EXCL).".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        shape: Shape::Curve(Axis::FileBytes, sizes),
        together: true,
        // Each visit's files stay until the run ends.
        extra_visits: false,
        effort: Effort {
            // With 8 workers enough for a p99 of small files.
            visits: 2,
            samples: FILES as u32,
            working_set: WorkingSet::Own(1),
            // Sixteen MiB are written twice for any large size; this is right
            // in sum over the curve.
            restore_ns_per_byte: 5.0,
            sample_ns: Some(20_000.0),
        },
        // Published as separate rows.
        derive: Derive::Points(&[("1KiB", KIB), ("file.delete/1KiB", KIB)]),
        on_disk: |site| {
            let bytes = site.at.first().copied().unwrap_or_default();
            let all = bytes.saturating_mul(files_of(bytes) as u64);
            Some(OnDisk {
                shared: "the files of file.create".into(),
                bytes: all,
                files: DELETED as u64,
                kept: kept_files(),
                ..OnDisk::default()
            })
        },
        make: Box::new(|worker, site| {
            let bytes = site.at.first().copied().unwrap_or_default();
            Ok(Box::new(Files::new(worker, bytes)?))
        }),
        ..Probe::blank("file.create")
    }
}

fn sizes(_: &MachineShape, scale: Scale) -> Vec<u64> {
    match scale {
        Scale::Quick => QUICK_SIZES.to_vec(),
        Scale::Default | Scale::Full => SIZES.to_vec(),
    }
}

/// Files of this size that one pass makes and deletes.
fn files_of(bytes: u64) -> usize {
    let fitting = PASS_BYTES.checked_div(bytes).unwrap_or(u64::MAX);
    fitting.clamp(1, FILES as u64) as usize
}

/// Files that stay of a visit to each size: each directory's with the one that
/// is not counted.
fn kept_files() -> u64 {
    let files: usize = SIZES.iter().map(|&bytes| files_of(bytes) + 1).sum();
    files as u64
}

struct Files {
    /// Where files are made, and stay.
    making: OwnDirectory,
    /// Where those are that are deleted.
    deleting: OwnDirectory,
    /// Files of the size that fill the directory.
    count: usize,
    bytes: u64,
    data: Vec<u8>,
    /// After this long a visit makes no more files.
    at_most: Duration,
    /// How long the thread waited for a CPU in each series, ns.
    run_delay_ns: [Option<u64>; 2],
    notes: Vec<String>,
}

impl Files {
    fn new(worker: &mut WorkerMemory, bytes: u64) -> Result<Files, WorkError> {
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(CALL).min(CALL)];
        worker.rng.fill(&mut data);
        let making = OwnDirectory::that_stays(worker, "made")?;
        let notes = [filesystem_note(worker), making.note.clone()];
        Ok(Files {
            making,
            deleting: OwnDirectory::make(worker, "deleted")?,
            count: files_of(bytes),
            bytes,
            data,
            at_most: VISIT_AT_MOST,
            run_delay_ns: [None; 2],
            notes: notes.into_iter().flatten().collect(),
        })
    }

    /// The name of a file; the first of each directory is not counted.
    fn file_path(directory: &OwnDirectory, n: usize) -> PathBuf {
        directory.join(&n.to_string())
    }

    fn create(&self, directory: &OwnDirectory, n: usize) -> Result<(), WorkError> {
        create(&Files::file_path(directory, n), &self.data, self.bytes).map_err(|e| {
            let size = model::size::format_size(self.bytes);
            directory.failed(&format!("making a file of {size}"), &e)
        })
    }

    fn delete(&self, n: usize) -> Result<(), WorkError> {
        std::fs::remove_file(Files::file_path(&self.deleting, n))
            .map_err(|e| self.deleting.failed("deleting a file", &e))
    }

    /// Drops what a file holds, and what of it the kernel would write to the
    /// disk; the file stays.
    fn empty(&self, n: usize) -> Result<(), WorkError> {
        let mut options = File::options();
        let opened = options.write(true).truncate(true).open(Files::file_path(&self.making, n));
        let emptied = opened.map(drop);
        emptied.map_err(|e| self.making.failed("emptying a file", &e))
    }

    /// Fills the directory, or as much of it as there is time for.
    fn fill(&self, counter: Counter, events: &mut Vec<Event>) -> Result<(), WorkError> {
        let began = Instant::now();
        self.create(&self.making, 0)?;
        let mut made = 0;
        while made < self.count && (made == 0 || began.elapsed() <= self.at_most) {
            made += 1;
            let one = |files: &Files| files.create(&files.making, made);
            events.push(self.stamp(counter, CREATE, one)?);
        }
        if self.bytes > 0 {
            (0..=made).try_for_each(|n| self.empty(n))?;
        }
        Ok(())
    }

    /// Deletes files that it makes for that.
    fn clear(&self, counter: Counter, events: &mut Vec<Event>) -> Result<(), WorkError> {
        let began = Instant::now();
        let wanted = self.count.min(DELETED);
        let mut made = 0;
        while made <= wanted && (made < 2 || began.elapsed() <= self.at_most) {
            self.create(&self.deleting, made)?;
            made += 1;
        }
        self.delete(0)?;
        for n in 1..made {
            events.push(self.stamp(counter, DELETE, |files| files.delete(n))?);
        }
        Ok(())
    }

    fn stamp(
        &self,
        counter: Counter,
        series: usize,
        step: impl FnOnce(&Files) -> Result<(), WorkError>,
    ) -> Result<Event, WorkError> {
        let start = counter.start();
        let done = step(self);
        let stop = counter.stop();
        done?;
        Ok(Event { series, ..event(start, stop, 1, 0) })
    }
}

fn create(path: &Path, data: &[u8], bytes: u64) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    let mut left = bytes;
    while left > 0 {
        let now = left.min(data.len() as u64) as usize;
        file.write_all(&data[..now])?;
        left -= now as u64;
    }
    Ok(())
}

impl Work for Files {
    /// A directory full, or less where that takes too long, whatever number of
    /// operations is asked for.
    fn stamped(&mut self, _operations: u32) -> Result<Vec<Event>, WorkError> {
        let counter = Counter::best();
        let mut events = Vec::with_capacity(self.count + DELETED);
        let (filled, of_creations) = watched(|| self.fill(counter, &mut events));
        filled?;
        let (cleared, of_deletions) = watched(|| self.clear(counter, &mut events));
        cleared?;
        self.run_delay_ns = [of_creations, of_deletions];
        Ok(events)
    }

    fn run_delay_ns(&self, series: usize, _own_ns: u64) -> Option<u64> {
        self.run_delay_ns[series]
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::worker_with_files;
    use meter::probe::Site;

    /// Sizes of the files in a directory.
    fn sizes_in(directory: &Path) -> Vec<u64> {
        let entries = std::fs::read_dir(directory).expect("readable").flatten();
        let size = |entry: std::fs::DirEntry| entry.metadata().expect("there").len();
        entries.map(size).collect()
    }

    fn of_series(events: &[Event], series: usize) -> usize {
        events.iter().filter(|e| e.series == series).count()
    }

    #[test]
    fn what_is_made_stays_empty_and_what_is_deleted_is_elsewhere() {
        for (bytes, made, deleted) in
            [(0, 100, 25), (1 << 10, 100, 25), (MIB, 16, 16), (8 * MIB, 2, 2)]
        {
            let (dir, mut worker) = worker_with_files();
            for visit in 1..=2 {
                let mut files = Files::new(&mut worker, bytes).expect("room");
                // However busy the machine is.
                files.at_most = Duration::MAX;
                let events = files.stamped(1).expect("room");
                assert_eq!(of_series(&events, CREATE), made, "{bytes} bytes");
                assert_eq!(of_series(&events, DELETE), deleted, "{bytes} bytes");
                let delays = [CREATE, DELETE].map(|series| files.run_delay_ns(series, u64::MAX));
                assert!(!delays.contains(&Some(u64::MAX)), "each series has its own");
                assert!(events.iter().all(|e| e.ops == 1 && e.to_ticks > e.from_ticks));
                let making = files.making.path().to_path_buf();
                drop(files);
                // No inode that a creation of this run could pass over.
                assert_eq!(sizes_in(&making), vec![0; made + 1], "{bytes} bytes");
                let visits = std::fs::read_dir(dir.path().join("made")).expect("there");
                assert_eq!(visits.count(), visit, "each its own");
                let left = std::fs::read_dir(dir.path()).expect("there");
                assert_eq!(left.count(), 1, "but for these nothing is left");
            }
        }
    }

    #[test]
    fn a_visit_on_a_slow_disk_ends_early() {
        let (_dir, mut worker) = worker_with_files();
        let mut files = Files::new(&mut worker, MIB).expect("room");
        files.at_most = Duration::ZERO;
        let events = files.stamped(1000).expect("room");
        let series: Vec<usize> = events.iter().map(|e| e.series).collect();
        assert_eq!(series, [CREATE, DELETE]);
        assert_eq!(sizes_in(files.making.path()), [0, 0]);
        assert!(sizes_in(files.deleting.path()).is_empty());
    }

    #[test]
    fn a_pass_never_leaves_much_in_the_page_cache() {
        for bytes in SIZES {
            assert!(files_of(bytes) as u64 * bytes <= PASS_BYTES.max(bytes), "{bytes}");
            assert!((1..=FILES).contains(&files_of(bytes)), "{bytes}");
        }
        assert_eq!([0, KIB, 64 * KIB, 8 * MIB].map(files_of), [100, 100, 100, 2]);
    }

    #[test]
    fn the_rows_have_their_own_names_and_share_their_visits() {
        let probe = create_delete_probe();
        assert_eq!(probe.row_ids(), ["file.create", "file.delete"]);
        assert_eq!(probe.point_ids(), ["file.create/1KiB", "file.delete/1KiB"]);
        assert!(probe.together);
        assert_eq!(probe.variants[DELETE], "file.delete");
        let site = |bytes| Site { variant: String::new(), at: vec![bytes] };
        let room = (probe.on_disk)(&site(4 * MIB)).expect("files");
        assert_eq!(room.bytes, 16 * MIB);
        // All that stays, whatever the sizes that are asked for.
        assert!(room.kept > 7 * 101 && !probe.extra_visits, "{room:?}");
    }

    #[test]
    fn a_directory_that_vanishes_is_said() {
        let (dir, mut worker) = worker_with_files();
        let mut files = Files::new(&mut worker, 10).expect("room");
        drop(dir);
        let why = files.stamped(100).expect_err("gone").to_string();
        assert!(why.starts_with("the scratch directory is gone (making a file of 10B"), "{why}");
        let why = Files::new(&mut worker, 10).err().expect("gone").to_string();
        assert!(why.contains("gone"), "{why}");
    }
}
