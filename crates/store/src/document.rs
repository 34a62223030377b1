//! A run as bytes. Reading trusts nothing: the file may be anything.

use super::{StoreError, io};
use crate::error::FileAction;
use crate::input;
use model::missing_points;
use model::run::{Run, SCHEMA_VERSION};
use model::text::{escaped_json, visible_json};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// No run is near as large; whatever is larger is not one, or was made to
/// fill the memory.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// First bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a document's bytes are compressed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD_MAGIC)
}

/// Reads a run, compressed or not, whatever its name is, to be shown: what a
/// terminal would obey or not show stands spelled out in its texts.
pub fn read(path: &Path) -> Result<Run, StoreError> {
    read_with_bytes(path).map(|(run, _)| run)
}

/// The same, and the file's bytes: a pipe gives them once.
pub fn read_with_bytes(path: &Path) -> Result<(Run, Vec<u8>), StoreError> {
    let bytes = bytes_at(path)?;
    Ok((shown_in(path, &bytes)?, bytes))
}

/// The bytes of a file, or of the document in a database whose copy would lie there.
fn bytes_at(path: &Path) -> Result<Vec<u8>, StoreError> {
    #[cfg(feature = "postgres")]
    if let Some(bytes) = crate::postgres::document_at(path)? {
        return Ok(bytes);
    }
    input::read(path, MAX_DOCUMENT_BYTES).map_err(io(FileAction::Read, path))
}

/// The same of a document in the store: a pipe there is refused.
pub(crate) fn read_kept(path: &Path) -> Result<Run, StoreError> {
    let bytes = input::read_file(path, MAX_DOCUMENT_BYTES).map_err(io(FileAction::Read, path))?;
    shown_in(path, &bytes)
}

/// The run in a file's bytes, as [`read`] would give it.
pub(crate) fn shown_from(bytes: &[u8]) -> Result<Run, Refused> {
    run_in(bytes, MAX_DOCUMENT_BYTES, visible_json)
}

fn shown_in(path: &Path, bytes: &[u8]) -> Result<Run, StoreError> {
    shown_from(bytes).map_err(|refused| unreadable(path, refused.to_string()))
}

/// Reads a run with every character as it is, to be handed on to programs.
pub fn read_as_it_is(path: &Path) -> Result<Run, StoreError> {
    let bytes = bytes_at(path)?;
    from_bytes(&bytes).map_err(|refused| unreadable(path, refused.to_string()))
}

/// A run as [`read`] would give it.
pub(crate) fn shown(run: &Run) -> Cow<'_, Run> {
    let json = serde_json::to_vec(run).unwrap_or_default();
    match visible_json(&json) {
        Cow::Borrowed(_) => Cow::Borrowed(run),
        Cow::Owned(json) => match serde_json::from_slice(&json) {
            Ok(shown) => Cow::Owned(shown),
            Err(_) => Cow::Borrowed(run),
        },
    }
}

/// Whether a file can be opened, and what is in it is no run and never was one
/// of a newer latlas: nothing that could still be read is lost with it.
pub(super) fn is_damaged(path: &Path) -> bool {
    let bytes = input::read_file(path, MAX_DOCUMENT_BYTES);
    bytes.is_ok_and(|bytes| {
        matches!(
            from_bytes_within(&bytes, MAX_DOCUMENT_BYTES),
            Err(Refused::Damaged(_) | Refused::NotARun(_))
        )
    })
}

/// Why bytes are no run, in one line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// More than may be read, unpacked or as it came.
    #[error("it is larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// Empty, cut off, not JSON, or damaged.
    #[error("{0}")]
    Damaged(String),
    /// JSON, but no run, or one that contradicts itself.
    #[error("{0}")]
    NotARun(String),
    /// Of a newer latlas, which may read it.
    #[error("its schema is {0} and this latlas knows up to {SCHEMA_VERSION}: use a newer latlas")]
    Newer(u32),
}

fn unreadable(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Unreadable {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// Reads one byte more than is allowed at most, so that too much shows.
fn at_most(source: impl Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The run in a file's bytes.
pub fn from_bytes(bytes: &[u8]) -> Result<Run, Refused> {
    from_bytes_within(bytes, MAX_DOCUMENT_BYTES)
}

/// The run in a stranger's bytes, of which no more than `limit` are unpacked.
pub fn from_bytes_within(bytes: &[u8], limit: u64) -> Result<Run, Refused> {
    run_in(bytes, limit, |json| Cow::Borrowed(json))
}

/// The run in a file's bytes, whose JSON is prepared so.
fn run_in(
    bytes: &[u8],
    limit: u64,
    prepared: impl Fn(&[u8]) -> Cow<'_, [u8]>,
) -> Result<Run, Refused> {
    let run = parse(&prepared(&unpacked(bytes, limit)?))?;
    check(&run)?;
    Ok(run)
}

/// The JSON in a file's bytes.
pub(super) fn unpacked(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, Refused> {
    if bytes.is_empty() {
        return Err(Refused::Damaged("it is empty".into()));
    }
    let json = match is_packed(bytes) {
        true => Cow::Owned(unpack(bytes, limit)?),
        false => Cow::Borrowed(bytes),
    };
    match json.len() as u64 > limit {
        true => Err(Refused::TooLarge(limit)),
        false => Ok(json),
    }
}

fn unpack(bytes: &[u8], limit: u64) -> Result<Vec<u8>, Refused> {
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes)
        .map_err(|e| Refused::Damaged(e.to_string()))?;
    at_most(decoder, limit).map_err(|e| {
        Refused::Damaged(match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                "it is truncated: the compressed data ends early".into()
            }
            _ => format!("its compressed data is damaged ({e})"),
        })
    })
}

fn parse(json: &[u8]) -> Result<Run, Refused> {
    /// A newer document may differ in everything but this.
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
    }
    // Most are of today: to look for their version first would read all twice.
    let error = match serde_json::from_slice::<Run>(json) {
        Ok(mut run) if run.schema <= SCHEMA_VERSION => {
            missing_points::complete(&mut run);
            return Ok(run);
        }
        Ok(run) => return Err(Refused::Newer(run.schema)),
        Err(error) => error,
    };
    match serde_json::from_slice(json) {
        Ok(Head { schema }) if schema > SCHEMA_VERSION => Err(Refused::Newer(schema)),
        Ok(_) => Err(explain(&error, json)),
        Err(error) => Err(explain(&error, json)),
    }
}

fn explain(error: &serde_json::Error, json: &[u8]) -> Refused {
    use serde_json::error::Category;
    // A number that is cut off behind its point is bad syntax to serde.
    let last_line = json.rsplit(|&byte| byte == b'\n').next().unwrap_or(json);
    let lines = 1 + json.iter().filter(|&&byte| byte == b'\n').count();
    let at_the_end = error.line() == lines && error.column() >= last_line.len();
    match error.classify() {
        Category::Syntax if at_the_end && json.starts_with(b"{") => {
            Refused::Damaged(format!("it is truncated ({error})"))
        }
        Category::Eof => Refused::Damaged(format!("it is truncated ({error})")),
        Category::Syntax => Refused::Damaged(format!("it is not JSON ({error})")),
        Category::Data => Refused::NotARun(format!("it is not a run document ({error})")),
        Category::Io => Refused::Damaged(error.to_string()),
    }
}

/// What the types alone don't hold.
fn check(run: &Run) -> Result<(), Refused> {
    if !is_id(&run.id) {
        let why = format!("its id {:?} is not a UUID", run.id);
        return Err(Refused::NotARun(why));
    }
    for cell in &run.cells {
        cell.samples.samples().map_err(|damage| {
            let row = &cell.row;
            Refused::NotARun(format!("the samples of {row:?} are damaged: {damage}"))
        })?;
    }
    Ok(())
}

/// A run may have begun so much later than now: clocks differ.
const AHEAD_MS: u64 = 86_400_000;

/// Whether a run says that it began more than a day from now.
pub fn is_in_future(run: &Run, now_unix_ms: u64) -> bool {
    run.started_unix_ms > now_unix_ms.saturating_add(AHEAD_MS)
}

/// Whether a text is a UUID as `latlas` writes it.
pub(super) fn is_id(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
        && text
            .chars()
            .all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c))
}

/// The run as JSON, in which every hidden character is written as an escape: it
/// may go to a terminal. What could not be read again (JSON has no word for
/// infinity) is refused here, where it is known what it was.
pub fn to_json(run: &Run) -> Result<Vec<u8>, StoreError> {
    let bytes = serde_json::to_vec(run).map_err(|e| StoreError::Unwritable(e.to_string()))?;
    let bytes = escaped_json(bytes);
    parse(&bytes).map_err(|refused| StoreError::Unwritable(refused.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::synthetic;

    fn json() -> Vec<u8> {
        to_json(&synthetic::run()).expect("document")
    }

    fn refusal(bytes: &[u8]) -> String {
        let reason = from_bytes(bytes).expect_err("refused").to_string();
        assert!(!reason.contains('\n'), "{reason:?}");
        reason
    }

    #[test]
    fn a_document_comes_back() {
        assert!(from_bytes(&json()).expect("read") == synthetic::run());
    }

    #[test]
    fn a_document_without_missing_points_has_them_from_its_notes() {
        let mut run = synthetic::run();
        let note = "not available here at 1MiB: 120 MiB are free";
        run.rows[0].notes.push(note.into());
        let read = from_bytes(&to_json(&run).expect("document")).expect("read");
        assert_eq!(read.rows[0].notes, run.rows[0].notes);
        assert_eq!(read.rows[0].missing_at(1 << 20), Some("120 MiB are free"));
    }

    #[test]
    fn every_truncation_is_noticed() {
        let json = json();
        let packed = zstd::bulk::compress(&json, 3).expect("packed");
        for part in 1..20 {
            let reason = refusal(&json[..json.len() * part / 20]);
            assert!(reason.contains("truncated"), "{reason}");
            let reason = refusal(&packed[..(packed.len() * part / 20).max(5)]);
            assert!(reason.contains("truncated"), "{reason}");
        }
        assert!(refusal(&[]).contains("empty"));
        // Whatever stands at the cut, numbers above all.
        let number = json
            .windows(4)
            .position(|w| w == b"0.32")
            .expect("a number");
        for cut in number - 100..number + 100 {
            let reason = refusal(&json[..cut]);
            assert!(reason.contains("truncated"), "cut at {cut}: {reason}");
        }
    }

    #[test]
    fn what_is_not_a_run_says_what_it_is() {
        assert!(refusal(b"hello").contains("not JSON"));
        assert!(refusal(b"{}").contains("schema"));
        assert!(refusal(b"{\"schema\":1}").contains("not a run document"));
        let mut damaged = zstd::bulk::compress(&json(), 3).expect("packed");
        let middle = damaged.len() / 2;
        damaged.truncate(middle + 200);
        damaged[6..middle].fill(0xff);
        assert!(refusal(&damaged).contains("compressed data"));
    }

    #[test]
    fn what_is_damaged_differs_from_what_is_no_run() {
        let damaged = |bytes: &[u8]| {
            let refused = from_bytes_within(bytes, 1 << 20).expect_err("refused");
            matches!(refused, Refused::Damaged(_))
        };
        assert!(damaged(b"") && damaged(b"hello") && damaged(b"{\"schema\":"));
        assert!(!damaged(b"{}") && !damaged(b"{\"schema\":1}") && !damaged(b"{\"schema\":99}"));
    }

    #[test]
    fn a_newer_document_differs_from_a_broken_one() {
        let reason = refusal(br#"{"schema":99,"everything":"else"}"#);
        assert!(
            reason.contains("newer latlas") && reason.contains("99"),
            "{reason}"
        );
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = zstd::bulk::compress(&vec![b' '; 4 << 20], 3).expect("packed");
        assert!(bomb.len() < 10_000);
        let reason = from_bytes_within(&bomb, 1 << 20).expect_err("refused");
        assert_eq!(reason, Refused::TooLarge(1 << 20));
        assert_eq!(reason.to_string(), "it is larger than 1 MiB");
    }

    #[test]
    fn columns_that_do_not_fit_are_named() {
        let mut run = synthetic::run();
        run.cells[0].samples.first_ticks.pop();
        let bytes = serde_json::to_vec(&run).expect("json");
        let reason = refusal(&bytes);
        assert!(
            reason.contains(&run.cells[0].row) && reason.contains("column"),
            "{reason}"
        );
    }

    #[test]
    fn a_figure_that_json_can_not_hold_is_refused_when_written() {
        let mut run = synthetic::run();
        run.clock.ns_per_tick = f64::INFINITY;
        assert!(matches!(to_json(&run), Err(StoreError::Unwritable(_))));
    }
}
