//! A file read whole, as Ash did.

use super::cached::Cached;
use super::prepared::{FILES, Prepared, room};
use crate::faults::Faulting;
use crate::repeated::PLAIN;
use meter::bench::Bench;
use meter::probe::{Effort, Probe, Work};
use model::run::Regime;
use std::ffi::OsStr;
use std::hint::black_box;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const SMALL: usize = 16;
const LARGE: usize = 16 << 20;

const MEMORY: &str = "The memory comes from the allocator each time, as that of NSData did: whether it is fresh, the note on page faults says (glibc maps a large block once and then keeps its addresses, so its pages are fresh in the first operation only).";

pub(super) fn probes() -> Vec<Probe> {
    vec![
        Probe {
            title: "a file of 16 bytes, read whole".into(),
            method: format!("{PLAIN} {FILES} {MEMORY}").into(),
            effort: Effort {
                visits: 8,
                ..Effort::SCALAR
            },
            on_disk: |_| Some(room(SMALL as u64)),
            ..of(SMALL, "16B")
        },
        Probe {
            title: "a file of 16 MiB, read whole".into(),
            method: format!("Single operations, whose distribution is reported, since they take milliseconds. {FILES} {MEMORY}").into(),
            regime: Regime::Distribution,
            effort: Effort {
                visits: 2,
                samples: 5,
                // With a share of the two passes before the first.
                sample_ns: Some(7e6),
                ..Effort::SCALAR
            },
            on_disk: |_| Some(room(LARGE as u64)),
            ..of(LARGE, "16MiB")
        },
    ]
}

fn of(bytes: usize, size: &'static str) -> Probe {
    Probe {
        variants: vec![size.into()],
        operation: format!("One std::fs::read() of a file of {size} by its path: open(), a stat of the open file for its size, memory from the allocator, read() of all of it in one call, a second read() that finds the end, close(); and the memory freed.").into(),
        source: "Mike Ash, Friday Q&A (2016), read in his program's source: NSData's dataWithContentsOfFile on a file of random bytes: open, fstat, read, close, the object released each turn. The read() that finds the end is Rust's alone.".into(),
        make: Box::new(move |bench, _| reading(bench, bytes)),
        ..Probe::blank("file.read_whole")
    }
}

/// The operation.
fn read(path: &Path, bytes: usize) -> io::Result<()> {
    let data = black_box(std::fs::read(path)?);
    match data.len() == bytes {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn reading<'w>(bench: &mut Bench, bytes: usize) -> Result<Box<dyn Work + 'w>, String> {
    let prepared = Prepared::of(bench, bytes as u64)?;
    let path = Path::new(OsStr::from_bytes(prepared.path.as_bytes())).to_owned();
    let call = move || read(&path, bytes);
    let work = Cached::new("reading the file", &prepared, true, call)?;
    Ok(Box::new(Faulting::new(work)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;
    use std::fs::File;

    #[test]
    fn a_file_that_left_the_page_cache_contradicts() {
        let (dir, terrain) = smoke::with_files();
        let mut bench = Bench::new(terrain, 0, 0, 1);
        let mut work = reading(&mut bench, LARGE).expect("room");
        work.restore();
        work.run(1, false);
        assert_eq!(work.verify(), Ok(()));
        // Other tests of this process may be reading from storage just now.
        let why = work.contradiction().unwrap_or_default();
        assert!(!why.contains("the page cache held"), "{why}");
        let notes = work.notes();
        assert!(notes[0].starts_with("file system: "), "{notes:?}");
        assert!(notes[1].contains("page cache"), "{notes:?}");
        assert!(notes[2].starts_with("page faults"), "{notes:?}");
        // A hole at the end is in no page cache.
        let path = dir.path().join(format!("read-{LARGE}"));
        let file = File::options().write(true).open(path).expect("there");
        file.set_len(2 * LARGE as u64).expect("room");
        let why = work.contradiction().expect("half of it is not there");
        let half = "the page cache held 16.0MiB of 32.0MiB";
        assert!(why.ends_with(half), "{why}");
        work.run(1, false);
        let why = work.verify().expect_err("another file");
        assert!(why.starts_with("reading the file failed"), "{why}");
    }
}
