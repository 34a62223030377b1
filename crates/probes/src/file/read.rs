//! Reading files that the page cache holds: in calls, through a mapping, or
//! as the language does it.

use super::cached::{Faults, cached};
use super::prepared::{EFFORT, FILES, LONG_FROM, PUBLISHED, Prepared, on_disk, room, sizes};
use super::reader::{Reader, Way};
use crate::engine::files::second;
use crate::engine::repeated::PLAIN;
use kernels::checked::{sum_every_4th, words};
use meter::probe::{Derive, Effort, Probe, Shape, Site, Work, WorkError, WorkingSet};
use meter::worker_memory::WorkerMemory;
use model::run::{Axis, Regime};
use std::ffi::OsStr;
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use sys::mapping::FileView;
use sys::system_calls::{open_close, open_for_reading as open_path, rewind};

const BUFFER: &str =
    "The buffer is page-aligned, on base pages and touched before the first sample.";

const LONG: &str =
    "Files from 3 MiB on take longer than a short sample and are measured as a distribution.";

const KURKIN: &str = "Dmitry Kurkin, Latency Numbers on iPhone (2018), and his program, a port of LMbench's bw_file_rd that does not load the data.";

const LMBENCH: &str = "LMbench's bw_file_rd, read in its source.";

const SUMMED: &str = "LMbench adds the elements up in one chain of dependent additions, this row in four chains at once, which takes less time: from 64 KiB on the difference shows. LMbench prints MB/s, of 1e6 bytes.";

const MEMORY: &str = "The memory comes from the allocator each time, as that of NSData did. The note on page faults says whether it is fresh (glibc maps a large block once and then keeps its addresses, so its pages are fresh in the first operation only).";

/// Bytes of the file that is opened and closed.
const OPENED_BYTES: u64 = 1 << 10;

/// The curves over the size of a file, and opening alone.
pub(super) fn read_probes() -> Vec<Probe> {
    let method = |lmbench: &str| {
        format!(
            "{PLAIN} {BUFFER} The data is not loaded after the call. {FILES} {LONG} LMbench's {lmbench} differs from /chunked in two ways, and /as_lmbench is that row: it sums the data, and makes one more call, of 0 bytes."
        )
    };
    vec![
        Probe {
            variants: vec!["".into(), "chunked".into()],
            title: "reading a file that is open, from the page cache".into(),
            operation: "One lseek() to the beginning of an open file and one read() of all of it into a buffer; as /chunked, read() calls of 64 KiB into one buffer of that size until all is read.".into(),
            method: method("io_only").into(),
            source: KURKIN.into(),
            derive: Derive::Points(PUBLISHED),
            make: Box::new(open_alone),
            ..curve("file.read_open")
        },
        Probe {
            variants: vec!["as_lmbench".into()],
            title: "reading and summing a file that is open, as LMbench does".into(),
            operation: "One lseek() to the beginning of an open file, read() calls of 64 KiB (of the whole file if that is smaller), each followed by a load of every 8-byte element of what it read, and a last read() of 0 bytes.".into(),
            method: format!("{PLAIN} {BUFFER} {FILES} {LONG} {SUMMED}").into(),
            source: LMBENCH.into(),
            make: Box::new(open_alone),
            ..as_lmbench("file.read_open")
        },
        Probe {
            variants: vec!["".into(), "chunked".into()],
            title: "opening, reading and closing a file, from the page cache".into(),
            operation: "One open() of a file by its path, one read() of all of it into a buffer, and its close(); as /chunked, read() calls of 64 KiB into one buffer of that size until all is read.".into(),
            method: method("open2close").into(),
            source: KURKIN.into(),
            make: Box::new(with_open),
            ..curve("file.read_with_open")
        },
        Probe {
            variants: vec!["as_lmbench".into()],
            title: "opening, reading, summing and closing a file, as LMbench does".into(),
            operation: "One open() of a file by its path, read() calls of 64 KiB (of the whole file if that is smaller), each followed by a load of every 8-byte element of what it read, a last read() of 0 bytes, and its close().".into(),
            method: format!("{PLAIN} {BUFFER} {FILES} {LONG} {SUMMED}").into(),
            source: LMBENCH.into(),
            make: Box::new(with_open),
            ..as_lmbench("file.read_with_open")
        },
        Probe {
            title: "opening and closing a file in the scratch directory".into(),
            operation: "One open() of the C library of a file by its path for reading, and its close(), nothing read.".into(),
            method: format!("{PLAIN} The file holds 1 KiB of random data in the run's directory for files, so that the path has as many directories as that of the other file rows. The kernel has all it needs in memory; /proc/self/io shows whether anything came from storage. It is what file.read_with_open does besides reading; file.open is the same call on a system file.").into(),
            source: "Dmitry Kurkin, Latency Numbers on iPhone (2018): 50 microseconds, whatever the size of the file.".into(),
            effort: Effort::visits(8),
            on_disk: |_| Some(room(OPENED_BYTES)),
            make: Box::new(|worker, _| {
                let prepared = Prepared::with_size(worker, OPENED_BYTES)?;
                let path = prepared.path.clone();
                cached("opening", &prepared, Faults::Trouble, move || open_close(&path))
            }),
            ..Probe::blank("file.open_close")
        },
        Probe {
            variants: vec!["".into(), "with_open".into()],
            title: "reading a file through a mapping, from the page cache".into(),
            operation: "One mmap() of an open file (MAP_SHARED, for reading), a load of every 4th 4-byte element of it, so that each page is touched, and its munmap(); as /with_open, open() before and close() after.".into(),
            method: format!("{PLAIN} {FILES} {LONG} The page faults are part of the operation. How many there are is the kernel's choice, which maps neighbouring pages and whole large folios too. Of files below 512 bytes, which have fewer elements than a turn of the loop, one byte is loaded.").into(),
            source: "LMbench's bw_mmap_rd: its open2close is /with_open, but adds up every 8-byte element, which is more work; its mmap_only maps once, before the time, and is then a row of memory on a file's pages.".into(),
            effort: Effort {
                // There is no buffer.
                working_set: WorkingSet::Own(1),
                restore_ns_per_byte: 0.6,
                ..EFFORT
            },
            make: Box::new(mapped),
            ..curve("file.mmap_read")
        },
    ]
}

fn curve(id: &'static str) -> Probe {
    Probe {
        long_from: Some(LONG_FROM),
        shape: Shape::Curve(Axis::FileBytes, sizes),
        effort: EFFORT,
        on_disk,
        ..Probe::blank(id)
    }
}

/// The sizes at which it is compared with LMbench.
fn as_lmbench(id: &'static str) -> Probe {
    Probe {
        shape: Shape::Curve(Axis::FileBytes, |_, _| vec![1 << 10, 64 << 10, 1 << 20, 10 << 20]),
        effort: Effort { visits: 4, ..EFFORT },
        ..curve(id)
    }
}

fn reader(worker: &WorkerMemory, site: &Site) -> Result<(Prepared, Reader), WorkError> {
    let prepared = Prepared::with_size(worker, site.at[0])?;
    let reader = Reader::new(Way::from_variant(&site.variant), prepared.bytes)?;
    Ok((prepared, reader))
}

fn open_alone<'b>(
    worker: &'b mut WorkerMemory,
    site: &Site,
) -> Result<Box<dyn Work + 'b>, WorkError> {
    let (prepared, mut reader) = reader(worker, site)?;
    let file = second(&prepared.file)?;
    cached("reading", &prepared, Faults::Trouble, move || {
        rewind(&file)?;
        reader.read_once(&file).map(black_box).map(drop)
    })
}

fn with_open<'b>(
    worker: &'b mut WorkerMemory,
    site: &Site,
) -> Result<Box<dyn Work + 'b>, WorkError> {
    let (prepared, mut reader) = reader(worker, site)?;
    let path = prepared.path.clone();
    cached("opening and reading", &prepared, Faults::Trouble, move || {
        let file = open_path(&path)?;
        reader.read_once(&file).map(black_box).map(drop)
    })
}

fn mapped<'b>(worker: &'b mut WorkerMemory, site: &Site) -> Result<Box<dyn Work + 'b>, WorkError> {
    let prepared = Prepared::with_size(worker, site.at[0])?;
    let bytes = prepared.bytes;
    if site.variant == "with_open" {
        let path = prepared.path.clone();
        return cached("opening and mapping", &prepared, Faults::Belong, move || {
            load_all(open_path(&path)?, bytes)
        });
    }
    let file = second(&prepared.file)?;
    cached("mapping", &prepared, Faults::Belong, move || load_all(&file, bytes))
}

#[inline]
fn load_all(file: impl AsFd, bytes: usize) -> io::Result<()> {
    let view = FileView::new(file, bytes)?;
    black_box(load(view.as_slice()));
    Ok(())
}

/// The sum of every 4th element; of less than a turn of the loop, a byte.
#[inline]
fn load(bytes: &[u8]) -> u32 {
    match bytes.len() {
        0 => 0,
        1..512 => u32::from(bytes[0]),
        _ => sum_every_4th(words(bytes)),
    }
}

/// Files read whole by the language, as Ash did.
pub(super) fn whole() -> Vec<Probe> {
    vec![
        Probe {
            title: "a file of 16 bytes, read whole".into(),
            method: format!("{PLAIN} {FILES} {MEMORY}").into(),
            effort: Effort::visits(8),
            on_disk: |_| Some(room(16)),
            ..read_whole("16B", 16)
        },
        Probe {
            title: "a file of 16 MiB, read whole".into(),
            method: format!("Single operations, whose distribution is reported, since they take milliseconds. {FILES} {MEMORY}").into(),
            regime: Regime::Distribution,
            // With a share of the two passes before the first.
            effort: Effort::stamped(2, 5, 7e6),
            on_disk: |_| Some(room(16 << 20)),
            ..read_whole("16MiB", 16 << 20)
        },
    ]
}

fn read_whole(size: &'static str, bytes: usize) -> Probe {
    Probe {
        variants: vec![size.into()],
        operation: format!("One std::fs::read() of a file of {size} by its path: open(), a stat of the open file for its size, memory from the allocator, read() of all of it in one call, a second read() that finds the end, close(); and the memory freed.").into(),
        source: "Mike Ash, Friday Q&A (2016), read in his program's source: NSData's dataWithContentsOfFile on a file of random bytes: open, fstat, read, close, the object released each turn. The read() that finds the end is Rust's alone.".into(),
        make: Box::new(move |worker, _| {
            let prepared = Prepared::with_size(worker, bytes as u64)?;
            let path = Path::new(OsStr::from_bytes(prepared.path.as_bytes())).to_owned();
            cached("reading the file", &prepared, Faults::Noted, move || {
                let data = black_box(std::fs::read(&path)?);
                match data.len() == bytes {
                    true => Ok(()),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                }
            })
        }),
        ..Probe::blank("file.read_whole")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{directory, row_work, run_at, run_row, worker_with_files};
    use meter::probe::MachineShape;
    use std::fs::File;

    #[test]
    fn every_page_is_loaded() {
        assert_eq!(load(&[7; 100]), 7);
        let page = sys::base_page_bytes();
        for pages in [1, 3] {
            // 512 bytes are a turn: the last of each page is within one.
            let mut bytes = vec![0; pages * page];
            for k in 0..pages {
                bytes[k * page] = 1;
                bytes[(k + 1) * page - 16] = 2;
            }
            // The vector may begin anywhere in a word's alignment.
            assert_eq!(load(&bytes), 3 * pages as u32);
        }
    }

    #[test]
    fn every_row_names_its_file_system_and_what_served_it() {
        let probes = crate::catalogue();
        for row in [
            "file.read_open",
            "file.read_with_open/chunked",
            "file.read_open/as_lmbench",
            "file.open_close",
            "file.mmap_read",
            "file.mmap_read/with_open",
            "file.read_whole/16B",
        ] {
            for bytes in [1, 100, 512, 100_000] {
                let notes = run_at(&probes, row, &[bytes]).expect("it runs");
                assert!(notes[0].starts_with("file system: "), "{row}: {notes:?}");
                assert!(notes[1].contains("page cache"), "{row}: {notes:?}");
            }
        }
    }

    #[test]
    fn without_a_directory_the_reason_is_given() {
        let mut worker = WorkerMemory::new(MachineShape::default(), 0, 0, 1);
        let why = row_work(&read_probes(), "file.open_close", &[], &mut worker).err();
        assert_eq!(
            why.map(|why| why.to_string()).as_deref(),
            Some("no directory for files was made")
        );
        run_row(&read_probes(), "file.open_close").expect("with one");
    }

    #[test]
    fn a_file_that_changes_ends_the_row() {
        let (_dir, mut worker) = worker_with_files();
        let bytes = 16 << 20;
        let path = directory(&worker).join(format!("read-{bytes}"));
        let mut work = row_work(&whole(), "file.read_whole/16MiB", &[], &mut worker).expect("room");
        work.restore();
        work.run(1, false);
        assert_eq!(work.verify(), Ok(()));
        assert!(work.notes()[2].starts_with("page faults"));
        let file = File::options().write(true).open(path).expect("there");
        file.set_len(2 * bytes).expect("room");
        work.run(1, false);
        let why = work.verify().expect_err("another file").to_string();
        assert!(why.starts_with("reading the file failed"), "{why}");
    }
}
