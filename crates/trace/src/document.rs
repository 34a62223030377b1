//! The trace as a file: JSON, compressed with zstd.

use model::misfit::{self, Misfit};
use model::trace::{SCHEMA, Trace};
use std::io::Read;

/// zstd's own default.
const COMPRESSION_LEVEL: i32 = 3;
/// A file from elsewhere may unpack to anything.
const LARGEST_BYTES: u64 = 1 << 30;
/// A compressed file is no larger than this.
pub const LARGEST_FILE_BYTES: u64 = 1 << 30;

/// Why a file is not a trace.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is not compressed, or damaged.
    #[error("it is damaged, or no trace of latlas: {0}")]
    Compression(std::io::Error),
    /// It is not the JSON of a trace.
    #[error("it is damaged, or no trace of latlas: {0}")]
    Json(Misfit),
    /// It can't be written.
    #[error("it can't be written: {0}")]
    Unwritable(serde_json::Error),
    /// It unpacks to more than any trace.
    #[error("it unpacks to more than {} bytes", LARGEST_BYTES)]
    TooLarge,
    /// It was written by another version.
    #[error("it is a trace of schema {0}, and this latlas reads schema {SCHEMA}")]
    Schema(u32),
}

/// The file's bytes.
///
/// # Errors
/// What serializing and compressing say.
pub fn to_bytes(trace: &Trace) -> Result<Vec<u8>, DocumentError> {
    let mut packed =
        zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL).map_err(DocumentError::Compression)?;
    serde_json::to_writer(&mut packed, trace).map_err(DocumentError::Unwritable)?;
    packed.finish().map_err(DocumentError::Compression)
}

/// The trace of a file.
///
/// # Errors
/// If it is none, or of another schema.
pub fn from_bytes(bytes: &[u8]) -> Result<Trace, DocumentError> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let mut json = Vec::new();
    let unpacked = zstd::Decoder::new(bytes).map_err(DocumentError::Compression)?;
    let read = unpacked.take(LARGEST_BYTES).read_to_end(&mut json);
    if read.map_err(DocumentError::Compression)? as u64 >= LARGEST_BYTES {
        return Err(DocumentError::TooLarge);
    }
    match misfit::read_json(&json).map_err(DocumentError::Json)? {
        Version { schema: SCHEMA } => misfit::read_json(&json).map_err(DocumentError::Json),
        Version { schema } => Err(DocumentError::Schema(schema)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::{Ended, Segment, State, Target, Thread, Tier};

    fn trace() -> Trace {
        Trace {
            architecture: "x86_64".into(),
            kernel: "6.18.0".into(),
            duration_ns: 10,
            threads: vec![Thread {
                id: 5,
                segments: vec![Segment {
                    from_ns: 1,
                    to_ns: 3,
                    state: State::Running(1),
                }],
                ..Thread::default()
            }],
            call_names: [(39, "getppid".to_owned())].into(),
            ..Trace::new(
                Target::Command(vec!["true".into()]),
                Ended::Exited(0),
                Tier::Full,
            )
        }
    }

    #[test]
    fn a_trace_goes_and_comes() {
        let trace = trace();
        let bytes = to_bytes(&trace).expect("written");
        assert_eq!(from_bytes(&bytes).expect("read"), trace);
        for length in 0..bytes.len() {
            assert!(from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn another_schema_is_named() {
        let other = Trace {
            schema: SCHEMA + 1,
            ..trace()
        };
        let bytes = to_bytes(&other).expect("written");
        let error = from_bytes(&bytes).expect_err("another");
        assert!(error.to_string().contains("schema 2"), "{error}");
    }
}
