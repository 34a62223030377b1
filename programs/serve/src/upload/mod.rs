//! Receives a run document, checks it and stores it once under its own id. `limits.rs` bounds time and
//! memory, `form.rs` takes the document out of a browser's form. The API and the upload page both call this
//! folder.

mod form;
pub(crate) mod limits;

pub(crate) use form::document_in_form;
pub(crate) use limits::Received;
pub use limits::UploadLimits;

use crate::app::App;
use crate::metrics::Uploaded as Outcome;
use crate::problem::Problem;
use crate::share::Client;
use crate::wire::Uploaded;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use model::run::Run;
use std::io::ErrorKind;
use std::sync::PoisonError;
use std::time::Duration;
use store::index::Index;
use store::{self, MAX_DOCUMENT_BYTES, StoreError};
use tokio::time::Instant;

/// How much of a refused body is still read, and for how long.
const DRAIN_BYTES: usize = 16 << 20;
const DRAIN: Duration = Duration::from_secs(2);
/// A document may unpack to this many times its size (real ones to six times),
const UNPACKED_FACTOR: u64 = 16;
/// plus this.
const UNPACKED_EXTRA: u64 = 4 << 20;

/// Receives, checks and stores a document, and counts the outcome. `accepts`
/// refuses by the headers alone; `document` takes the document out of the body.
pub(crate) async fn upload(
    app: &App,
    client: Client,
    headers: &HeaderMap,
    body: Body,
    accepts: fn(&HeaderMap) -> Result<(), Problem>,
    document: fn(&HeaderMap, &mut Received) -> Result<(), Problem>,
) -> Result<Uploaded, Problem> {
    let uploaded = async {
        let refused = match app.options().read_only {
            true => Err(Problem::ReadOnly),
            false => accepts(headers),
        };
        if let Err(problem) = refused {
            drain(body).await;
            return Err(problem);
        }
        let mut received = receive(app, client, headers, body).await?;
        let _permit = app.upload_permit(client).await?;
        document(headers, &mut received)?;
        app.draw_whole(client, move |index, app| {
            let run = checked(&received.bytes, app.options().now_unix_ms)?;
            store_once(index, app, &run)
        })
        .await
    };
    let uploaded = uploaded.await;
    app.metrics().uploaded(match &uploaded {
        Ok(Uploaded { already: false, .. }) => Outcome::Stored,
        Ok(_) => Outcome::AlreadyStored,
        Err(_) => Outcome::Refused,
    });
    uploaded
}

/// Receives a body within the limits of size, rate and memory.
async fn receive(
    app: &App,
    client: Client,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<Received, Problem> {
    let limit = app.options().max_upload_bytes;
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit) {
        drain(body).await;
        return Err(Problem::TooLarge(limit));
    }
    let limits = app.options().upload;
    let began = Instant::now();
    let mut received = Received::default();
    let mut deadline = limits.slack.min(limits.whole);
    loop {
        let left = deadline.saturating_sub(began.elapsed());
        let piece = match tokio::time::timeout(left, next(&mut body)).await {
            Ok(piece) => piece?,
            Err(_) => return Err(limits.too_slow(received.bytes.len())),
        };
        let Some(piece) = piece else {
            return Ok(received);
        };
        let size = received.bytes.len() as u64 + piece.len() as u64;
        let added = match size > limit {
            true => Err(Problem::TooLarge(limit)),
            false => received.receive_piece(&piece, app.upload_memory(), client),
        };
        if let Err(problem) = added {
            // Others need the memory while this one is drained.
            drop(received);
            drain(body).await;
            return Err(problem);
        }
        let now = began.elapsed();
        deadline = limits.next_deadline(deadline, now, piece.len(), received.bytes.len());
    }
}

/// Reads on for a moment: closing on a client that still sends would lose the
/// response (RFC 9112, 9.6).
pub(crate) async fn drain(mut body: Body) {
    let reading = async {
        let mut read = 0;
        while let Ok(Some(piece)) = next(&mut body).await {
            read += piece.len();
            if read > DRAIN_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN, reading).await;
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(Problem::Malformed("the body is cut off".into())),
            // A frame of trailers is no data.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

fn checked(bytes: &[u8], now_unix_ms: fn() -> u64) -> Result<Run, Problem> {
    let unpacked = (bytes.len() as u64).saturating_mul(UNPACKED_FACTOR);
    let unpacked = (unpacked + UNPACKED_EXTRA).min(MAX_DOCUMENT_BYTES);
    let run = store::from_bytes_within(bytes, unpacked).map_err(Problem::Refused)?;
    let started = run.started_unix_ms;
    // The index stores signed numbers.
    if i64::try_from(started).is_err() {
        return Err(Problem::NoTime(started));
    }
    if let Some(job) = run.job {
        return Err(Problem::OfCampaign(model::printable::visible(&job.host)));
    }
    // It would be the newest run of its machine until then.
    match store::is_in_future(&run, now_unix_ms()) {
        true => Err(Problem::Future(model::utc::readable_utc(started))),
        false => Ok(run),
    }
}

/// Stores the run unless its id is taken. Another process may take it in
/// between: then that document is compared.
fn store_once(index: &Index, app: &App, run: &Run) -> Result<Uploaded, Problem> {
    let _one = app.storing().lock().unwrap_or_else(PoisonError::into_inner);
    if is_stored(index, run)? {
        return Ok(Uploaded::from_run(run, true));
    }
    match index.keep(run) {
        Ok(_) => Ok(Uploaded::from_run(run, false)),
        Err(StoreError::Io { cause, .. }) if cause.kind() == ErrorKind::AlreadyExists => {
            match is_stored(index, run)? {
                true => Ok(Uploaded::from_run(run, true)),
                false => Err(Problem::IdTaken),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether this very run is stored.
fn is_stored(index: &Index, run: &Run) -> Result<bool, Problem> {
    let path = match index.document_path(&run.id) {
        Ok(path) => path,
        Err(StoreError::NoSuchRun { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let stored = match store::read_as_it_is(&path) {
        Ok(stored) => stored,
        // A damaged document is replaced.
        Err(StoreError::Unreadable { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match store::to_json(&stored)? == store::to_json(run)? {
        true => Ok(true),
        false => Err(Problem::IdTaken),
    }
}
