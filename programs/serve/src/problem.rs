//! Everything that can go wrong with a request: its status, the line for the
//! client and the line for the server's log.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::path::PathBuf;
use store::{DatabaseFailure, FileAction, Refused, StoreError};

/// Why a request failed. Display is what the client reads: no path of this
/// machine and no cause of a failure here is in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// A parameter, header or body that makes no sense.
    #[error("{0}")]
    Malformed(String),
    #[error("token required: send `Authorization: Bearer TOKEN`, or TOKEN as the Basic password")]
    NoToken,
    #[error("without a token only requests to localhost are answered; Host names another machine")]
    WrongHost,
    #[error("cross-origin request refused")]
    CrossOrigin,
    #[error("uploads are disabled (--read-only)")]
    ReadOnly,
    #[error("no such page; / lists the machines, /api/openapi.json describes the API")]
    NoPage,
    #[error("method not allowed; runs can't be deleted or tagged over HTTP")]
    Method,
    #[error("no run with this id")]
    NoRun,
    #[error("no runs of this machine")]
    NoMachine,
    #[error(
        "no run measured by latlas has this row or point; rows of imported runs are only shown \
         with their run"
    )]
    NoRow,
    #[error("this machine has no run measured by latlas with this row or point")]
    NoHistory,
    #[error("no stored run of a machine called {0:?}")]
    NoHost(String),
    #[error(
        "can't compare {name:?}: give a run's whole id, @HOST, or a published table ({tables})"
    )]
    NoSide { name: String, tables: String },
    #[error("can't compare: {0}")]
    NotComparable(String),
    #[error(
        "upload too slow: {received} bytes received; send at least {bytes_per_s:.0} bytes a \
         second, and all of it within {whole_s} s"
    )]
    TooSlow { received: usize, bytes_per_s: f64, whole_s: f64 },
    #[error("document larger than {0} bytes")]
    TooLarge(u64),
    #[error("send the document as {0}, without Content-Encoding")]
    MediaType(String),
    #[error("not stored: {0}")]
    Refused(Refused),
    #[error("not stored: started_unix_ms is {0}, which is not a time")]
    NoTime(u64),
    #[error(
        "not stored: it claims to be a result of host {0} in a campaign, which an upload can't prove; \
         `latlas fleet collect` stores results of campaigns"
    )]
    OfCampaign(String),
    #[error("not stored: started {0}, which is in the future; set that machine's clock")]
    Future(String),
    #[error("another run is stored under this id; stored runs never change")]
    IdTaken,
    #[error("too many unfinished uploads; retry in a few seconds")]
    TooManyUploads,
    #[error("server busy; retry in a few seconds")]
    Busy,
    #[error(
        "timed out; retry in a few seconds (an upload may have been stored; sending it again is \
         safe)"
    )]
    TimedOut,
    #[error("{}", store_failure(.0))]
    Store(StoreError),
    #[error("can't read the document; the server's log has the cause")]
    Document(PathBuf, #[source] std::io::Error),
    #[error("internal error; the server's log has the cause")]
    Bug(#[from] tokio::task::JoinError),
}

/// A store on a full disk can be mended; the client learns which side failed.
fn store_failure(error: &StoreError) -> &'static str {
    match error {
        StoreError::Io { action, .. } if *action != FileAction::Read => {
            "can't write the run; the server's log has the cause"
        }
        _ => "can't read stored runs; the server's log has the cause",
    }
}

/// A run that the store does not have is no failure.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::NoSuchRun { .. } | StoreError::Empty(_) => Problem::NoRun,
            error => Problem::Store(error),
        }
    }
}

impl Problem {
    pub(crate) fn status(&self) -> StatusCode {
        use Problem as P;
        match self {
            P::Malformed(_) | P::Refused(Refused::Damaged(_)) => StatusCode::BAD_REQUEST,
            P::NoToken => StatusCode::UNAUTHORIZED,
            P::CrossOrigin | P::ReadOnly => StatusCode::FORBIDDEN,
            P::NoPage | P::NoRun | P::NoMachine | P::NoRow | P::NoHistory => StatusCode::NOT_FOUND,
            P::NoHost(_) | P::NoSide { .. } => StatusCode::NOT_FOUND,
            P::Method => StatusCode::METHOD_NOT_ALLOWED,
            P::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            P::IdTaken => StatusCode::CONFLICT,
            P::TooLarge(_) | P::Refused(Refused::TooLarge(_) | Refused::Inflated(_)) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            P::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            P::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            P::NotComparable(_) | P::NoTime(_) | P::OfCampaign(_) | P::Future(_) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            P::Refused(Refused::NotARun(_) | Refused::Newer(_)) => StatusCode::UNPROCESSABLE_ENTITY,
            P::TooManyUploads => StatusCode::TOO_MANY_REQUESTS,
            P::Busy | P::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            P::Store(StoreError::Database {
                failure: DatabaseFailure::Unreachable(_) | DatabaseFailure::WentAway(_),
                ..
            }) => StatusCode::SERVICE_UNAVAILABLE,
            P::Store(StoreError::Io { action, .. }) if *action != FileAction::Read => {
                StatusCode::INSUFFICIENT_STORAGE
            }
            P::Store(_) | P::Document(..) | P::Bug(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// One line; a stranger's text may be in it.
    pub(crate) fn detail(&self) -> String {
        self.to_string().replace(|c: char| c.is_control(), " ")
    }

    /// What only the operator of the server should read.
    fn log_line(&self) -> Option<LogLine> {
        let line = match self {
            Problem::Store(error) => error.to_string(),
            Problem::Document(path, cause) => format!("can't read {}: {cause}", path.display()),
            Problem::Bug(cause) => format!("a request failed: {cause} (this is a bug in latlas)"),
            _ => return None,
        };
        Some(LogLine(line))
    }

    /// The response with this body, and the headers that belong to its status.
    fn response(&self, body: impl IntoResponse) -> Response {
        let mut response = (self.status(), body).into_response();
        response.extensions_mut().insert(Reason(self.detail()));
        if let Some(line) = self.log_line() {
            response.extensions_mut().insert(line);
        }
        let headers = match self.status() {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                &[(header::RETRY_AFTER, "2")][..]
            }
            // What follows on this connection is the rest of that body.
            StatusCode::REQUEST_TIMEOUT => &[(header::CONNECTION, "close")],
            // A browser asks for the password; a program reads the first word.
            StatusCode::UNAUTHORIZED => &[
                (header::WWW_AUTHENTICATE, "Bearer realm=\"latlas\""),
                (header::WWW_AUTHENTICATE, "Basic realm=\"latlas\", charset=\"UTF-8\""),
            ],
            _ => &[],
        };
        for (name, value) in headers {
            let value = HeaderValue::from_static(value);
            response.headers_mut().append(name, value);
        }
        response
    }
}

/// A line for the log, on its way out with the response.
#[derive(Clone)]
pub(crate) struct LogLine(pub(crate) String);

/// What went wrong, for a page that says so.
#[derive(Clone)]
pub(crate) struct Reason(pub(crate) String);

/// A problem as programs read it (RFC 9457).
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Problem"))]
pub(crate) struct ProblemDocument {
    /// Always `about:blank`: the status is the type.
    r#type: &'static str,
    /// Name of the status.
    title: &'static str,
    /// The status.
    status: u16,
    /// What is wrong, in one line.
    detail: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = ProblemDocument {
            r#type: "about:blank",
            title: self.status().canonical_reason().unwrap_or(""),
            status: self.status().as_u16(),
            detail: self.detail(),
        };
        let body = serde_json::to_string(&document).unwrap_or_default();
        self.response(([(header::CONTENT_TYPE, "application/problem+json")], body))
    }
}
