//! A run document from elsewhere: taken in bounds, checked, kept under its own
//! id, once.

use crate::app::App;
use crate::metrics::Uploaded;
use crate::problem::Problem;
use crate::received::Received;
use crate::wire::Kept;
use atlas::index::Index;
use atlas::store::{self, MAX_DOCUMENT_BYTES, Refused, StoreError};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use model::run::Run;
use std::io::ErrorKind;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::Instant;

/// So much of a refused body is still taken, and for so long.
const LINGER_BYTES: usize = 16 << 20;
const LINGER: Duration = Duration::from_secs(2);
/// Unpacked, a document may be so many times as large as what was sent (real
/// ones are some six times as large),
const UNPACKED_TIMES: u64 = 16;
/// and so much beside.
const UNPACKED_FLOOR: u64 = 4 << 20;

/// Takes a request's body: no more of it than is allowed, no slower, and
/// without a turn, which slow senders would keep from others.
pub(crate) async fn body(app: &App, headers: &HeaderMap, body: Body) -> Result<Received, Problem> {
    let limit = app.options().max_upload_bytes;
    let told = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let mut body = body;
    if told.is_some_and(|told| told > limit) {
        linger(body).await;
        return Err(too_large(limit));
    }
    let limits = app.options().upload;
    let began = Instant::now();
    let mut received = Received::default();
    let mut due = limits.slack.min(limits.whole);
    loop {
        let left = due.saturating_sub(began.elapsed());
        let piece = match tokio::time::timeout(left, next(&mut body)).await {
            Ok(piece) => piece?,
            Err(_) => return Err(limits.too_slow(received.bytes.len())),
        };
        let Some(piece) = piece else {
            return Ok(received);
        };
        let size = received.bytes.len() as u64 + piece.len() as u64;
        let added = match size > limit {
            true => Err(too_large(limit)),
            false => received.add(&piece, app.upload_memory()),
        };
        if let Err(problem) = added {
            // Others need the memory more than this one its answer.
            drop(received);
            linger(body).await;
            return Err(problem);
        }
        due = limits.due(due, began.elapsed(), piece.len(), received.bytes.len());
    }
}

/// Takes a little more of a body that is refused, for a moment: to close on a
/// sender that still sends is to take the answer away from it (RFC 9112, 9.6).
pub(crate) async fn linger(mut body: Body) {
    let taking = async {
        let mut taken = 0;
        while let Ok(Some(chunk)) = next(&mut body).await {
            taken += chunk.len();
            if taken > LINGER_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LINGER, taking).await;
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(Problem::bad_request("the body ends early")),
            // A frame of trailers is no data.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

pub(crate) fn too_large(limit: u64) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the document is larger than {} bytes", limit),
    )
}

/// Checks a document and keeps it.
pub(crate) async fn keep(app: &App, received: Received) -> Result<Kept, Problem> {
    match app.options().read_only {
        true => Err(read_only()),
        false => {
            app.ask(move |index, app| {
                let run = parsed(&received.bytes, app.options().now_unix_ms)?;
                kept_once(index, app, &run)
            })
            .await
        }
    }
}

/// Counts what came of an upload, however it was sent.
pub(crate) fn count(app: &App, kept: &Result<Kept, Problem>) {
    app.metrics().uploaded(match kept {
        Ok(Kept { already: false, .. }) => Uploaded::Kept,
        Ok(_) => Uploaded::AlreadyKept,
        Err(_) => Uploaded::Refused,
    });
}

pub(crate) fn read_only() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "this server takes no runs: it was started with --read-only",
    )
}

fn parsed(bytes: &[u8], now_unix_ms: fn() -> u64) -> Result<Run, Problem> {
    let unpacked = (bytes.len() as u64).saturating_mul(UNPACKED_TIMES);
    let unpacked = (unpacked + UNPACKED_FLOOR).min(MAX_DOCUMENT_BYTES);
    let run = store::from_bytes_within(bytes, unpacked).map_err(|refused| {
        let status = match refused {
            Refused::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Refused::Damaged(_) => StatusCode::BAD_REQUEST,
            Refused::NotARun(_) | Refused::Newer(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Problem::new(status, format!("not kept: {refused}"))
    })?;
    let refused = |why: String| Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why));
    let began = run.started_unix_ms;
    // The index holds signed numbers.
    if i64::try_from(began).is_err() {
        return refused(format!(
            "not kept: it began {began} ms after 1970, which is no time"
        ));
    }
    // It would be the newest run of its machine until then.
    if store::is_to_come(&run, now_unix_ms()) {
        return refused(format!(
            "not kept: it says that it began {}, which is to come: put its machine's clock right, \
             and measure again",
            atlas::utc::text(began)
        ));
    }
    Ok(run)
}

/// Looks for the id and keeps the run where it is free. Another process may
/// take it in between: then what that has kept is looked at.
fn kept_once(index: &Index, app: &App, run: &Run) -> Result<Kept, Problem> {
    let _one = app.saving().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = kept_before(index, run)? {
        return Ok(kept);
    }
    match index.keep(run) {
        Ok(_) => Ok(kept(run, false)),
        Err(StoreError::Io { cause, .. }) if cause.kind() == ErrorKind::AlreadyExists => {
            kept_before(index, run)?.ok_or_else(another)
        }
        Err(error) => Err(error.into()),
    }
}

/// The same run, if it is kept already.
fn kept_before(index: &Index, run: &Run) -> Result<Option<Kept>, Problem> {
    let path = match index.document(&run.id) {
        Ok(path) => path,
        Err(StoreError::NoSuchRun { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let before = match store::read_as_it_is(&path) {
        Ok(before) => before,
        // What is damaged gives its place to this one.
        Err(StoreError::Unreadable { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match store::to_json(&before)? == store::to_json(run)? {
        true => Ok(Some(kept(run, true))),
        false => Err(another()),
    }
}

fn another() -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "another run is kept under this id, and kept runs never change",
    )
}

fn kept(run: &Run, already: bool) -> Kept {
    Kept {
        id: run.id.clone(),
        location: format!("/api/runs/{}", run.id),
        already,
    }
}
