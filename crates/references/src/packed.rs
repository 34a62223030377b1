//! From compressed lines to records.

use crate::record::{Implausible, PublishedRecord};
use crate::source::Source;
use serde::Deserialize;
use std::collections::HashSet;

/// Most bytes that a file of records may unpack to.
const MOST_BYTES: u64 = 64 << 20;

/// Why records can't be used. None of a damaged file are: a record that looks whole may have lost its neighbour.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DamagedRecords {
    /// The compressed bytes are not those that were written.
    #[error("published figures ({0}) are damaged in this program: {1}; install it again")]
    Unpacking(&'static str, String),
    /// A line is no record: of another format, or with a field that is not known.
    #[error("{file}.jsonl:{line}: not a record of latlas: {what}")]
    Foreign {
        /// File without its ending.
        file: &'static str,
        /// Line, from 1.
        line: usize,
        /// What the parser found.
        what: String,
    },
    /// A figure that no machine has: often one in another unit.
    #[error("{file}.jsonl:{line}: {name}: {what}")]
    Implausible {
        /// File without its ending.
        file: &'static str,
        /// Line, from 1.
        line: usize,
        /// Which record.
        name: String,
        /// What is wrong.
        what: Implausible,
    },
    /// Two records have one name.
    #[error("{file}.jsonl:{line}: {name} is there twice: keep one")]
    Duplicate {
        /// File without its ending.
        file: &'static str,
        /// Line of the second, from 1.
        line: usize,
        /// Their name.
        name: String,
    },
}

/// The records of a source's lines; each is checked, and none may be there twice.
pub fn checked_records<R: PublishedRecord>(text: &str) -> Result<Vec<R>, DamagedRecords> {
    let records: Vec<R> = parsed_records(text)?;
    let file = R::SOURCE.file_stem();
    let mut names = HashSet::new();
    for (line, record) in (1..).zip(&records) {
        let name = record.unique_name();
        if let Some(what) = record.implausible() {
            return Err(DamagedRecords::Implausible { file, line, name, what });
        }
        if !names.insert(name.clone()) {
            return Err(DamagedRecords::Duplicate { file, line, name });
        }
    }
    Ok(records)
}

/// The same without the checks, which the file passed when it was imported.
fn parsed_records<R: PublishedRecord>(text: &str) -> Result<Vec<R>, DamagedRecords> {
    (1..).zip(text.lines()).map(|line| parsed_record(R::SOURCE, line)).collect()
}

/// A line, with its number, as a record or a part of one.
pub(crate) fn parsed_record<'t, T: Deserialize<'t>>(
    source: Source,
    (line, text): (usize, &'t str),
) -> Result<T, DamagedRecords> {
    serde_json::from_str(text).map_err(|error| DamagedRecords::Foreign {
        file: source.file_stem(),
        line,
        what: error.to_string(),
    })
}

/// The records of a file as it is in the program.
pub(crate) fn unpacked_records<R: PublishedRecord>(
    packed: &[u8],
) -> Result<Vec<R>, DamagedRecords> {
    parsed_records(&unpacked_text(R::SOURCE, packed)?)
}

/// The lines of a compressed file. A checksum at its end guards them.
pub(crate) fn unpacked_text(source: Source, packed: &[u8]) -> Result<String, DamagedRecords> {
    let damaged = |what: &str| DamagedRecords::Unpacking(source.file_stem(), what.to_owned());
    let size = zstd::zstd_safe::get_frame_content_size(packed)
        .ok()
        .flatten()
        .filter(|&size| size <= MOST_BYTES)
        .ok_or_else(|| damaged("no zstd frame with its size"))?;
    let bytes = zstd::bulk::decompress(packed, size as usize)
        .map_err(|error| damaged(&error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| damaged("not UTF-8"))
}

/// The records of the program's own file, read the first time.
macro_rules! embedded_records {
    ($Record:ty) => {{
        use std::sync::OnceLock;
        static RECORDS: OnceLock<Result<Vec<$Record>, DamagedRecords>> = OnceLock::new();
        let read = || {
            let source = <$Record as $crate::record::PublishedRecord>::SOURCE;
            $crate::packed::unpacked_records(source.packed_bytes())
        };
        RECORDS.get_or_init(read).as_deref().map_err(Clone::clone)
    }};
}
pub(crate) use embedded_records;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TestPopulation;

    #[test]
    fn damaged_bytes_give_an_error_and_no_records() {
        let whole = Source::Populations.packed_bytes();
        let records = unpacked_records::<TestPopulation>(whole).expect("whole");
        assert_eq!(records.len(), 22);
        let refused = |bytes: &[u8]| {
            unpacked_records::<TestPopulation>(bytes).expect_err("damaged").to_string()
        };
        for at in (0..whole.len()).step_by(97) {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 0x10;
            if let Ok(other) = unpacked_records::<TestPopulation>(&bytes) {
                assert_eq!(other, records, "byte {at} says nothing about records");
            }
        }
        assert!(refused(&whole[..whole.len() / 2]).contains("(populations) are damaged"));
        assert!(refused(b"{}").contains("no zstd frame"));
        assert!(
            refused(&zstd::bulk::compress(b"{}", 3).expect("compresses"))
                .contains("populations.jsonl:1")
        );
        let foreign = refused(Source::Cloud.packed_bytes());
        assert!(foreign.contains("populations.jsonl:1: not a record of latlas"), "{foreign}");
    }
}
