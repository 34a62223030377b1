//! A file written whole: Ash's way, and other ways to the same end.

use crate::own_directory::OwnDirectory;
use crate::singles::{Single, Singles, VISIT_AT_MOST};
use meter::bench::Bench;
use meter::probe::{Effort, Probe, Site, WorkingSet};
use model::run::{Bound, Regime};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const SMALL: usize = 16;
const LARGE: usize = 16 << 20;

const SINGLE: &str = "Single operations between two stamps, after one that is not counted: the file is there and has that length when an operation begins. A visit ends after 0.1 s and one operation, so that a slow disk has fewer samples. Afterwards the file is read and must hold what was written.";

const FLUSH: &str = "On ext4 (auto_da_alloc, its default) closing a file that was truncated and written again, and renaming a file over another, start writing its blocks to the disk at once, so that a crash leaves no empty file: the next operation meets that writing. Other ways to write leave it to the kernel, seconds later. So rows that seem to do the same differ by up to 60 times there, and by little on file systems without that rule.";

const ASH: &str = "Mike Ash, Friday Q&A (2016), read in his program's source";

pub(super) fn probes() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (bytes, size) in [(SMALL, "16B"), (LARGE, "16MiB")] {
        probes.push(Probe {
            variants: vec![
                size.into(),
                format!("{size}_no_truncate").into(),
                format!("{size}_new_file").into(),
            ],
            title: format!("a file of {size}, written over another").into(),
            operation: format!("As /{size}, one open() of a path with O_CREAT and O_TRUNC, write() of {size} of random data in one call, and close(); the file is there each time. As /{size}_no_truncate, the same without O_TRUNC, which writes over the same blocks. As /{size}_new_file, one unlink() of the file, then open() with O_CREAT and O_EXCL, write() and close().").into(),
            method: format!("{SINGLE} {FLUSH} Nothing is synced.").into(),
            source: format!("{ASH}: NSData's writeToFile without atomicity, the same path each time; /{size} is that, the others are beside it. GNUstep's does not sync; today's Foundation does; that of 2016 is unknown.").into(),
            ..blank("file.write_whole", bytes)
        });
    }
    for (bytes, size) in [(SMALL, "16B"), (LARGE, "16MiB")] {
        probes.push(Probe {
            variants: vec![size.into()],
            title: format!("a file of {size}, written beside another and renamed over it").into(),
            operation: format!("One open() of a temporary name with O_CREAT and O_EXCL, write() of {size} of random data in one call, close(), and rename() over the file, which is there each time: who reads it sees the old content or the new one.").into(),
            method: format!("{SINGLE} {FLUSH} Nothing is synced, so that after a crash either may be there.").into(),
            source: format!("{ASH}: NSData's writeToFile with atomicity, the same path each time.").into(),
            ..blank("file.write_whole_atomic", bytes)
        });
    }
    probes.push(Probe {
        variants: vec!["16B".into()],
        title: "a file of 16 bytes, written to stay".into(),
        operation: "One open() of a temporary name with O_CREAT and O_EXCL, write() of 16 bytes of random data, fsync(), close(), rename() over the file, which is there each time, open() of the directory, fsync() and close() of it: the new content is there after a crash.".into(),
        method: format!("{SINGLE} What fsync() promises is the device's: on Apple systems it does not empty the disk's own cache (Rust's sync_all asks for that too, by F_FULLFSYNC), and a virtual disk may lie.").into(),
        source: "Ours: the order in which a file that must be the old one or the new one, and stay so, is written by those who have to, such as databases.".into(),
        effort: Effort {
            visits: 3,
            samples: 6,
            working_set: WorkingSet::Fixed(SMALL as u64),
            sample_ns: Some(1_500_000.0),
            ..Effort::SCALAR
        },
        ..blank("file.write_durable", SMALL)
    });
    probes
}

/// Without texts: files of this many bytes.
fn blank(id: &'static str, bytes: usize) -> Probe {
    let effort = match bytes {
        SMALL => Effort {
            visits: 3,
            samples: 30,
            working_set: WorkingSet::Fixed(SMALL as u64),
            sample_ns: Some(300_000.0),
            ..Effort::SCALAR
        },
        _ => Effort {
            visits: 2,
            samples: 2,
            working_set: WorkingSet::Fixed(LARGE as u64),
            restore_ns_per_byte: 1.0,
            sample_ns: Some(15e6),
        },
    };
    Probe {
        bound: Bound::Memory,
        regime: Regime::Stamped,
        effort,
        // The file, and the temporary one beside it.
        on_disk: match bytes {
            SMALL => |_| Some(super::for_a_visit(2 * SMALL as u64, 2)),
            _ => |_| Some(super::for_a_visit(2 * LARGE as u64, 2)),
        },
        make: Box::new(move |bench, site| {
            let way = Way::of(id, site);
            let writing = Writing::new(bench, way, bytes)?;
            Ok(Box::new(Singles::new(writing).at_most(VISIT_AT_MOST)))
        }),
        ..Probe::blank(id)
    }
}

/// Ways to put new content into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Truncate,
    NoTruncate,
    NewFile,
    Atomic,
    Durable,
}

impl Way {
    fn of(probe: &str, site: &Site) -> Way {
        match probe {
            "file.write_whole_atomic" => Way::Atomic,
            "file.write_durable" => Way::Durable,
            _ if site.variant.ends_with("_no_truncate") => Way::NoTruncate,
            _ if site.variant.ends_with("_new_file") => Way::NewFile,
            _ => Way::Truncate,
        }
    }
}

struct Writing<'a> {
    directory: OwnDirectory,
    path: PathBuf,
    temporary: PathBuf,
    way: Way,
    data: &'a [u8],
    notes: Vec<String>,
}

impl<'a> Writing<'a> {
    fn new(bench: &'a mut Bench, way: Way, bytes: usize) -> Result<Writing<'a>, String> {
        let directory = OwnDirectory::make(bench, "write_whole")?;
        let notes = super::filesystem_notes(bench);
        let (data, _, rng) = bench.huge(bytes as u64)?;
        rng.fill(data);
        let writing = Writing {
            path: directory.join("file"),
            temporary: directory.join("file.temporary"),
            directory,
            way,
            data,
            notes,
        };
        create_new(&writing.path, writing.data).map_err(|e| writing.failed(&e))?;
        Ok(writing)
    }

    fn failed(&self, error: &io::Error) -> String {
        let size = model::size::text(self.data.len() as u64);
        self.directory
            .failed(&format!("writing a file of {size}"), error)
    }

    /// The operation.
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
    fn perform(&mut self) -> Result<(), String> {
        self.write().map_err(|e| self.failed(&e))
    }

    fn verify(&self) -> Result<(), String> {
        let content = std::fs::read(&self.path).map_err(|e| self.failed(&e))?;
        let found = self.temporary.symlink_metadata();
        let temporary = !found.is_err_and(|e| e.kind() == ErrorKind::NotFound);
        match content == self.data && !temporary {
            true => Ok(()),
            false => Err("the file does not hold what was written".into()),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;
    use meter::probe::Work;

    #[test]
    fn every_row_has_its_way() {
        let way = |probe: &str, variant: &str| {
            let site = Site {
                variant: variant.into(),
                at: Vec::new(),
            };
            Way::of(probe, &site)
        };
        for size in ["16B", "16MiB"] {
            assert_eq!(way("file.write_whole", size), Way::Truncate);
            let beside = |end: &str| way("file.write_whole", &format!("{size}_{end}"));
            assert_eq!(beside("no_truncate"), Way::NoTruncate);
            assert_eq!(beside("new_file"), Way::NewFile);
            assert_eq!(way("file.write_whole_atomic", size), Way::Atomic);
        }
        assert_eq!(way("file.write_durable", "16B"), Way::Durable);
    }

    #[test]
    fn each_way_leaves_the_new_content_and_nothing_else() {
        for way in [
            Way::Truncate,
            Way::NoTruncate,
            Way::NewFile,
            Way::Atomic,
            Way::Durable,
        ] {
            let (dir, terrain) = smoke::with_files();
            let mut bench = Bench::new(terrain, 1 << 20, 0, 1);
            let writing = Writing::new(&mut bench, way, 1000).expect("room");
            // Whatever was there before.
            std::fs::write(&writing.path, vec![7; 1000]).expect("room");
            assert!(Single::verify(&writing).is_err(), "{way:?}: it notices");
            let (path, directory) = (writing.path.clone(), writing.directory.path().to_owned());
            let mut singles = Singles::new(writing);
            assert_eq!(singles.stamped(3).expect("room").len(), 3, "{way:?}");
            assert_eq!(singles.verify(), Ok(()), "{way:?}");
            let names: Vec<_> = std::fs::read_dir(directory)
                .expect("there")
                .flatten()
                .collect();
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
        let (_dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, LARGE as u64, 0, 1);
        for probe in probes() {
            for row in probe.row_ids() {
                let site = Site {
                    variant: probe.variant_of(&row).to_string(),
                    at: Vec::new(),
                };
                let mut work = (probe.make)(&mut bench, &site).expect("room");
                let events = work.stamped(MANY).expect("room");
                let made = events.len();
                assert!((1..MANY as usize).contains(&made), "{row}: {made}");
            }
        }
    }

    #[test]
    fn a_file_that_can_not_be_written_is_said() {
        let (dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 1 << 20, 0, 1);
        let mut writing = Writing::new(&mut bench, Way::Atomic, 16).expect("room");
        drop(dir);
        let why = writing.perform().expect_err("gone");
        assert!(
            why.starts_with("the scratch directory is gone (writing a file of 16B"),
            "{why}"
        );
    }
}
