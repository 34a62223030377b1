//! The ways of reading a whole file into a buffer.

use crate::engine::reason::{Doing, Reason};
use kernels::checked::read_stride;
use std::io;
use std::os::fd::AsFd;
use sys::pages::{Buffer, PageKind};
use sys::system_calls::read_call;

/// The size of a call where a file is read in several: Kurkin's and LMbench's.
const CALL_BYTES: usize = 64 << 10;

/// What LMbench adds up: longs.
const WORD_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Whole,
    /// In calls of 64 KiB, until all is read.
    Chunked,
    /// In calls of 64 KiB, each summed, until a call of 0 bytes ends it.
    AsLmbench,
}

impl Way {
    pub(super) fn from_variant(variant: &str) -> Way {
        match variant {
            "chunked" => Way::Chunked,
            "as_lmbench" => Way::AsLmbench,
            _ => Way::Whole,
        }
    }
}

/// A buffer, and how it is filled.
pub(super) struct Reader {
    way: Way,
    bytes: usize,
    buffer: Buffer,
}

impl Reader {
    /// For a file of so many bytes.
    pub(super) fn new(way: Way, bytes: usize) -> Result<Reader, Reason> {
        let room = match way {
            Way::Whole => bytes,
            Way::Chunked | Way::AsLmbench => bytes.min(CALL_BYTES),
        };
        Ok(Reader {
            way,
            bytes,
            buffer: Buffer::new(room, PageKind::Base).doing("can't allocate a buffer")?,
        })
    }

    /// Reads from where the file is, once. Gives the calls that were made, and
    /// the elements that were looked at.
    #[inline]
    pub(super) fn read_once(&mut self, file: impl AsFd) -> io::Result<(u32, usize)> {
        let file = file.as_fd();
        let buffer = self.buffer.as_mut_slice();
        let mut left = self.bytes;
        let (mut calls, mut loaded) = (1, 0);
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
                loaded += read_stride(&buffer[..read], WORD_BYTES);
                left -= read;
                calls += 1;
            },
        }
        match left {
            0 => Ok((calls, loaded)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let loaded = content.chunks(CALL_BYTES).map(of_call).sum();
            for (way, seen) in [
                (Way::Whole, (1, 0)),
                (Way::Chunked, (whole_calls, 0)),
                (Way::AsLmbench, (whole_calls + 1, loaded)),
            ] {
                let mut file = File::open(&path).expect("there");
                let mut reader = Reader::new(way, bytes).expect("memory");
                assert_eq!(reader.read_once(&file).expect("readable"), seen, "{way:?} {bytes}");
                let at = file.stream_position().expect("a position");
                assert_eq!(at, bytes as u64, "{way:?} {bytes}");
                let held = reader.buffer.as_mut_slice();
                let last = match way {
                    Way::Whole => &content[..],
                    _ => &content[(bytes - 1) / CALL_BYTES * CALL_BYTES..],
                };
                assert_eq!(&held[..last.len()], last, "{way:?} {bytes}");
                // At the end there is nothing more.
                assert!(reader.read_once(&file).is_err(), "{way:?} {bytes}");
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
            let error = Reader::new(way, 1001).expect("memory").read_once(&file);
            let error = error.expect_err("a byte is missing");
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{way:?}");
        }
    }
}
