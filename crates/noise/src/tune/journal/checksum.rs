//! The checksum at the end of each line of a journal, over all records up to
//! and with that line's.
//!
//! FNV-1a with 64 bits: each step is one to one in the sum so far, so that
//! records that differ in a single byte never have the same sum, and other
//! damage has it once in 2^64. It guards against a disk, not against a program
//! that may write the file: that is root alone.

/// Between a record and its sum.
const MARK: &[u8] = b" #";
/// Digits of a sum.
const DIGITS: usize = 16;

/// The sum of everything up to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// With another record.
    pub(super) fn with(self, record: &[u8]) -> Checksum {
        let step =
            |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Checksum(record.iter().fold(self.0, step))
    }

    /// What stands behind the record on its line.
    pub(super) fn suffix(self) -> Vec<u8> {
        [MARK, format!("{:016x}", self.0).as_bytes()].concat()
    }

    /// The record of a line that continues this sum, and the sum with it.
    /// `None` for a line with another sum, or with none.
    pub(super) fn verified(self, line: &[u8]) -> Option<(&[u8], Checksum)> {
        let record = line.get(..line.len().checked_sub(MARK.len() + DIGITS)?)?;
        let next = self.with(record);
        (line[record.len()..] == next.suffix()).then_some((record, next))
    }
}

/// Whether a line ends as one with a sum does, right or wrong.
pub(super) fn is_marked(line: &[u8]) -> bool {
    let at = line.len().checked_sub(MARK.len() + DIGITS);
    at.is_some_and(|at| line[at..].starts_with(MARK))
}
