//! Files made and deleted, a hundred to a directory.

use crate::across::event;
use crate::own_directory::OwnDirectory;
use crate::singles::VISIT_AT_MOST;
use meter::bench::Bench;
use meter::probe::{Derive, Effort, Event, Probe, Shape, Terrain, Work, WorkingSet};
use model::run::{Axis, Bound, Regime, Scale};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::clock::Counter;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The catalogue's sizes.
const SIZES: [u64; 11] = [
    0,
    KIB,
    2 * KIB,
    4 * KIB,
    8 * KIB,
    16 * KIB,
    64 * KIB,
    256 * KIB,
    MIB,
    4 * MIB,
    8 * MIB,
];
/// A first look.
const QUICK_SIZES: [u64; 4] = [0, KIB, 16 * KIB, MIB];

/// Files in the directory when it is full.
const FILES: usize = 100;

/// Bytes written by one call at most.
const CALL: usize = 128 << 10;

/// Bytes that a pass leaves in the page cache at most, to be deleted before
/// the kernel writes them back.
const PASS_BYTES: u64 = 16 * MIB;

/// Places of the rows among the variants.
const CREATE: usize = 0;
const DELETE: usize = 1;

pub(super) fn probe() -> Probe {
    Probe {
        variants: vec!["".into(), "file.delete".into()],
        title: "making a file, and deleting it".into(),
        operation: "Of file.create, one open() with O_CREAT and O_EXCL of a new name in a directory that fills up to 100 files, write() of the file's bytes in calls of at most 128 KiB, and close(); of file.delete, one unlink() of such a file.".into(),
        method: format!("Both rows are of the same files: each visit makes a directory, fills it, each creation between two stamps, and deletes the files in the same order, each deletion between two stamps; one file is made and deleted before, uncounted. On a slow file system a visit makes no more files after 0.1 s, and deletes those it made. Up to 128 KiB all hundred files are of the row's size. Above, 16 MiB are of that size ({} files of 256 KiB, 16 of 1 MiB, 4 of 4 MiB, 2 of 8 MiB), and empty files that stay complete the hundred: that keeps what is dirty in the page cache small, so that the kernel has no reason to write it back, which would disturb what follows. Nothing is synced: a file that is deleted seconds after its making may never reach the disk, and its deletion drops pages of the page cache rather than blocks of the disk. The bytes are random. What was deleted shortly before may matter: ext4 without a journal looks up and passes over inodes that were deleted recently, which took a creation from 14 to 31 us over 40,000 deletions on a fresh file system, and to 65 us and more on one in use; the row's note says where that is so.", files_of(256 * KIB)).into(),
        source: "Kurkin's file test: 100 files a directory, writes of 128 KiB, no fsync; his last version has 1 MiB only, his sizes of 0, 1 and 8 KiB stand unused. LMbench's lat_fs has the same calls, but thousands of files in a tree of such directories, and does not ask for a new name (O_EXCL).".into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        shape: Shape::Curve(Axis::FileBytes, sizes),
        together: true,
        effort: Effort {
            visits: 3,
            samples: FILES as u32,
            working_set: WorkingSet::Own(1),
            // Sixteen MiB are written for any large size; this is right in
            // sum over the curve.
            restore_ns_per_byte: 5.0,
            sample_ns: Some(20_000.0),
        },
        // Published as a row of its own.
        derive: Derive::Points(&[("1KiB", KIB)]),
        on_disk: |site| {
            let bytes = site.at.first().copied().unwrap_or_default();
            let all = bytes.saturating_mul(files_of(bytes) as u64);
            Some(super::for_a_visit(all, FILES as u64))
        },
        make: Box::new(|bench, site| {
            let bytes = site.at.first().copied().unwrap_or_default();
            Ok(Box::new(Files::new(bench, bytes)?))
        }),
        ..Probe::blank("file.create")
    }
}

fn sizes(_: &Terrain, scale: Scale) -> Vec<u64> {
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

/// What the files are on, and whether deletions make creations dearer there.
fn notes(bench: &Bench) -> Vec<String> {
    let mut notes = super::filesystem_notes(bench);
    let filesystem = bench.scratch().ok().map(|place| &place.filesystem);
    if filesystem.and_then(sys::filesystem::has_journal) == Some(false) {
        notes.push("this ext4 has no journal: creating a file passes over inodes that were deleted recently, and takes longer the more there are".into());
    }
    notes
}

/// The files of one size.
struct Files {
    directory: OwnDirectory,
    /// Those that are made and deleted.
    paths: Vec<PathBuf>,
    bytes: u64,
    data: Vec<u8>,
    /// After this long a visit makes no more files.
    at_most: Duration,
    notes: Vec<String>,
}

impl Files {
    fn new(bench: &mut Bench, bytes: u64) -> Result<Files, String> {
        let directory = OwnDirectory::make(bench, "create_delete")?;
        let names = |numbers: std::ops::Range<usize>| {
            let paths = numbers.map(|n| directory.join(&n.to_string()));
            paths.collect::<Vec<PathBuf>>()
        };
        let timed = files_of(bytes);
        let paths = names(0..timed);
        for path in names(timed..FILES) {
            create(&path, &[], 0).map_err(|e| directory.failed("making an empty file", &e))?;
        }
        let mut data = vec![0; usize::try_from(bytes).unwrap_or(CALL).min(CALL)];
        bench.rng.fill(&mut data);
        Ok(Files {
            directory,
            paths,
            bytes,
            data,
            at_most: VISIT_AT_MOST,
            notes: notes(bench),
        })
    }

    fn create(&self, path: &Path) -> Result<(), String> {
        create(path, &self.data, self.bytes).map_err(|e| {
            let size = model::size::text(self.bytes);
            self.directory
                .failed(&format!("making a file of {size}"), &e)
        })
    }

    fn delete(&self, path: &Path) -> Result<(), String> {
        std::fs::remove_file(path).map_err(|e| self.directory.failed("deleting a file", &e))
    }

    /// Fills the directory, or as much of it as there is time for, and empties
    /// it again. Whether it was filled.
    fn pass(
        &self,
        counter: Counter,
        began: Instant,
        events: &mut Vec<Event>,
    ) -> Result<bool, String> {
        type Step = fn(&Files, &Path) -> Result<(), String>;
        let steps: [(usize, Step); 2] = [(CREATE, Files::create), (DELETE, Files::delete)];
        let mut made = 0;
        for (series, step) in steps {
            let paths = match series {
                CREATE => &self.paths[..],
                _ => &self.paths[..made],
            };
            for path in paths {
                let start = counter.start();
                let done = step(self, path);
                let stop = counter.stop();
                done?;
                events.push(Event {
                    series,
                    ..event(start, stop, 1, 0)
                });
                made += usize::from(series == CREATE);
                if series == CREATE && began.elapsed() > self.at_most {
                    break;
                }
            }
        }
        Ok(made == self.paths.len() && began.elapsed() <= self.at_most)
    }
}

/// The operation.
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
    fn ops_per_turn(&self) -> f64 {
        1.0
    }

    fn run(&mut self, _turns: u64, _double: bool) {}

    /// Whole passes: as many as it takes to come to `operations` creations,
    /// though one where a directory full of files is less; fewer where they
    /// take too long.
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        let began = Instant::now();
        self.create(&self.paths[0])?;
        self.delete(&self.paths[0])?;
        let counter = Counter::best();
        let passes = (operations as usize / FILES).max(1);
        let mut events = Vec::with_capacity(passes * self.paths.len() * 2);
        for _ in 0..passes {
            if !self.pass(counter, began, &mut events)? {
                break;
            }
        }
        Ok(events)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;
    use meter::probe::Site;

    /// A visit at this size: its events, and what the directory has then.
    fn visit(bytes: u64, operations: u32) -> (Vec<Event>, usize) {
        let (dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let mut files = Files::new(&mut bench, bytes).expect("room");
        // However busy the machine is.
        files.at_most = Duration::MAX;
        let events = files.stamped(operations).expect("room");
        let left = std::fs::read_dir(files.directory.path()).expect("readable");
        let left = left.count();
        drop(files);
        assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
        (events, left)
    }

    #[test]
    fn a_visit_makes_and_deletes_the_same_files() {
        // 1 MiB: sixteen of the hundred; those that stay are empty.
        for (bytes, operations, files, stay) in [
            (0, 100, 100, 0),
            (1 << 10, 250, 200, 0),
            (1 << 20, 100, 16, 84),
            (8 << 20, 1, 2, 98),
        ] {
            let (events, left) = visit(bytes, operations);
            for series in [CREATE, DELETE] {
                let own = events.iter().filter(|e| e.series == series);
                assert_eq!(own.count(), files, "{bytes} bytes, series {series}");
            }
            assert!(
                events
                    .iter()
                    .all(|e| e.ops == 1 && e.to_ticks > e.from_ticks)
            );
            // A pass creates before it deletes.
            let pass = files.min(100);
            let (made, deleted) = events[..2 * pass].split_at(pass);
            assert!(made.iter().all(|e| e.series == CREATE));
            assert!(deleted.iter().all(|e| e.series == DELETE));
            assert_eq!(left, stay, "{bytes} bytes");
        }
    }

    #[test]
    fn a_visit_on_a_slow_disk_ends_early_and_leaves_nothing() {
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let mut files = Files::new(&mut bench, MIB).expect("room");
        files.at_most = Duration::ZERO;
        let events = files.stamped(1000).expect("room");
        let series: Vec<usize> = events.iter().map(|e| e.series).collect();
        assert_eq!(series, [CREATE, DELETE]);
        let left = std::fs::read_dir(files.directory.path()).expect("there");
        assert_eq!(left.count(), FILES - 16, "the empty ones");
    }

    #[test]
    fn a_pass_never_leaves_much_in_the_page_cache() {
        for bytes in SIZES {
            assert!(
                files_of(bytes) as u64 * bytes <= PASS_BYTES.max(bytes),
                "{bytes}"
            );
            assert!((1..=FILES).contains(&files_of(bytes)), "{bytes}");
        }
        assert_eq!(
            [0, KIB, 64 * KIB, 8 * MIB].map(files_of),
            [100, 100, 100, 2]
        );
    }

    #[test]
    fn the_rows_have_their_own_names_and_share_their_visits() {
        let probe = probe();
        assert_eq!(probe.row_ids(), ["file.create", "file.delete"]);
        assert_eq!(probe.point_ids(), ["file.create/1KiB"]);
        assert!(probe.together);
        assert_eq!(probe.variants[DELETE], "file.delete");
        let site = |bytes| Site {
            variant: String::new(),
            at: vec![bytes],
        };
        let room = (probe.on_disk)(&site(4 * MIB)).expect("files");
        assert_eq!((room.bytes, room.files), (16 * MIB, 100));
    }

    #[test]
    fn a_directory_that_vanishes_is_said() {
        let (dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let mut files = Files::new(&mut bench, 10).expect("room");
        drop(dir);
        let why = files.stamped(100).expect_err("gone");
        assert!(
            why.starts_with("the scratch directory is gone (making a file of 10B"),
            "{why}"
        );
        let why = Files::new(&mut bench, 10).err().expect("gone");
        assert!(why.contains("gone"), "{why}");
    }
}
