//! Reading a file that the page cache holds: open already, or opened for it.

use super::cached::Cached;
use super::prepared::{EFFORT, FILES, LONG_FROM, PUBLISHED, Prepared, on_disk, sizes};
use crate::repeated::PLAIN;
use kernels::checked::read_stride;
use meter::bench::Bench;
use meter::probe::{Derive, Effort, Probe, Shape, Site, Work};
use model::run::{Axis, Regime};
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use sys::pages::{Buffer, PageKind};
use sys::system_calls::{open as open_path, read as read_call, rewind};

/// The size of a call where a file is read in several: Kurkin's and LMbench's.
const CALL_BYTES: usize = 64 << 10;

/// What LMbench adds up: longs.
const WORD_BYTES: usize = 8;

const BUFFER: &str = "The buffer is page-aligned, on base pages and touched before.";

const KURKIN: &str = "Dmitry Kurkin, Latency Numbers on iPhone (2018), and his program, a port of LMbench's bw_file_rd that never looks at the data.";

const LMBENCH: &str = "LMbench's bw_file_rd, read in its source.";

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In one call.
    Whole,
    /// In calls of 64 KiB, until all is read.
    Chunked,
    /// In calls of 64 KiB, each summed, until a call of 0 bytes ends it.
    AsLmbench,
}

impl Way {
    fn of(site: &Site) -> Way {
        match site.variant.as_str() {
            "chunked" => Way::Chunked,
            "as_lmbench" => Way::AsLmbench,
            _ => Way::Whole,
        }
    }
}

/// The file stays open.
pub(super) fn open() -> Probe {
    Probe {
        variants: vec!["".into(), "chunked".into()],
        title: "reading a file that is open, from the page cache".into(),
        operation: "One lseek() to the beginning of an open file and one read() of the whole of it into a buffer; as /chunked, read() calls of 64 KiB into one buffer of that size until all is read.".into(),
        method: format!("{PLAIN} {BUFFER} Nobody looks at the data. {FILES} Files from 3 MiB on take longer than a short sample and are measured as a distribution. LMbench's io_only differs from /chunked in two ways, of which /as_lmbench is the row: it sums the data, and makes one more call, of 0 bytes.").into(),
        source: KURKIN.into(),
        derive: Derive::Points(PUBLISHED),
        make: Box::new(|bench, site| still_open(bench, site)),
        ..curve("file.read_open")
    }
}

/// As LMbench does it with io_only.
pub(super) fn open_as_lmbench() -> Probe {
    Probe {
        variants: vec!["as_lmbench".into()],
        title: "reading and summing a file that is open, as LMbench does".into(),
        operation: "One lseek() to the beginning of an open file, read() calls of 64 KiB (of the whole file if that is smaller), each followed by a load of every 8-byte element of what it read, and a last read() of 0 bytes.".into(),
        method: format!("{PLAIN} {BUFFER} {FILES} Files from 3 MiB on take longer than a short sample and are measured as a distribution. LMbench adds the elements up in one chain of dependent additions, ours in four chains at once, which takes less time: from 64 KiB on the difference shows. LMbench prints MB/s, of 1e6 bytes.").into(),
        source: LMBENCH.into(),
        make: Box::new(|bench, site| still_open(bench, site)),
        ..lmbench("file.read_open")
    }
}

/// Opened, read, closed.
pub(super) fn with_open() -> Probe {
    Probe {
        variants: vec!["".into(), "chunked".into()],
        title: "opening, reading and closing a file, from the page cache".into(),
        operation: "One open() of a file by its path, one read() of the whole of it into a buffer, and its close(); as /chunked, read() calls of 64 KiB into one buffer of that size until all is read.".into(),
        method: format!("{PLAIN} {BUFFER} Nobody looks at the data. {FILES} Files from 3 MiB on take longer than a short sample and are measured as a distribution. LMbench's open2close differs from /chunked in two ways, of which /as_lmbench is the row: it sums the data, and makes one more call, of 0 bytes.").into(),
        source: KURKIN.into(),
        make: Box::new(|bench, site| opened(bench, site)),
        ..curve("file.read_with_open")
    }
}

/// As LMbench does it with open2close.
pub(super) fn with_open_as_lmbench() -> Probe {
    Probe {
        variants: vec!["as_lmbench".into()],
        title: "opening, reading, summing and closing a file, as LMbench does".into(),
        operation: "One open() of a file by its path, read() calls of 64 KiB (of the whole file if that is smaller), each followed by a load of every 8-byte element of what it read, a last read() of 0 bytes, and its close().".into(),
        method: format!("{PLAIN} {BUFFER} {FILES} Files from 3 MiB on take longer than a short sample and are measured as a distribution. LMbench adds the elements up in one chain of dependent additions, ours in four chains at once, which takes less time: from 64 KiB on the difference shows. LMbench prints MB/s, of 1e6 bytes.").into(),
        source: LMBENCH.into(),
        make: Box::new(|bench, site| opened(bench, site)),
        ..lmbench("file.read_with_open")
    }
}

fn curve(id: &'static str) -> Probe {
    Probe {
        regime: Regime::Gated,
        long_from: Some(LONG_FROM),
        shape: Shape::Curve(Axis::FileBytes, sizes),
        effort: EFFORT,
        on_disk,
        ..Probe::blank(id)
    }
}

/// The sizes at which it is set beside LMbench.
fn lmbench(id: &'static str) -> Probe {
    Probe {
        shape: Shape::Curve(Axis::FileBytes, |_, _| {
            vec![1 << 10, 64 << 10, 1 << 20, 10 << 20]
        }),
        effort: Effort {
            visits: 4,
            ..EFFORT
        },
        ..curve(id)
    }
}

fn still_open<'b>(bench: &'b mut Bench, site: &Site) -> Result<Box<dyn Work + 'b>, String> {
    let (prepared, mut reader) = parts(bench, site)?;
    let file = prepared.file.try_clone();
    let file = file.map_err(|e| format!("no second descriptor of the file: {e}"))?;
    Cached::boxed("reading", &prepared, false, move || {
        rewind(&file)?;
        reader.read(&file).map(black_box).map(drop)
    })
}

fn opened<'b>(bench: &'b mut Bench, site: &Site) -> Result<Box<dyn Work + 'b>, String> {
    let (prepared, mut reader) = parts(bench, site)?;
    let path = prepared.path.clone();
    Cached::boxed("opening and reading", &prepared, false, move || {
        let file = open_path(&path)?;
        reader.read(&file).map(black_box).map(drop)
    })
}

fn parts(bench: &mut Bench, site: &Site) -> Result<(Prepared, Reader), String> {
    let bytes = site.at.first().copied().unwrap_or_default();
    let prepared = Prepared::of(bench, bytes)?;
    let reader = Reader::new(Way::of(site), prepared.bytes)?;
    Ok((prepared, reader))
}

/// A buffer, and how it is filled.
struct Reader {
    way: Way,
    bytes: usize,
    buffer: Buffer,
}

impl Reader {
    fn new(way: Way, bytes: usize) -> Result<Reader, String> {
        let room = match way {
            Way::Whole => bytes,
            Way::Chunked | Way::AsLmbench => bytes.min(CALL_BYTES),
        };
        let buffer = Buffer::new(room, PageKind::Base);
        Ok(Reader {
            way,
            bytes,
            buffer: buffer.map_err(|e| format!("no memory for a buffer: {e}"))?,
        })
    }

    /// Reads from where the file is, once. Gives the calls that were made, and
    /// the elements that were looked at.
    #[inline]
    fn read(&mut self, file: impl AsFd) -> io::Result<(u32, usize)> {
        let file = file.as_fd();
        let buffer = self.buffer.as_mut_slice();
        let mut left = self.bytes;
        let (mut calls, mut looked_at) = (1, 0);
        match self.way {
            Way::Whole => left -= read_call(file, buffer)?,
            Way::Chunked => loop {
                let most = left.min(CALL_BYTES);
                let read = read_call(file, &mut buffer[..most])?;
                left -= read;
                if left == 0 || read == 0 {
                    break;
                }
                calls += 1;
            },
            Way::AsLmbench => loop {
                let most = left.min(CALL_BYTES);
                let read = read_call(file, &mut buffer[..most])?;
                if read == 0 {
                    break;
                }
                looked_at += read_stride(&buffer[..read], WORD_BYTES);
                left -= read;
                calls += 1;
            },
        }
        match left {
            0 => Ok((calls, looked_at)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoke;
    use std::fs::File;
    use std::io::Seek;

    #[test]
    fn every_way_reads_the_whole_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        for bytes in [1, 512, CALL_BYTES, CALL_BYTES + 1, 5 * CALL_BYTES - 3] {
            let content: Vec<u8> = (0..bytes).map(|k| (k % 251) as u8).collect();
            std::fs::write(&path, &content).expect("written");
            let whole_calls = bytes.div_ceil(CALL_BYTES) as u32;
            // Whole turns of the loop, of 16 elements each.
            let of_call = |call: &[u8]| call.len() / WORD_BYTES / 16 * 16;
            let looked_at = content.chunks(CALL_BYTES).map(of_call).sum();
            for (way, seen) in [
                (Way::Whole, (1, 0)),
                (Way::Chunked, (whole_calls, 0)),
                (Way::AsLmbench, (whole_calls + 1, looked_at)),
            ] {
                let mut file = File::open(&path).expect("there");
                let mut reader = Reader::new(way, bytes).expect("memory");
                assert_eq!(
                    reader.read(&file).expect("readable"),
                    seen,
                    "{way:?} {bytes}"
                );
                let at = file.stream_position().expect("a position");
                assert_eq!(at, bytes as u64, "{way:?} {bytes}");
                let held = reader.buffer.as_mut_slice();
                let last = match way {
                    Way::Whole => &content[..],
                    _ => &content[(bytes - 1) / CALL_BYTES * CALL_BYTES..],
                };
                assert_eq!(&held[..last.len()], last, "{way:?} {bytes}");
                // At the end there is nothing more.
                assert!(reader.read(&file).is_err(), "{way:?} {bytes}");
            }
        }
    }

    #[test]
    fn a_file_that_got_shorter_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, [0; 1000]).expect("written");
        for way in [Way::Whole, Way::Chunked, Way::AsLmbench] {
            let file = File::open(&path).expect("there");
            let error = Reader::new(way, 1001).expect("memory").read(&file);
            let error = error.expect_err("a byte is missing");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{way:?}");
        }
    }

    #[test]
    fn the_rows_run_and_name_their_file_system() {
        let probes = [
            open(),
            open_as_lmbench(),
            with_open(),
            with_open_as_lmbench(),
        ];
        for probe in &probes {
            for row in probe.row_ids() {
                let notes = smoke::on_file(&probes, &row, 100_000).expect("it runs");
                assert!(notes[0].starts_with("file system: "), "{notes:?}");
                assert!(notes[1].contains("page cache"), "{notes:?}");
            }
        }
    }

    #[test]
    fn without_a_directory_the_reason_is_given() {
        let why = smoke::run(&[open()], "file.read_open").expect_err("no directory");
        assert_eq!(why, "no directory for files was made");
    }
}
