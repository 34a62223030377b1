//! Pages for people: the blocks that the commands print, painted as HTML, with
//! navigation and forms. All that documents say is escaped by maud.

pub(crate) mod compare;
pub(crate) mod lists;
mod place;
pub(crate) mod report;
pub(crate) mod row;
pub(crate) mod run;
pub(crate) mod upload;

use crate::problem::{Problem, Reason};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use place::link;
use view::html::{finished, keys, policy, script, style};

/// A page, or why there is none.
pub(crate) type PageResult = Result<Response, Problem>;

/// Pages load nothing but their own style and icon; scripts run on those alone
/// that add ours, by its hash.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; \
                                 form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const NAVIGATION: [(&str, &str); 5] = [
    ("/", "Machines"),
    ("/runs", "Runs"),
    ("/rows", "Rows"),
    ("/compare", "Compare"),
    ("/upload", "Upload"),
];

/// A page with this heading; `current` is its path in the navigation.
fn page(title: &str, current: &str, content: &Markup) -> Html<String> {
    with_end(title, current, content, &html! {})
}

/// A page with pictures, which the script lets a reader point at, zoom and copy:
/// for PNG it draws them as images of its own.
fn page_of_pictures(title: &str, current: &str, content: &Markup) -> Response {
    let script = html! { script { (PreEscaped(script())) } };
    let content = html! { (keys()) (content) };
    let mut response = with_end(title, current, &content, &script).into_response();
    let policy = POLICY.replace("img-src 'self'", "img-src 'self' data:");
    set_policy(&mut response, &format!("{policy}; {}", policy::scripts()));
    response
}

fn set_policy(response: &mut Response, policy: &str) {
    if let Ok(policy) = HeaderValue::from_str(policy) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

fn with_end(title: &str, current: &str, content: &Markup, end: &Markup) -> Html<String> {
    Html(finished(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - latlas" }
                link rel="icon" type="image/svg+xml" href="/favicon.ico";
                link rel="stylesheet" href="/style.css";
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.top.site {
                    a.name href="/" { "latlas" }
                    nav aria-label="Pages" {
                        @for (path, name) in NAVIGATION {
                            @let here = (path == current).then_some("page");
                            a href=(path) aria-current=[here] { (name) }
                        }
                    }
                }
                main #content { h1 { (title) } (content) }
                footer {
                    p {
                        "For programs: " a href="/api/openapi.json" { "API" } ", "
                        a href="/metrics" { "metrics" }
                    }
                }
                (end)
            }
        }
    }))
}

/// The same response, as a page if it says what went wrong.
pub(crate) fn problem(response: Response) -> Response {
    let Some(Reason(reason)) = response.extensions().get() else {
        return response;
    };
    let title = response.status().canonical_reason().unwrap_or("Problem");
    let is_missing = response.status() == StatusCode::NOT_FOUND;
    let content = html! {
        p { (reason) }
        @if is_missing {
            p {
                (link("/", "Machines")) ", " (link("/runs", "runs")) ", " (link("/rows", "rows")) ", "
                (link("/compare", "compare")) "; for programs: " (link("/api/openapi.json", "API"))
            }
        }
    };
    let page = page(title, "", &content).into_response();
    let (of_page, body) = page.into_parts();
    let (mut parts, _) = response.into_parts();
    parts.headers.extend(of_page.headers);
    Response::from_parts(parts, body)
}

pub(crate) async fn stylesheet() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, style() + include_str!("style.css")).into_response()
}

/// Four bars, each longer than the one before: a ladder of latencies.
pub(crate) async fn icon() -> Response {
    const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">\
        <path fill=\"#00609a\" d=\"M1 1h3v2.5H1zM1 5h6v2.5H1zM1 9h10v2.5H1zM1 13h14v2.5H1z\"/></svg>";
    ([(header::CONTENT_TYPE, "image/svg+xml")], ICON).into_response()
}
