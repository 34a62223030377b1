//! Files made and deleted, a hundred to a directory.

use crate::across::event;
use crate::own_directory::OwnDirectory;
use meter::bench::Bench;
use meter::probe::{Derive, Effort, Event, Probe, Shape, Terrain, Work, WorkingSet};
use model::run::{Axis, Bound, Regime, Scale};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
        operation: "file.create: one open() with O_CREAT and O_EXCL of a new name in a directory that fills up to 100 files, write() of the file's bytes in calls of at most 128 KiB, and close(). file.delete: one unlink() of such a file.".into(),
        method: format!("Both rows are of the same files: each visit makes a directory, fills it, each creation between two stamps, and deletes the files in the same order, each deletion between two stamps; one file is made and deleted before, uncounted. Up to 128 KiB all hundred files are of the row's size. Above, 16 MiB are of that size ({} files of 256 KiB, 16 of 1 MiB, 4 of 4 MiB, 2 of 8 MiB), and empty files that stay complete the hundred: that keeps what is dirty in the page cache small, so that the kernel has no reason to write it back, which would disturb what follows. Nothing is synced: a file that is deleted seconds after its making may never reach the disk, and its deletion drops pages of the page cache rather than blocks of the disk. The bytes are random.", files_of(256 * KIB)).into(),
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

/// The files of one size.
struct Files {
    directory: OwnDirectory,
    /// Those that are made and deleted.
    paths: Vec<PathBuf>,
    bytes: u64,
    data: Vec<u8>,
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
            notes: super::filesystem_notes(bench),
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

    /// Fills the directory and empties it again.
    fn pass(&self, counter: Counter, events: &mut Vec<Event>) -> Result<(), String> {
        type Step = fn(&Files, &Path) -> Result<(), String>;
        let steps: [(usize, Step); 2] = [(CREATE, Files::create), (DELETE, Files::delete)];
        for (series, step) in steps {
            for path in &self.paths {
                let start = counter.start();
                let done = step(self, path);
                let stop = counter.stop();
                done?;
                events.push(Event {
                    series,
                    ..event(start, stop, 1, 0)
                });
            }
        }
        Ok(())
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
    /// though one where a directory full of files is less.
    fn stamped(&mut self, operations: u32) -> Result<Vec<Event>, String> {
        self.create(&self.paths[0])?;
        self.delete(&self.paths[0])?;
        let counter = Counter::best();
        let passes = (operations as usize / FILES).max(1);
        let mut events = Vec::with_capacity(passes * self.paths.len() * 2);
        for _ in 0..passes {
            self.pass(counter, &mut events)?;
        }
        Ok(events)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
