//! A run document by form.

use super::{Page, shown};
use crate::app::App;
use crate::problem::Problem;
use crate::strict::{Asked, Nothing};
use crate::upload;
use crate::wire::Kept;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::header;
use maud::html;

pub(crate) async fn page(State(app): State<App>, Asked(Nothing {}): Asked<Nothing>) -> Page {
    let content = html! {
        h1 { "Upload" }
        @if app.options().read_only {
            p { (upload::read_only().detail) }
        } @else {
            p {
                "A run document, as " code { "latlas run --out run.json.zst" } " writes it. It is \
                 checked, and kept under its own id; the same again changes nothing."
            }
            form action="/upload" method="post" enctype="multipart/form-data" {
                div {
                    label for="document" { "Document, at most " (model::size::text(app.options().max_upload_bytes)) }
                    input id="document" name="document" type="file" accept=".json,.zst" required;
                }
                button type="submit" { "Upload" }
            }
        }
    };
    shown("Upload", "/upload", &content)
}

/// Takes the form.
pub(crate) async fn taken(State(app): State<App>, request: Request) -> Page {
    let kept = uploaded(&app, request).await;
    upload::count(&app, &kept);
    let kept = kept?;
    let content = html! {
        h1 { @if kept.already { "Kept already" } @else { "Kept" } }
        p { a href={ "/runs/" (kept.id) } { "The run" } }
    };
    shown("Kept", "/upload", &content)
}

async fn uploaded(app: &App, request: Request) -> Result<Kept, Problem> {
    if app.options().read_only {
        upload::linger(request.into_body()).await;
        return Err(upload::read_only());
    }
    // The form's own lines are little beside a document.
    let (mut parts, body) = request.into_parts();
    let mut received = upload::body(app, &parts.headers, body).await?;
    let _place = app.place_for_upload().await?;
    parts.headers.remove(header::CONTENT_LENGTH);
    let form = std::mem::take(&mut received.bytes);
    let request = Request::from_parts(parts, Body::from(form));
    let malformed = |why: String| Problem::bad_request(format!("this is not the form: {why}"));
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|refused| malformed(refused.body_text()))?;
    let mut document = None;
    while let Some(field) = form
        .next_field()
        .await
        .map_err(|refused| malformed(refused.body_text()))?
    {
        if field.name() == Some("document") {
            let bytes = field.bytes().await;
            document = Some(bytes.map_err(|refused| malformed(refused.body_text()))?);
        }
    }
    let Some(document) = document.filter(|document| !document.is_empty()) else {
        return Err(malformed("it has no document".into()));
    };
    received.bytes = document.to_vec();
    upload::keep(app, received).await
}
