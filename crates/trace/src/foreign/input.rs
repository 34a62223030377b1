//! Bytes of a file, or of a part of one that was compressed, by their place.

use super::ForeignError;
use crate::endian::Endian;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// No text of a head is longer.
const LONGEST_TEXT: usize = 1 << 16;
/// Nor any other part that is read at once.
const LARGEST_PART: u64 = 1 << 26;

/// Where bytes come from.
#[derive(Debug)]
pub(super) enum TraceInput {
    File { file: File, bytes: u64 },
    Memory(Vec<u8>),
}

impl TraceInput {
    pub(super) fn of_file(file: File) -> io::Result<TraceInput> {
        let bytes = file.metadata()?.len();
        Ok(TraceInput::File { file, bytes })
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            TraceInput::File { bytes, .. } => *bytes,
            TraceInput::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Reads as much as there is room for, or less at the end.
    pub(super) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length().saturating_sub(at)).unwrap_or(usize::MAX);
        let count = buffer.len().min(left);
        match self {
            TraceInput::File { file, .. } => {
                let mut read = 0;
                while read < count {
                    match file.read_at(&mut buffer[read..count], at + read as u64) {
                        // It became shorter.
                        Ok(0) => return Ok(read),
                        Ok(more) => read += more,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            TraceInput::Memory(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                buffer[..count].copy_from_slice(&bytes[from..from + count]);
            }
        }
        Ok(count)
    }

    pub(super) fn cursor(&self, at: u64, endian: Endian) -> Cursor<'_> {
        Cursor { input: self, at, endian }
    }
}

/// Reads one value after the other.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'f> {
    input: &'f TraceInput,
    pub(super) at: u64,
    pub(super) endian: Endian,
}

impl Cursor<'_> {
    /// One at another place.
    pub(super) fn to(&self, at: u64) -> Cursor<'_> {
        Cursor { at, ..self.clone() }
    }

    pub(super) fn take_bytes(&mut self, count: u64) -> Result<Vec<u8>, ForeignError> {
        if count > LARGEST_PART || count > self.input.length().saturating_sub(self.at) {
            return Err(ForeignError::CutOff);
        }
        let mut bytes = vec![0; count as usize];
        if self.input.read_at(self.at, &mut bytes)? < bytes.len() {
            return Err(ForeignError::CutOff);
        }
        self.at += count;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ForeignError> {
        let mut bytes = [0; N];
        if self.input.read_at(self.at, &mut bytes)? < N {
            return Err(ForeignError::CutOff);
        }
        self.at += N as u64;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8, ForeignError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, ForeignError> {
        let endian = self.endian;
        Ok(endian.u16(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, ForeignError> {
        let endian = self.endian;
        Ok(endian.u32(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, ForeignError> {
        let endian = self.endian;
        Ok(endian.u64(self.array()?))
    }

    pub(super) fn skip(&mut self, count: u64) -> Result<(), ForeignError> {
        let to = self.at.checked_add(count).filter(|&to| to <= self.input.length());
        self.at = to.ok_or(ForeignError::CutOff)?;
        Ok(())
    }

    /// A text up to its zero.
    pub(super) fn take_text(&mut self) -> Result<String, ForeignError> {
        let mut text = Vec::new();
        loop {
            let mut part = [0; 64];
            let read = self.input.read_at(self.at + text.len() as u64, &mut part)?;
            match part[..read].iter().position(|&byte| byte == 0) {
                Some(end) => {
                    text.extend(&part[..end]);
                    self.at += text.len() as u64 + 1;
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                None if read < part.len() || text.len() > LONGEST_TEXT => {
                    return Err(ForeignError::CutOff);
                }
                None => text.extend(part),
            }
        }
    }
}
