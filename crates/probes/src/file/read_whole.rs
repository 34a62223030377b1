//! A file read whole, as Ash did.

use crate::own_directory::OwnDirectory;
use crate::repeated::{PLAIN, Repeated};
use crate::singles::{Single, Singles};
use meter::bench::Bench;
use meter::probe::{Effort, Probe, Work};
use model::run::{Bound, Regime};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const SMALL: usize = 16;
const LARGE: usize = 16 << 20;

const OPERATION: &str = "open() of a file by its path, fstat(), read() of all of it in one call into memory that is allocated for it, close(), and the memory freed; the page cache has the file";

const SOURCE: &str = "Mike Ash, Friday Q&A (2016), read in his program's source: NSData's dataWithContentsOfFile on a file of random bytes, its object released each turn, so that memory is allocated and freed in the time there too.";

pub(super) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            variants: vec!["16B".into()],
            title: "a file of 16 bytes, read whole".into(),
            operation: format!("One {OPERATION}: 16 bytes.").into(),
            method: format!("{PLAIN} The file is written just before.").into(),
            source: SOURCE.into(),
            effort: Effort {
                visits: 8,
                ..Effort::SCALAR
            },
            on_disk: |_| Some(super::for_a_visit(SMALL as u64, 1)),
            make: Box::new(|bench, _| small(bench)),
            ..blank()
        },
        Probe {
            variants: vec!["16MiB".into(), "16MiB_reused_memory".into()],
            title: "a file of 16 MiB, read whole".into(),
            operation: format!("One {OPERATION}: 16 MiB. /16MiB_reused_memory: the same into memory that was read into before, so that nothing is allocated and no page is fresh.").into(),
            method: "Single operations between two stamps, after one that is not counted. The file is written just before. Fresh memory costs a page fault for each of its pages, which the read brings in: the two rows differ by that.".into(),
            source: SOURCE.into(),
            regime: Regime::Stamped,
            effort: Effort {
                visits: 2,
                samples: 5,
                sample_ns: Some(10e6),
                ..Effort::SCALAR
            },
            on_disk: |_| Some(super::for_a_visit(LARGE as u64, 1)),
            make: Box::new(|bench, site| {
                let reused = site.variant.ends_with("reused_memory");
                Ok(Box::new(Singles::new(Large::new(bench, reused)?)))
            }),
            ..blank()
        },
    ]
}

fn blank() -> Probe {
    Probe {
        bound: Bound::Memory,
        ..Probe::blank("file.read_whole")
    }
}

/// The operation.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    // Memory that comes zeroed: fresh pages of the system are, and cost
    // nothing before they are touched.
    let mut data = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    file.read_exact(&mut data)?;
    Ok(data)
}

/// The same into memory that is there.
fn read_into(path: &Path, data: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    data.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
    file.read_exact(data)
}

/// A file of random bytes in a directory of its own.
struct Written {
    directory: OwnDirectory,
    path: PathBuf,
    content: Vec<u8>,
}

impl Written {
    fn new(bench: &mut Bench, bytes: usize) -> Result<Written, String> {
        let directory = OwnDirectory::make(bench, "read_whole")?;
        let path = directory.join("file");
        let mut content = vec![0; bytes];
        bench.rng.fill(&mut content);
        std::fs::write(&path, &content).map_err(|e| {
            let size = model::size::text(bytes as u64);
            directory.failed(&format!("writing a file of {size}"), &e)
        })?;
        Ok(Written {
            directory,
            path,
            content,
        })
    }
}

fn small<'w>(bench: &mut Bench) -> Result<Box<dyn Work + 'w>, String> {
    let written = Written::new(bench, SMALL)?;
    let notes = super::filesystem_notes(bench);
    let mut work = Repeated::new("reading the file", move || {
        black_box(read(&written.path)?);
        Ok(())
    })?;
    for note in notes {
        work = work.with_note(note);
    }
    Ok(Box::new(work))
}

struct Large {
    written: Written,
    /// What was read last; kept where memory is reused.
    data: Vec<u8>,
    reused: bool,
    notes: Vec<String>,
}

impl Large {
    fn new(bench: &mut Bench, reused: bool) -> Result<Large, String> {
        Ok(Large {
            written: Written::new(bench, LARGE)?,
            data: Vec::new(),
            reused,
            notes: super::filesystem_notes(bench),
        })
    }
}

impl Single for Large {
    fn perform(&mut self) -> Result<(), String> {
        let done = match self.reused {
            true => read_into(&self.written.path, &mut self.data),
            false => read(&self.written.path).map(|data| drop(black_box(data))),
        };
        done.map_err(|e| self.written.directory.failed("reading a file of 16MiB", &e))
    }

    fn verify(&self) -> Result<(), String> {
        // Only what is kept can be looked at.
        match !self.reused || self.data == self.written.content {
            true => Ok(()),
            false => Err("what was read is not what was written".into()),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}
