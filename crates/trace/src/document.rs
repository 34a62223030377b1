//! The trace as a file: JSON, compressed with zstd.

use model::limits::{self, Counter, Excess, Limits};
use model::misfit::{self, Head, Misfit};
use model::trace::{Ended, SCHEMA, Trace};
use serde::de::DeserializeOwned;
use std::io::{self, BufReader, ErrorKind, Read, Write};

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
#[expect(missing_docs, reason = "the messages say what each is")]
pub enum DocumentError {
    #[error("it is {0}, not a trace of latlas")]
    Other(&'static str),
    #[error("it is truncated")]
    Truncated,
    #[error("its compressed data is damaged, or needs more memory than a trace")]
    Damaged,
    #[error("it can't be compressed: {0}")]
    Compression(io::Error),
    #[error("it is damaged, or no trace of latlas: {0}")]
    Json(Misfit),
    #[error("it can't be written: {0}")]
    Unwritable(serde_json::Error),
    /// It holds more of something than any trace.
    #[error(transparent)]
    Excess(#[from] Excess),
    #[error("it unpacks to more than {} MiB, too much for a trace of its size", .0 >> 20)]
    TooLarge(u64),
    #[error("it is a trace of schema {0}, and this latlas reads schema {SCHEMA}")]
    Schema(u32),
}

/// The file's bytes.
///
/// # Errors
/// If it could not be read again, and what serializing and compressing say.
pub fn to_bytes(trace: &Trace) -> Result<Vec<u8>, DocumentError> {
    write(trace, &limits::TRACE, LARGEST_BYTES)
}

/// The bytes of a recording's file. Of one with more than can be read again, what does not fit is
/// left out, of `trace` too: the end, as if a buffer had been full, or the beginning where the end
/// was asked for.
///
/// # Errors
/// As [`to_bytes`], where leaving out does not help.
pub fn to_bytes_that_fit(trace: &mut Trace, asks_for_end: bool) -> Result<Vec<u8>, DocumentError> {
    write_what_fits(trace, asks_for_end, &limits::TRACE, LARGEST_BYTES)
}

fn write_what_fits(
    trace: &mut Trace,
    asks_for_end: bool,
    limits: &Limits,
    most_bytes: u64,
) -> Result<Vec<u8>, DocumentError> {
    loop {
        match write(trace, limits, most_bytes) {
            Err(DocumentError::Excess(_) | DocumentError::TooLarge(_))
                if shorten(trace, asks_for_end, limits, most_bytes)? => {}
            written => return written,
        }
    }
}

/// Leaves out as much as does not fit; whether it could.
fn shorten(
    trace: &mut Trace,
    asks_for_end: bool,
    limits: &Limits,
    most_bytes: u64,
) -> Result<bool, DocumentError> {
    let all = Limits {
        entries: usize::MAX,
        own: &[],
        columns: &[],
        text_bytes: usize::MAX,
        bytes_per_value: 1,
        values: u64::MAX,
    };
    let mut written = Written::new(io::sink(), &all, u64::MAX);
    serde_json::to_writer(&mut written, trace).map_err(DocumentError::Unwritable)?;
    let (values, bytes) = (written.counter.values(), written.counter.bytes() as u64);
    let whole_ns = trace.duration_ns;
    let events = trace.values_within(0, u64::MAX);
    let rest = values.saturating_sub(events);
    let mut most = limits.values.saturating_sub(rest);
    if bytes > most_bytes {
        // They are not of one length: a little less.
        let share = most_bytes as f64 / bytes as f64 * 0.98;
        most = most.min((events as f64 * share) as u64);
    }
    if events <= most {
        return Ok(false);
    }
    let part = |length_ns: u64| match asks_for_end {
        true => (whole_ns - length_ns, whole_ns),
        false => (0, length_ns),
    };
    let fits = |length_ns: u64| {
        let (from_ns, to_ns) = part(length_ns);
        trace.values_within(from_ns, to_ns) <= most
    };
    // The longest that fits.
    let (mut least_ns, mut most_ns) = (0, whole_ns);
    while least_ns < most_ns {
        let middle_ns = most_ns - (most_ns - least_ns) / 2;
        if fits(middle_ns) { least_ns = middle_ns } else { most_ns = middle_ns - 1 }
    }
    if !fits(least_ns) {
        return Ok(false);
    }
    let (from_ns, to_ns) = part(least_ns);
    trace.keep(from_ns, to_ns);
    match asks_for_end {
        true => _ = trace.losses.last_ns.get_or_insert(whole_ns),
        false => trace.ended = Ended::Full,
    }
    Ok(true)
}

fn write(trace: &Trace, limits: &Limits, most_bytes: u64) -> Result<Vec<u8>, DocumentError> {
    let packed = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL);
    let packed = packed.map_err(DocumentError::Compression)?;
    let mut written = Written::new(packed, limits, most_bytes);
    let done = serde_json::to_writer(&mut written, trace);
    if let Some(failure) = written.failure {
        return Err(failure);
    }
    done.map_err(DocumentError::Unwritable)?;
    let bytes = written.counter.bytes() as u64;
    let packed = written.to.finish().map_err(DocumentError::Compression)?;
    let most_bytes = limits::unpacked_bytes(packed.len(), most_bytes);
    if bytes > most_bytes { Err(DocumentError::TooLarge(most_bytes)) } else { Ok(packed) }
}

/// Passes on what is written, and counts it as its reader will.
struct Written<'l, W> {
    to: W,
    counter: Counter<'l>,
    most_bytes: u64,
    /// Why it stopped.
    failure: Option<DocumentError>,
}

impl<'l, W> Written<'l, W> {
    fn new(to: W, limits: &'l Limits, most_bytes: u64) -> Written<'l, W> {
        Written { to, counter: Counter::new(limits), most_bytes, failure: None }
    }

    fn count(&mut self, json: &[u8]) -> Result<(), DocumentError> {
        self.counter.feed(json)?;
        match self.counter.bytes() as u64 > self.most_bytes {
            true => Err(DocumentError::TooLarge(self.most_bytes)),
            false => Ok(()),
        }
    }
}

impl<W: Write> Write for Written<'_, W> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        if let Err(failure) = self.count(json) {
            self.failure = Some(failure);
            return Err(ErrorKind::InvalidData.into());
        }
        self.to.write_all(json)?;
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
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
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.next(buffer).map_err(|failure| {
            self.failure = Some(failure);
            ErrorKind::InvalidData.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::{Call, Sample, Segment, State, Target, Thread, Tier, Wakeup};

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

    /// A trace of a million ns with an event of some kind each 10 ns.
    fn long() -> Trace {
        let segment = |at: u64| Segment::new(50 * at, 50 * at + 50, State::Preempted(7));
        let call = |at: u64| Call {
            from_ns: 50 * at + 10,
            to_ns: 50 * at + 30,
            number: 39,
            arguments: [at, 0, 1],
            returned: Some(0),
        };
        let sample = |at: u64| Sample {
            at_ns: 50 * at + 20,
            running_ns: 50 * at,
            queued_ns: 0,
            switched_in: at,
            faults: 1,
        };
        let wakeup = |at: u64| Wakeup { at_ns: 50 * at + 30, thread: 5, by: Some(6), cpu: 1 };
        let mut trace = trace();
        trace.duration_ns = 1_000_000;
        trace.threads[0] = Thread {
            to_ns: 1_000_000,
            segments: (0..20_000).map(segment).collect(),
            calls: (0..20_000).map(call).collect(),
            samples: (0..20_000).map(sample).collect(),
            ..trace.threads[0].clone()
        };
        trace.wakeups = (0..20_000).map(wakeup).collect();
        trace
    }

    #[test]
    fn a_recording_ends_at_what_can_be_read() {
        let whole = long();
        let limits = |values| Limits { values, ..limits::TRACE };
        // Texts, lists and objects around those of events.
        const REST: u64 = 40;
        let none = (u64::MAX, u64::MAX);
        let all = (100_000 + REST, 20 << 20);
        for (values, most_bytes) in
            [none, all, (1_000, none.1), (none.0, 200_000), (70_000, 2 << 20)]
        {
            for asks_for_end in [false, true] {
                let limits = limits(values);
                let mut trace = whole.clone();
                let bytes = write_what_fits(&mut trace, asks_for_end, &limits, most_bytes);
                let bytes = bytes.expect("written");
                let json = serde_json::to_vec(&trace).expect("JSON");
                assert!(json.len() as u64 <= most_bytes);
                // What was written is what is there, and can be read.
                assert_eq!(read::<Trace>(&bytes, &limits).expect("read"), trace);
                let is_short = values < all.0 || most_bytes < all.1;
                assert_eq!(trace == whole, !is_short, "{values} {most_bytes}");
                if !is_short {
                    continue;
                }
                match asks_for_end {
                    false => assert_eq!((trace.ended, trace.losses.last_ns), (Ended::Full, None)),
                    true => {
                        let last_ns = trace.losses.last_ns;
                        assert_eq!((trace.ended, last_ns), (whole.ended, Some(1_000_000)));
                        assert_eq!(trace.began.raw_ns, 1_000_000 - trace.duration_ns);
                    }
                }
                // With little more it would be too much.
                let share = (values as f64 / 100_000.0).min(
                    most_bytes as f64 / serde_json::to_vec(&whole).expect("JSON").len() as f64,
                );
                let kept = trace.duration_ns as f64 / 1e6;
                assert!((share * 0.9..share).contains(&kept), "{share} {kept}");
            }
        }
    }

    #[test]
    fn what_can_t_be_read_is_not_written() {
        let few = Limits { values: 1_000, ..limits::TRACE };
        let whole = long();
        let error = write(&whole, &few, u64::MAX).expect_err("too many values");
        assert!(matches!(error, DocumentError::Excess(_)), "{error}");
        let error = write(&whole, &limits::TRACE, 10_000).expect_err("too large");
        assert!(matches!(error, DocumentError::TooLarge(10_000)), "{error}");
        // What is no event can't be left out.
        let mut names = trace();
        names.signpost_names = vec!["a name".into(); 2_000];
        let error = write_what_fits(&mut names, false, &few, u64::MAX).expect_err("too many");
        assert!(matches!(error, DocumentError::Excess(_)), "{error}");
        let mut long = trace();
        long.kernel = "6".repeat(18 << 20);
        let error = to_bytes(&long).expect_err("a text");
        assert!(matches!(error, DocumentError::Excess(_)), "{error}");
        let mut alike = trace();
        alike.signpost_names = vec!["6".repeat(1 << 20); 18];
        let error = to_bytes(&alike).expect_err("its reader unpacks no more");
        assert!(matches!(error, DocumentError::TooLarge(_)), "{error}");
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
