//! Pages for people, without scripts. All that documents say is escaped by
//! maud.

pub(crate) mod compare;
mod html;
pub(crate) mod lists;
pub(crate) mod report;
pub(crate) mod row;
pub(crate) mod run;
pub(crate) mod upload;

use crate::problem::Problem;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

/// A page, or the page that says why there is none.
pub(crate) type Page = Result<Response, PageProblem>;

/// A problem as a page.
pub(crate) struct PageProblem(Problem);

impl From<Problem> for PageProblem {
    fn from(problem: Problem) -> PageProblem {
        PageProblem(problem)
    }
}

impl IntoResponse for PageProblem {
    fn into_response(self) -> Response {
        let title = self.0.status().canonical_reason().unwrap_or("Problem");
        let content = html! {
            p { (self.0.detail()) }
            p { a href="/" { "All machines" } }
        };
        self.0.response(page(title, "", &content))
    }
}

const NAVIGATION: [(&str, &str); 5] = [
    ("/", "Machines"),
    ("/runs", "Runs"),
    ("/rows", "Rows"),
    ("/compare", "Compare"),
    ("/upload", "Upload"),
];

/// A page with this heading; `current` is its path in the navigation.
fn page(title: &str, current: &str, content: &Markup) -> Html<String> {
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
                    nav aria-label="Pages" {
                        ul {
                            @for (path, name) in NAVIGATION {
                                @let here = (path == current).then_some("page");
                                li { a href=(path) aria-current=[here] { (name) } }
                            }
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
            }
        }
    };
    Html(page.into_string())
}

/// The style of all pages.
pub(crate) async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("style.css")).into_response()
}
