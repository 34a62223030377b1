//! Pages for people: plain documents without scripts. Whatever stands in them
//! of a run came from a stranger; maud escapes all of it.

pub(crate) mod compare;
pub(crate) mod machines;
pub(crate) mod report;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod runs;
mod sparkline;
pub(crate) mod upload;
mod words;

use crate::guard::Told;
use crate::problem::{Problem, with_headers};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

/// A page, or the page that says why there is none.
pub(crate) type Page = Result<Response, Refused>;

/// A problem as a page.
pub(crate) struct Refused(Problem);

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused(problem)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Problem {
            status,
            detail,
            for_the_log,
        } = self.0;
        let title = status.canonical_reason().unwrap_or("Problem");
        let content = html! {
            h1 { (title) }
            p { (detail) }
            p { a href="/" { "All machines" } }
        };
        let page = (status, Html(document(title, "", &content))).into_response();
        let mut response = with_headers(status, page);
        if let Some(line) = for_the_log {
            response.extensions_mut().insert(Told(line));
        }
        response
    }
}

/// The parts of the atlas, for the head of each page.
const PARTS: [(&str, &str); 5] = [
    ("/", "Machines"),
    ("/runs", "Runs"),
    ("/rows", "Rows"),
    ("/compare", "Compare"),
    ("/upload", "Upload"),
];

fn shown(title: &str, part: &str, content: &Markup) -> Page {
    Ok(Html(document(title, part, content)).into_response())
}

fn document(title: &str, part: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - latlas" }
                link rel="stylesheet" href="/style.css";
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    a.name href="/" { "latlas" }
                    nav aria-label="Parts of the atlas" {
                        ul {
                            @for (path, name) in PARTS {
                                li {
                                    @if path == part {
                                        a href=(path) aria-current="page" { (name) }
                                    } @else {
                                        a href=(path) { (name) }
                                    }
                                }
                            }
                        }
                    }
                }
                main #content { (content) }
                footer {
                    p {
                        "For programs: " a href="/api/openapi.json" { "the interface" } ", "
                        a href="/metrics" { "metrics" } "."
                    }
                }
            }
        }
    };
    page.into_string()
}

/// A table that scrolls by itself where the page is narrow, by keyboard too.
fn scrolling(label: &str, table: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" { (table) }
    }
}

/// The style of all pages.
pub(crate) async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("style.css")).into_response()
}
