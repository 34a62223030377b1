//! Who may send requests, and the headers of every response.

use crate::app::App;
use crate::listen::is_loopback_host;
use crate::problem::{LogLine, Problem};
use crate::share::{Client, holding};
use crate::{pages, upload};
use axum::body::HttpBody as _;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use std::time::Instant;

/// Needs no token: monitoring has none.
pub(crate) const HEALTH: &str = "/healthz";

/// Headers of every response, unless it sets its own: pages with pictures have
/// another policy.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, pages::POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Not no-referrer: with that a browser sends `Origin: null` with a form.
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // The store may change with the next upload, and is private.
    (header::CACHE_CONTROL, "no-store"),
];

/// Admits or refuses a request, counts it, and sets the headers of the response.
pub(crate) async fn guard(
    State(app): State<App>,
    client: Client,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    // An unknown method must not become a label of its own.
    let method = match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    };
    let for_people = is_for_people(&request);
    let mut response = match admit(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            upload::drain(request.into_body()).await;
            problem.into_response()
        }
    };
    response = in_memory(&app, client, response).await;
    if for_people {
        response = pages::problem(response);
    }
    if let Some(LogLine(line)) = response.extensions_mut().remove::<LogLine>() {
        app.log(&line);
    }
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().entry(name).or_insert(value);
    }
    let status = response.status().as_u16();
    app.metrics().answered(route, method, status, began.elapsed());
    response
}

/// Shorter responses take no memory of the pages'.
const SHORT_BYTES: u64 = 64 << 10;

/// The same response, which holds its memory until it is sent.
async fn in_memory(app: &App, client: Client, response: Response) -> Response {
    // One that is made as it is sent has no size.
    let size = response.body().size_hint().exact();
    let Some(size) = size.filter(|&size| size >= SHORT_BYTES) else {
        return response;
    };
    let kib = usize::try_from(size >> 10).unwrap_or(usize::MAX);
    let Some(memory) = app.pages().take_up_to_share(client, kib) else {
        return Problem::Busy.into_response();
    };
    let (mut parts, body) = response.into_parts();
    // What has a size is there already.
    let Ok(body) = body.collect().await else {
        return Problem::Busy.into_response();
    };
    parts.headers.insert(header::CONTENT_LENGTH, size.into());
    Response::from_parts(parts, holding(body.to_bytes(), memory))
}

/// Whether a browser asks for a page: errors are pages for it, too.
fn is_for_people(request: &Request) -> bool {
    let path = request.uri().path();
    let for_programs = path.starts_with("/api/") || path == "/metrics" || path == HEALTH;
    let accepts = request.headers().get(header::ACCEPT);
    let accepts = accepts.and_then(|kinds| kinds.to_str().ok());
    !for_programs && accepts.is_some_and(|kinds| kinds.contains("text/html"))
}

fn admit(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = single(headers, header::HOST)?;
    match &app.options().token {
        Some(token) => {
            let given = headers.get(header::AUTHORIZATION);
            let known = given.is_some_and(|given| token.is_in(given.as_bytes()));
            if !known && request.uri().path() != HEALTH {
                return Err(Problem::NoToken);
            }
        }
        // Without a token the loopback address keeps others out, and DNS
        // rebinding would let them in.
        None if !host.is_some_and(is_loopback_host) => return Err(Problem::WrongHost),
        None => {}
    }
    match *request.method() {
        Method::GET | Method::HEAD => Ok(()),
        _ => same_origin(headers, host),
    }
}

/// A page of another origin must not make a browser change anything here.
/// Programs send neither header.
fn same_origin(headers: &HeaderMap, host: Option<&str>) -> Result<(), Problem> {
    if let Some(origin) = single(headers, header::ORIGIN)? {
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        let both = authority.zip(host);
        if !both.is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host)) {
            return Err(Problem::CrossOrigin);
        }
    }
    match single(headers, HeaderName::from_static("sec-fetch-site"))? {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(Problem::CrossOrigin),
    }
}

/// A header that may occur once.
fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Problem> {
    let mut all = headers.get_all(&name).iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    match (value.to_str(), all.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Problem::Malformed(format!("header {name} is repeated or not text"))),
    }
}
