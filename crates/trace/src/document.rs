//! The trace as a file: JSON, compressed with zstd.

use model::limits::{self, Counter, Excess, Limits};
use model::misfit::{self, Misfit};
use model::trace::{SCHEMA, Trace};
use serde::de::DeserializeOwned;
use std::io::{BufReader, Read};

/// zstd's own default.
const COMPRESSION_LEVEL: i32 = 3;
/// A file from elsewhere may unpack to anything.
const LARGEST_BYTES: u64 = 1 << 30;
/// Largest window of a frame, as a power of two: 8 MiB (RFC 8878, 3.1.1.1.2).
const WINDOW_LOG: u32 = 23;
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
    /// It holds more of something than any trace.
    #[error(transparent)]
    Excess(#[from] Excess),
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

/// The trace of a file. It is read as it unpacks: what is not a trace takes no memory.
///
/// # Errors
/// If it is none, or of another schema.
pub fn from_bytes(bytes: &[u8]) -> Result<Trace, DocumentError> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let error = match read::<Trace>(bytes, &limits::TRACE) {
        Ok(trace) if trace.schema == SCHEMA => return Ok(trace),
        Ok(trace) => return Err(DocumentError::Schema(trace.schema)),
        Err(error) => error,
    };
    match (error, read(bytes, &limits::TRACE)) {
        (DocumentError::Json(_), Ok(Version { schema })) if schema != SCHEMA => {
            Err(DocumentError::Schema(schema))
        }
        (error, _) => Err(error),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, DocumentError> {
    let mut unpacked = zstd::Decoder::new(bytes).map_err(DocumentError::Compression)?;
    let window = unpacked.window_log_max(WINDOW_LOG);
    window.map_err(DocumentError::Compression)?;
    let mut counted = Counted {
        unpacked,
        left: LARGEST_BYTES,
        counter: Counter::new(limits),
        failure: None,
    };
    let read = serde_json::from_reader(BufReader::new(&mut counted));
    match counted.failure {
        Some(failure) => Err(failure),
        // Its text is not kept: where the fault lies, the parser knows.
        None => read.map_err(|error| DocumentError::Json(misfit::misfit(&error, b""))),
    }
}

/// Unpacks within the limits of a trace.
struct Counted<'l, R> {
    unpacked: R,
    left: u64,
    counter: Counter<'l>,
    /// Why it stopped.
    failure: Option<DocumentError>,
}

impl<R: Read> Counted<'_, R> {
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, DocumentError> {
        let read = self.unpacked.read(buffer);
        let read = read.map_err(DocumentError::Compression)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or(DocumentError::TooLarge)?;
        self.counter.feed(&buffer[..read])?;
        Ok(read)
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.next(buffer).map_err(|failure| {
            self.failure = Some(failure);
            std::io::ErrorKind::InvalidData.into()
        })
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
    fn bombs_are_refused_by_what_they_hold() {
        let mut long = trace();
        let segment = long.threads[0].segments[0];
        long.threads[0].segments = vec![segment; 101];
        let bytes = to_bytes(&long).expect("written");
        assert_eq!(from_bytes(&bytes).expect("read"), long);
        let limits = Limits {
            entries: 100,
            ..limits::TRACE
        };
        let error = read::<Trace>(&bytes, &limits).expect_err("refused");
        assert!(matches!(error, DocumentError::Excess(_)), "{error}");
        // A frame of 9 bytes that asks for a window of 1 GiB.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0];
        let error = from_bytes(&frame).expect_err("refused").to_string();
        assert!(error.contains("too much memory"), "{error}");
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
