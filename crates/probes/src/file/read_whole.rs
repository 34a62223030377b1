//! A file read whole, as Ash did.

use crate::faults::Faulting;
use crate::own_directory::OwnDirectory;
use crate::repeated::{PLAIN, Repeated};
use meter::bench::Bench;
use meter::probe::{Effort, Probe, Work};
use model::run::{Bound, Regime};
use std::hint::black_box;
use std::io;
use std::path::PathBuf;

const SMALL: usize = 16;
const LARGE: usize = 16 << 20;

const MEMORY: &str = "The file is written just before, so the page cache has it. Its memory comes from the allocator each time, as that of NSData did: whether it is fresh, the note on page faults says (glibc maps a large block once and then keeps its addresses, so its pages are fresh in the first operation only).";

pub(super) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "a file of 16 bytes, read whole".into(),
            method: format!("{PLAIN} {MEMORY}").into(),
            effort: Effort {
                visits: 8,
                ..Effort::SCALAR
            },
            on_disk: |_| Some(super::for_a_visit(SMALL as u64, 1)),
            ..of(SMALL, "16B")
        },
        Probe {
            title: "a file of 16 MiB, read whole".into(),
            method: format!("Single operations, whose distribution is reported, since they take milliseconds. {MEMORY}").into(),
            regime: Regime::Distribution,
            effort: Effort {
                visits: 2,
                samples: 5,
                sample_ns: Some(5e6),
                ..Effort::SCALAR
            },
            on_disk: |_| Some(super::for_a_visit(LARGE as u64, 1)),
            ..of(LARGE, "16MiB")
        },
    ]
}

fn of(bytes: usize, size: &'static str) -> Probe {
    Probe {
        variants: vec![size.into()],
        operation: format!("One std::fs::read() of a file of {size} by its path: open(), a stat of the open file for its size, memory from the allocator, read() of all of it in one call, a second read() that finds the end, close(); and the memory freed.").into(),
        source: "Mike Ash, Friday Q&A (2016), read in his program's source: NSData's dataWithContentsOfFile on a file of random bytes: open, fstat, read, close, the object released each turn. The read() that finds the end is Rust's alone.".into(),
        bound: Bound::Memory,
        make: Box::new(move |bench, _| reading(bench, bytes)),
        ..Probe::blank("file.read_whole")
    }
}

/// A file of random bytes in a directory of its own.
struct Written {
    _directory: OwnDirectory,
    path: PathBuf,
    bytes: usize,
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
            path,
            bytes,
            _directory: directory,
        })
    }

    /// The operation.
    fn read(&self) -> io::Result<()> {
        let data = black_box(std::fs::read(&self.path)?);
        match data.len() == self.bytes {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

fn reading<'w>(bench: &mut Bench, bytes: usize) -> Result<Box<dyn Work + 'w>, String> {
    let written = Written::new(bench, bytes)?;
    let mut work = Repeated::new("reading the file", move || written.read())?;
    for note in super::filesystem_notes(bench) {
        work = work.with_note(note);
    }
    Ok(Box::new(Faulting::new(work)))
}
