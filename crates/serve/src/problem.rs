//! What went wrong, as a program is told it (RFC 9457) and as a person is.

use crate::guard::Told;
use atlas::store::StoreError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was not answered as it was meant.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// One line.
    pub(crate) detail: String,
    /// What only the one who runs the server should read.
    pub(crate) for_the_log: Option<String>,
}

/// A problem as it is sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemDocument {
    /// Always `about:blank`: the status says it all.
    r#type: &'static str,
    /// What the status is called.
    title: String,
    /// The status.
    status: u16,
    /// What is wrong here, in one line.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        let detail: String = detail.into();
        Problem {
            status,
            // A stranger's text may be in it.
            detail: detail.replace(|c: char| c.is_control(), " "),
            for_the_log: None,
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn busy() -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests at once: try again in a few seconds",
        )
    }

    /// Unfinished uploads hold all the memory there is for them.
    pub(crate) fn too_many_uploads() -> Problem {
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many uploads at once: try again in a few seconds",
        )
    }

    /// It was begun, and may still be done.
    pub(crate) fn late() -> Problem {
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "this took too long: try again in a few seconds (a document that was sent may have \
             been kept all the same; to send it again is safe)",
        )
    }

    /// Something of ours failed. Paths and causes go to the log.
    pub(crate) fn ours(status: StatusCode, detail: &str, cause: impl Into<String>) -> Problem {
        Problem {
            for_the_log: Some(cause.into()),
            ..Problem::new(status, detail)
        }
    }
}

/// The store refuses: a full disk may be emptied, so that is not for ever.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let cause = error.to_string();
        match error {
            StoreError::NoSuchRun { .. } | StoreError::Empty(_) => {
                Problem::not_found("no such run is kept")
            }
            StoreError::Io { action, .. } if action != "read" => Problem::ours(
                StatusCode::INSUFFICIENT_STORAGE,
                "the run can't be written here; the server's own messages say why",
                cause,
            ),
            _ => Problem::ours(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the kept runs can't be read; the server's own messages say why",
                cause,
            ),
        }
    }
}

pub(crate) const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// How long to wait before trying again, s.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

/// Headers that belong to a status.
pub(crate) fn with_headers(status: StatusCode, mut response: Response) -> Response {
    let headers = response.headers_mut();
    if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
        headers.insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    if status == StatusCode::REQUEST_TIMEOUT {
        // What follows on this connection is the rest of that body.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if status == StatusCode::UNAUTHORIZED {
        // A browser asks for the password; a program reads the first word.
        headers.append(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"latlas\""),
        );
        headers.append(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Basic realm=\"latlas\", charset=\"UTF-8\""),
        );
    }
    response
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = ProblemDocument {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
        };
        let body = serde_json::to_string(&document).unwrap_or_default();
        let response = (self.status, [(header::CONTENT_TYPE, PROBLEM_JSON)], body);
        let mut response = with_headers(self.status, response.into_response());
        if let Some(line) = self.for_the_log {
            response.extensions_mut().insert(Told(line));
        }
        response
    }
}
