//! Upload by a form.

use super::place::link;
use super::{PageResult, page};
use crate::app::App;
use crate::params::Ask;
use crate::problem::Problem;
use crate::share::Client;
use crate::upload::{document_in_form, upload};
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use maud::html;

pub(crate) async fn form(ask: Ask) -> PageResult {
    let options = ask.app.options();
    let content = html! {
        @if options.read_only {
            p { (Problem::ReadOnly.detail()) }
        } @else {
            p {
                "A run document, as " code { "latlas run --out run.json.zst" } " writes it. It is \
                 checked and stored under its own id; repeating an upload changes nothing."
            }
            form action="/upload" method="post" enctype="multipart/form-data" {
                div {
                    label for="document" { "Document, at most " (model::size::format_size(options.max_upload_bytes)) }
                    input id="document" name="document" type="file" accept=".json,.zst" required;
                }
                button type="submit" { "Upload" }
            }
        }
    };
    Ok(page("Upload", "/upload", &content).into_response())
}

pub(crate) async fn submit(State(app): State<App>, client: Client, request: Request) -> PageResult {
    let (parts, body) = request.into_parts();
    let accepts = |_: &_| Ok(());
    let uploaded = upload(&app, client, &parts.headers, body, accepts, document_in_form).await?;
    let title = if uploaded.already { "Already stored" } else { "Stored" };
    let content = html! { p { (link(format!("/runs/{}", uploaded.id), "The run")) } };
    Ok(page(title, "/upload", &content).into_response())
}
