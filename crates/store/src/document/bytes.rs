//! A run in bytes that may be anything.

use super::numbers;
use model::limits::{self, MOST_BYTES as MAX_DOCUMENT_BYTES, RUN};
use model::misfit::{self, MisfitKind};
use model::older;
use model::phrases::cut;
use model::recording::Recording;
use model::run::{Run, SCHEMA_VERSION};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::Read;

/// First bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a document's bytes are compressed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD_MAGIC)
}

/// Why bytes are no run, in one line each.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("it is larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    #[error("it unpacks to more than {} MiB, too much for a document of its size", .0 >> 20)]
    Inflated(u64),
    /// Empty, cut off, not JSON, or damaged.
    #[error("{0}")]
    Damaged(String),
    /// JSON, but no run, or one that contradicts itself.
    #[error("{0}")]
    NotARun(String),
    #[error("its schema is {0} and this latlas knows up to {SCHEMA_VERSION}: use a newer latlas")]
    Newer(u32),
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
pub(super) fn run_in(
    bytes: &[u8],
    limit: u64,
    prepared: impl Fn(&[u8]) -> Cow<'_, [u8]>,
) -> Result<Run, Refused> {
    let run = parse_run(&prepared(&unpacked(bytes, limit)?))?;
    check_values(&run)?;
    Ok(run)
}

/// The JSON in a file's bytes.
pub(crate) fn unpacked(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, Refused> {
    if bytes.is_empty() {
        return Err(Refused::Damaged("it is empty".into()));
    }
    let json = match is_packed(bytes) {
        true => {
            let of_its_size = limits::unpacked_bytes(bytes.len(), limit);
            let json = unpack(bytes, of_its_size)?;
            if of_its_size < limit && json.len() as u64 > of_its_size {
                return Err(Refused::Inflated(of_its_size));
            }
            Cow::Owned(json)
        }
        false => Cow::Borrowed(bytes),
    };
    if json.len() as u64 > limit { Err(Refused::TooLarge(limit)) } else { Ok(json) }
}

/// Largest window of a frame, as a power of two: 8 MiB, which RFC 8878 (3.1.1.1.2) asks of
/// every decoder. A frame may name one of gigabytes.
const WINDOW_LOG: u32 = 23;

fn unpack(bytes: &[u8], limit: u64) -> Result<Vec<u8>, Refused> {
    // zstd's own words ("Restored data doesn't match checksum") say no more.
    let damaged = |_| {
        let reason = "its compressed data is damaged, or needs more memory than a run";
        Refused::Damaged(reason.into())
    };
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(damaged)?;
    decoder.window_log_max(WINDOW_LOG).map_err(damaged)?;
    at_most(decoder, limit).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Refused::Damaged("it is truncated: the compressed data ends early".into())
        }
        _ => damaged(e),
    })
}

/// How the rows begin that commands print with `--json`.
const FIRST_ROW: &[u8] = b"{\"row\":";

fn parse_run(json: &[u8]) -> Result<Run, Refused> {
    /// A newer document may differ in everything but this.
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
    }
    // Most are of today: to look for their version first would read all twice.
    let misfit = match misfit::read_json_within::<Run>(json, &RUN) {
        Ok(mut run) if run.schema <= SCHEMA_VERSION => {
            run.complete();
            return Ok(run);
        }
        Ok(run) => return Err(Refused::Newer(run.schema)),
        Err(misfit) => misfit,
    };
    match misfit::read_json(json) {
        Ok(Head { schema }) if schema > SCHEMA_VERSION => Err(Refused::Newer(schema)),
        _ => match misfit.kind {
            MisfitKind::CutOff | MisfitKind::NotJson => Err(Refused::Damaged(misfit.to_string())),
            MisfitKind::Unfit if json.starts_with(FIRST_ROW) => Err(Refused::NotARun(
                "it has the rows that --json prints; the run document is what --document prints"
                    .into(),
            )),
            MisfitKind::Unfit => older::recorded(json)
                .ok_or_else(|| Refused::NotARun(format!("it is not a run document: {misfit}"))),
        },
    }
}

/// What the types alone don't hold.
fn check_values(run: &Run) -> Result<(), Refused> {
    check_figures(run)?;
    for cell in &run.cells {
        cell.samples.samples().map_err(|damage| {
            let row = cut(&cell.row);
            Refused::NotARun(format!("the samples of {row:?} are damaged: {damage}"))
        })?;
    }
    Ok(())
}

/// The same but for samples, which the runs of sets don't have.
fn check_figures(run: &Run) -> Result<(), Refused> {
    if !is_id(&run.id) {
        let why = format!("its id {:?} is not a UUID", cut(&run.id));
        return Err(Refused::NotARun(why));
    }
    if let Some(what) = numbers::impossible(run) {
        return Err(Refused::NotARun(format!("no measurement has {what}")));
    }
    run.check_arms().map_err(|bad| Refused::NotARun(cut(&bad.to_string())))?;
    for recording in &run.recordings {
        let Recording::Sets(of) = recording else { continue };
        for (number, set) in (1..).zip(&of.sets) {
            check_figures(&set.run)
                .map_err(|refused| Refused::NotARun(format!("set {number}: {refused}")))?;
        }
    }
    Ok(())
}

/// Whether a text is a UUID as `latlas` writes it.
pub(crate) fn is_id(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
        && text.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c))
}
