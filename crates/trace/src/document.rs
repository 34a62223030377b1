//! The trace as a file: JSON, compressed with zstd.

use model::limits::{self, Counter, Excess, Limits};
use model::misfit::{self, Head, Misfit};
use model::trace::{SCHEMA, Trace};
use serde::de::DeserializeOwned;
use std::io::{BufReader, ErrorKind, Read};

/// zstd's own default.
const COMPRESSION_LEVEL: i32 = 3;
/// A file from elsewhere may unpack to anything.
const LARGEST_BYTES: u64 = 1 << 30;
/// First bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window of a frame, as a power of two: 8 MiB (RFC 8878, 3.1.1.1.2).
const WINDOW_LOG: u32 = 23;
/// A compressed file is no larger than this.
pub const LARGEST_FILE_BYTES: u64 = 1 << 30;

/// Why a file is not a trace.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is another kind of file.
    #[error("it is {0}, not a trace of latlas")]
    Other(&'static str),
    /// The compressed data ends early.
    #[error("it is truncated")]
    Truncated,
    /// The compressed data can't be unpacked.
    #[error("its compressed data is damaged, or needs more memory than a trace")]
    Damaged,
    /// It can't be compressed.
    #[error("it can't be compressed: {0}")]
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
    /// It unpacks to more than a trace of its size, bytes.
    #[error("it unpacks to more than {} MiB, too much for a trace of its size", .0 >> 20)]
    TooLarge(u64),
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
    let error = match read::<Trace>(bytes, &limits::TRACE) {
        Ok(trace) if trace.schema == SCHEMA => return Ok(trace),
        Ok(trace) => return Err(DocumentError::Schema(trace.schema)),
        Err(error) => error,
    };
    // Only what does not fit is read again: an excess is one of any schema.
    match error {
        DocumentError::Json(misfit) => match read(bytes, &limits::TRACE) {
            Ok(head) => Err(match Head::newer_than(&head, SCHEMA) {
                Some(schema) => DocumentError::Schema(schema),
                None => DocumentError::Json(misfit),
            }),
            Err(_) => Err(DocumentError::Json(misfit)),
        },
        error => Err(error),
    }
}

/// What a file is that does not begin as zstd does.
fn other(bytes: &[u8]) -> DocumentError {
    let text = misfit::without_mark(bytes).trim_ascii_start();
    DocumentError::Other(match bytes {
        [] => "empty",
        [0x1f, 0x8b, ..] => "a gzip file",
        [b'P', b'K', 3 | 5, ..] => "a zip file",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file",
        [b'B', b'Z', b'h', ..] => "a bzip2 file",
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2', ..] => "a perf.data file",
        [0x7f, b'E', b'L', b'F', ..] => "a program",
        _ if text.starts_with(b"{") || text.starts_with(b"[") => "JSON without compression",
        _ if text.starts_with(b"<") => "HTML or XML",
        _ => "another kind of file",
    })
}

fn read<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, DocumentError> {
    if !bytes.starts_with(&ZSTD_MAGIC) {
        return Err(other(bytes));
    }
    let most = limits::unpacked_bytes(bytes.len(), LARGEST_BYTES);
    let mut unpacked = zstd::Decoder::new(bytes).map_err(DocumentError::Compression)?;
    let window = unpacked.window_log_max(WINDOW_LOG);
    window.map_err(DocumentError::Compression)?;
    let mut counted =
        Counted { unpacked, most, left: most, counter: Counter::new(limits), failure: None };
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
    most: u64,
    left: u64,
    counter: Counter<'l>,
    /// Why it stopped.
    failure: Option<DocumentError>,
}

impl<R: Read> Counted<'_, R> {
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, DocumentError> {
        let read = self.unpacked.read(buffer);
        let read = read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => DocumentError::Truncated,
            // zstd's own words ("Restored data doesn't match checksum") say no more.
            _ => DocumentError::Damaged,
        })?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or(DocumentError::TooLarge(self.most))?;
        self.counter.feed(&buffer[..read])?;
        Ok(read)
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.next(buffer).map_err(|failure| {
            self.failure = Some(failure);
            ErrorKind::InvalidData.into()
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
                segments: vec![Segment { from_ns: 1, to_ns: 3, state: State::Running(1) }],
                ..Thread::default()
            }],
            call_names: [(39, "getppid".to_owned())].into(),
            ..Trace::new(Target::Command(vec!["true".into()]), Ended::Exited(0), Tier::Full)
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
        let limits = Limits { entries: 100, ..limits::TRACE };
        let error = read::<Trace>(&bytes, &limits).expect_err("refused");
        assert!(matches!(error, DocumentError::Excess(_)), "{error}");
        // A frame of 9 bytes that asks for a window of 1 GiB.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0];
        let error = from_bytes(&frame).expect_err("refused").to_string();
        assert_eq!(error, "its compressed data is damaged, or needs more memory than a trace");
    }

    /// The JSON of a trace with so many blanks in its header.
    fn blanks(count: usize) -> Vec<u8> {
        let json = serde_json::to_string(&trace()).expect("JSON");
        let json = json.replacen(':', &format!(":{}", " ".repeat(count)), 1);
        zstd::bulk::compress(json.as_bytes(), COMPRESSION_LEVEL).expect("packed")
    }

    #[test]
    fn a_small_file_that_unpacks_to_much_is_not_read_to_its_end() {
        let few = blanks(15 << 20);
        assert!(few.len() < 16 << 10, "{}", few.len());
        assert_eq!(from_bytes(&few).expect("read"), trace());
        let many = from_bytes(&blanks(18 << 20)).expect_err("refused");
        assert_eq!(
            many.to_string(),
            "it unpacks to more than 16 MiB, too much for a trace of its size"
        );
    }

    #[test]
    fn what_is_no_trace_is_said_in_plain_words() {
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let packed = to_bytes(&trace()).expect("written");
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[6..middle].fill(0xff);
        for (bytes, expected) in [
            (&b""[..], "it is empty, not a trace of latlas"),
            (b"\n {\"schema\": 1}", "it is JSON without compression, not a trace of latlas"),
            (&gzip, "it is a gzip file, not a trace of latlas"),
            (b"hello", "it is another kind of file, not a trace of latlas"),
            (&packed[..3], "it is another kind of file, not a trace of latlas"),
            (&packed[..packed.len() - 1], "it is truncated"),
            (&damaged, "its compressed data is damaged, or needs more memory than a trace"),
        ] {
            assert_eq!(from_bytes(bytes).expect_err(expected).to_string(), expected);
        }
    }

    #[test]
    fn another_schema_is_named() {
        let other = Trace { schema: SCHEMA + 1, ..trace() };
        let bytes = to_bytes(&other).expect("written");
        let error = from_bytes(&bytes).expect_err("another");
        assert!(error.to_string().contains("schema 2"), "{error}");
        let packed = |json: &str| {
            let packed = zstd::bulk::compress(json.as_bytes(), COMPRESSION_LEVEL).expect("packed");
            from_bytes(&packed).expect_err("no trace").to_string()
        };
        assert!(packed("{\"schema\":7}").contains("schema 7"));
        // A run is no trace of another schema.
        let run = packed("{\"schema\":6,\"rows\":[],\"gate\":{}}");
        assert!(run.contains("no trace of latlas"), "{run}");
    }
}
