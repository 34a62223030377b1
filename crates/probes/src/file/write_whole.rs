//! A file written whole: Ash's way, and other ways to the same end.

use crate::engine::files::{OwnDirectory, filesystem_note, for_a_visit};
use crate::engine::reason::Reason;
use crate::engine::single::{Single, Singles, VISIT_AT_MOST};
use meter::probe::{Effort, Probe, Shape, SharedPart, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::{Axis, Bound, Regime, Scale};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const SMALL: usize = 16;
const LARGE: usize = 16 << 20;

const SINGLE: &str = "Single operations between two stamps, after one that is not counted: the file exists and has that length when an operation begins. A batch ends after 0.1 s and one operation, so that a slow disk has fewer samples. Afterwards the file is read and must hold what was written.";

const FLUSH: &str = "On ext4 (auto_da_alloc, its default) closing a file that was truncated and written again, and renaming a file over another, start writing its blocks to the disk at once, so that a crash leaves no empty file: the next operation runs during that write. Other ways to write leave it to the kernel, seconds later. So rows that seem to do the same differ by up to 60 times there, and by little on file systems without that rule.";

const ASH: &str = "Mike Ash, Friday Q&A (2016), read in his program's source";

/// Sizes of the curves.
const SIZES: [u64; 7] = [16, 1 << 10, 16 << 10, 128 << 10, 1 << 20, 4 << 20, LARGE as u64];

/// Ways to put new content into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Truncate,
    NoTruncate,
    NewFile,
    Atomic,
    Durable,
}

pub(super) fn write_whole_probes() -> Vec<Probe> {
    let sizes = [(SMALL, "16B"), (LARGE, "16MiB")];
    let mut probes = Vec::new();
    for (bytes, size) in sizes {
        let ways = [
            (size.to_string(), Way::Truncate),
            (format!("{size}_no_truncate"), Way::NoTruncate),
            (format!("{size}_new_file"), Way::NewFile),
        ];
        probes.push(Probe {
            title: format!("a file of {size}, written over another").into(),
            operation: format!("As /{size}, one open() of a path with O_CREAT and O_TRUNC, write() of {size} of random data in one call, and close(); the file exists each time. As /{size}_no_truncate, the same without O_TRUNC, which writes over the same blocks. As /{size}_new_file, one unlink() of the file, then open() with O_CREAT and O_EXCL, write() and close().").into(),
            method: format!("{SINGLE} {FLUSH} Nothing is synced.").into(),
            source: format!("{ASH}: NSData's writeToFile without atomicity, the same path each time, is /{size}; the other rows are ours. GNUstep's does not sync; today's Foundation does; that of 2016 is unknown.").into(),
            ..writing("file.write_whole", bytes, ways.into())
        });
    }
    for (bytes, size) in sizes {
        probes.push(Probe {
            title: format!("a file of {size}, written under another name and renamed").into(),
            operation: format!("One open() of a temporary name with O_CREAT and O_EXCL, write() of {size} of random data in one call, close(), and rename() over the file, which exists each time: a reader sees the old content or the new one.").into(),
            method: format!("{SINGLE} {FLUSH} Nothing is synced, so that after a crash the file may hold either.").into(),
            source: format!("{ASH}: NSData's writeToFile with atomicity, the same path each time.").into(),
            ..writing("file.write_whole_atomic", bytes, vec![(size.into(), Way::Atomic)])
        });
    }
    probes.push(by_size());
    probes.push(Probe {
        title: "a file of 16 bytes, written durably".into(),
        operation: "One open() of a temporary name with O_CREAT and O_EXCL, write() of 16 bytes of random data, fsync(), close(), rename() over the file, which exists each time, open() of the directory, fsync() and close() of it: the new content survives a crash.".into(),
        method: format!("{SINGLE} What fsync() promises is the device's: on Apple systems it does not empty the disk's own cache (Rust's sync_all asks for that too, by F_FULLFSYNC), and a virtual disk may lie.").into(),
        source: "Ours: the order in which databases and others write a file that must be the old one or the new one after a crash.".into(),
        depends_on: Some(SharedPart::StorageDevice),
        effort: Effort {
            samples: 6,
            sample_ns: Some(1_500_000.0),
            ..effort(SMALL)
        },
        ..writing("file.write_durable", SMALL, vec![("16B".into(), Way::Durable)])
    });
    probes
}

/// Both of Ash's ways as curves.
fn by_size() -> Probe {
    const ATOMIC: &str = "file.write_whole_atomic";
    Probe {
        variants: vec!["".into(), ATOMIC.into()],
        title: "a file written whole, and atomically, by its size".into(),
        operation: "As file.write_whole, one open() of a path with O_CREAT and O_TRUNC, write() of random data in one call, and close(); the file exists each time. As file.write_whole_atomic, the same under a temporary name with O_CREAT and O_EXCL, and rename() over the file.".into(),
        method: format!("{SINGLE} {FLUSH} Nothing is synced.").into(),
        source: format!("{ASH}: NSData's writeToFile without and with atomicity, of 16 bytes and 16 MB; the sizes between are ours.").into(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        since: Scale::Full,
        shape: Shape::Curve(Axis::FileBytes, |_, _| SIZES.to_vec()),
        effort: Effort { working_set: WorkingSet::Point(1), samples: 6, sample_ns: Some(1e6), ..effort(LARGE) },
        on_disk: |site| Some(for_a_visit(2 * site.at.first()?, 2)),
        make: Box::new(|worker, site| {
            let bytes = site.at.first().copied().unwrap_or_default() as usize;
            let way = if site.variant == ATOMIC { Way::Atomic } else { Way::Truncate };
            let writing = Writing::new(worker, way, bytes)?;
            Ok(Box::new(Singles::new(writing).at_most(VISIT_AT_MOST)))
        }),
        ..Probe::blank("file.write_whole")
    }
}

fn effort(bytes: usize) -> Effort {
    let (visits, samples, restore_ns_per_byte, sample_ns) = match bytes {
        SMALL => (3, 30, 0.0, 300_000.0),
        _ => (2, 2, 1.0, 15e6),
    };
    Effort {
        visits,
        samples,
        working_set: WorkingSet::Fixed(bytes as u64),
        restore_ns_per_byte,
        sample_ns: Some(sample_ns),
    }
}

/// Without texts: files of this many bytes, the ways by variant.
fn writing(id: &'static str, bytes: usize, ways: Vec<(String, Way)>) -> Probe {
    Probe {
        variants: ways.iter().map(|(variant, _)| variant.clone().into()).collect(),
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort: effort(bytes),
        // The file, and the temporary one next to it.
        on_disk: match bytes {
            SMALL => |_| Some(for_a_visit(2 * SMALL as u64, 2)),
            _ => |_| Some(for_a_visit(2 * LARGE as u64, 2)),
        },
        make: Box::new(move |worker, site| {
            let way = ways.iter().find(|(variant, _)| *variant == site.variant);
            let (_, way) = way.ok_or_else(|| Reason::missing("there is no such way to write"))?;
            let writing = Writing::new(worker, *way, bytes)?;
            Ok(Box::new(Singles::new(writing).at_most(VISIT_AT_MOST)))
        }),
        ..Probe::blank(id)
    }
}

struct Writing<'a> {
    directory: OwnDirectory,
    path: PathBuf,
    temporary: PathBuf,
    way: Way,
    data: &'a [u8],
    note: Option<String>,
}

impl<'a> Writing<'a> {
    fn new(worker: &'a mut WorkerMemory, way: Way, bytes: usize) -> Result<Writing<'a>, WorkError> {
        let directory = OwnDirectory::make(worker, "write_whole")?;
        let note = filesystem_note(worker);
        let (data, _, rng) = worker.huge(bytes as u64)?;
        rng.fill(data);
        let writing = Writing {
            path: directory.join("file"),
            temporary: directory.join("file.temporary"),
            directory,
            way,
            data,
            note,
        };
        create_new(&writing.path, writing.data).map_err(|e| writing.failed(&e))?;
        Ok(writing)
    }

    fn failed(&self, error: &io::Error) -> WorkError {
        let size = model::size::format_size(self.data.len() as u64);
        self.directory.failed(&format!("writing a file of {size}"), error)
    }

    fn write(&self) -> io::Result<()> {
        match self.way {
            Way::Truncate => File::create(&self.path)?.write_all(self.data),
            Way::NoTruncate => {
                let mut options = File::options();
                options.write(true).create(true).truncate(false);
                options.open(&self.path)?.write_all(self.data)
            }
            Way::NewFile => {
                std::fs::remove_file(&self.path)?;
                create_new(&self.path, self.data).map(drop)
            }
            Way::Atomic => {
                drop(create_new(&self.temporary, self.data)?);
                std::fs::rename(&self.temporary, &self.path)
            }
            Way::Durable => {
                create_new(&self.temporary, self.data)?.sync_all()?;
                std::fs::rename(&self.temporary, &self.path)?;
                File::open(self.directory.path())?.sync_all()
            }
        }
    }
}

fn create_new(path: &Path, data: &[u8]) -> io::Result<File> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(data)?;
    Ok(file)
}

impl Single for Writing<'_> {
    fn perform(&mut self) -> Result<(), WorkError> {
        self.write().map_err(|e| self.failed(&e))
    }

    fn verify(&self) -> Result<(), WorkError> {
        let content = std::fs::read(&self.path).map_err(|e| self.failed(&e))?;
        let temporary = self.temporary.symlink_metadata();
        let temporary = !temporary.is_err_and(|e| e.kind() == ErrorKind::NotFound);
        match content == self.data && !temporary {
            true => Ok(()),
            false => Err(Reason::wrong("the file does not hold what was written").into()),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.note.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{row_work, worker_with_files};
    use meter::probe::Work;

    #[test]
    fn each_way_leaves_the_new_content_and_nothing_else() {
        for way in [Way::Truncate, Way::NoTruncate, Way::NewFile, Way::Atomic, Way::Durable] {
            let (dir, mut worker) = worker_with_files();
            let writing = Writing::new(&mut worker, way, 1000).expect("room");
            // Whatever was there before.
            std::fs::write(&writing.path, vec![7; 1000]).expect("room");
            assert!(Single::verify(&writing).is_err(), "{way:?}: it notices");
            let (path, directory) = (writing.path.clone(), writing.directory.path().to_owned());
            let mut singles = Singles::new(writing);
            assert_eq!(singles.stamped(3).expect("room").len(), 3, "{way:?}");
            assert_eq!(singles.verify(), Ok(()), "{way:?}");
            let names: Vec<_> = std::fs::read_dir(directory).expect("there").flatten().collect();
            assert_eq!(names.len(), 1, "{way:?}: {names:?}");
            assert_eq!(path.metadata().expect("there").len(), 1000);
            drop(singles);
            assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 0);
        }
    }

    #[test]
    fn a_visit_to_any_row_ends_in_time() {
        // At 20 ns an operation, which no file system comes near.
        const MANY: u32 = 5_000_000;
        let (_dir, mut worker) = worker_with_files();
        for row in write_whole_probes().iter().flat_map(Probe::row_ids) {
            let at: &[u64] = if row.contains('/') { &[] } else { &[1000] };
            let mut work = row_work(&write_whole_probes(), &row, at, &mut worker).expect("room");
            let made = work.stamped(MANY).expect("room").len();
            assert!((1..MANY as usize).contains(&made), "{row}: {made}");
        }
    }

    #[test]
    fn a_file_that_can_not_be_written_is_a_reason() {
        let (dir, mut worker) = worker_with_files();
        let mut writing = Writing::new(&mut worker, Way::Atomic, 16).expect("room");
        drop(dir);
        let why = writing.perform().expect_err("gone").to_string();
        assert!(why.starts_with("the scratch directory is gone (writing a file of 16B"), "{why}");
    }
}
