//! The file that is compressed: the same bytes on every machine, made once.
//!
//! A third of it is random, the rest are words of a small dictionary, so that it
//! compresses about as well as mixed documents do. The size after compression
//! stands in every result.

use model::phrases::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are made at a time; the generator begins anew with each.
const CHUNK: usize = 1 << 20;
/// Words in the dictionary.
const WORDS: usize = 512;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{path}: {error}")]
    Io { path: String, error: io::Error },
    #[error("{0}: read other bytes than were written (the disk or its memory is damaged)")]
    Differs(String),
    #[error("interrupted")]
    Interrupted,
}

/// Makes the file, reads it back and returns its SHA-256. `stop` ends it early.
///
/// # Errors
/// A full disk, a request to end, or that it can't be read back as it was
/// written.
pub fn make(path: &Path, bytes: u64, stop: &AtomicBool) -> Result<String, FileError> {
    let failed = |error| FileError::Io { path: path.display().to_string(), error };
    let mut file = File::create(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let chunks = bytes.div_ceil(CHUNK as u64);
    for chunk in 0..chunks {
        if stop.load(Ordering::Relaxed) {
            return Err(FileError::Interrupted);
        }
        let length = (bytes - chunk * CHUNK as u64).min(CHUNK as u64) as usize;
        fill(&mut buffer[..length], chunk);
        hash.update(&buffer[..length]);
        file.write_all(&buffer[..length]).map_err(failed)?;
    }
    file.sync_data().map_err(failed)?;
    let wrote = hexadecimal(&hash.finalize());
    match read_hash(path, stop)? == wrote {
        true => Ok(wrote),
        false => Err(FileError::Differs(path.display().to_string())),
    }
}

fn read_hash(path: &Path, stop: &AtomicBool) -> Result<String, FileError> {
    let failed = |error| FileError::Io { path: path.display().to_string(), error };
    let mut file = File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(FileError::Interrupted);
        }
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&buffer[..length]),
        }
    }
}

/// Fills one chunk: xorshift (Marsaglia, J. Stat. Softw. 8, 2003, 14) chooses
/// between eight random bytes and a word of the dictionary.
fn fill(buffer: &mut [u8], chunk: u64) {
    let mut random =
        Random(0x9e37_79b9_7f4a_7c15 ^ (chunk + 1).wrapping_mul(0xd134_2543_de82_ef95));
    let mut at = 0;
    while at < buffer.len() {
        let number = random.next();
        let bytes = match number % 5 {
            0 => random.next().to_le_bytes().to_vec(),
            _ => word((number >> 8) as usize % WORDS),
        };
        let length = bytes.len().min(buffer.len() - at);
        buffer[at..at + length].copy_from_slice(&bytes[..length]);
        at += length;
    }
}

/// A word of 4 to 11 letters, ended by a blank.
fn word(number: usize) -> Vec<u8> {
    let mut random = Random((number as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f));
    let length = 3 + number % 8;
    let letters = (0..length).map(|_| b'a' + (random.next() >> 32) as u8 % 26);
    letters.chain([b' ']).collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn the_same_bytes_on_every_machine() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let hash = make(&path, (CHUNK + 77) as u64, &GO_ON).expect("room");
        assert_eq!(hash, "a332d764ee05fe246e4226a832ad94d148d6c5096ea2b1994da6b9de3bf92149");
        assert_eq!(path.metadata().expect("there").len(), (CHUNK + 77) as u64);
    }

    #[test]
    fn a_request_to_end_ends_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let stop = AtomicBool::new(true);
        let made = make(&directory.path().join("file"), 1 << 30, &stop);
        assert!(matches!(made, Err(FileError::Interrupted)));
    }

    #[test]
    fn no_directory_is_the_reason() {
        let made = make(Path::new("/no/such/file"), 1, &GO_ON);
        let why = made.expect_err("no directory").to_string();
        assert!(why.starts_with("/no/such/file: "), "{why}");
    }
}
