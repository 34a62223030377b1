//! Who may ask, and what every answer carries.

use crate::app::App;
use crate::listen::is_loopback_host;
use crate::metrics::Labels;
use crate::problem::Problem;
use crate::upload;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Instant;

/// The one page that needs no token: whoever watches over the server has none.
pub(crate) const HEALTH: &str = "/healthz";

/// Pages have no scripts and load nothing but their own style.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Counts the request, lets it through or refuses it, and dresses the answer.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let labels = Labels {
        route: request
            .extensions()
            .get::<MatchedPath>()
            .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned()),
        method: known(request.method()),
    };
    let mut response = match admitted(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            upload::linger(request.into_body()).await;
            problem.into_response()
        }
    };
    if let Some(Told(line)) = response.extensions_mut().remove::<Told>() {
        app.log(&line);
    }
    dress(response.headers_mut());
    app.metrics()
        .answered(&labels, response.status().as_u16(), began.elapsed());
    response
}

/// A line for the log, on its way out with the answer.
#[derive(Clone)]
pub(crate) struct Told(pub(crate) String);

/// A stranger's method must not become a label of its own.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        _ => "other",
    }
}

fn admitted(app: &App, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = one(headers, &header::HOST)?;
    match &app.options().token {
        Some(token) => {
            let given = headers.get(header::AUTHORIZATION);
            let known = given.is_some_and(|given| token.is_in(given.as_bytes()));
            if !known && request.uri().path() != HEALTH {
                return Err(Problem::new(
                    StatusCode::UNAUTHORIZED,
                    "this server asks for its token: Authorization: Bearer TOKEN, or as a password",
                ));
            }
        }
        // Without a token it is the address that keeps strangers out, and a
        // name that leads here from elsewhere would let them in.
        None if !host.is_some_and(is_loopback_host) => {
            return Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "without a token only requests to localhost are answered: the Host header names \
                 another machine",
            ));
        }
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
    let foreign = || {
        Problem::new(
            StatusCode::FORBIDDEN,
            "this request comes from a page of another origin",
        )
    };
    if let Some(origin) = one(headers, &header::ORIGIN)? {
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        let same = authority
            .zip(host)
            .is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host));
        if !same {
            return Err(foreign());
        }
    }
    match one(headers, &HeaderName::from_static("sec-fetch-site"))? {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(foreign()),
    }
}

/// A header that may be there once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Problem> {
    let mut all = headers.get_all(name).iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    match (value.to_str(), all.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Problem::bad_request(format!(
            "the header {name} is there twice, or is not text"
        ))),
    }
}

fn dress(headers: &mut HeaderMap) {
    let mut set = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    // The report's page has a policy of its own.
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::X_FRAME_OPTIONS, "DENY");
    // Not no-referrer: with that a browser calls a form's own origin null.
    set(header::REFERRER_POLICY, "same-origin");
    set(
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    );
    set(
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    );
    // What is kept may change with the next upload, and is nobody else's.
    set(header::CACHE_CONTROL, "no-store");
}
