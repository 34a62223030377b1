//! The report of a run, drawn when it is asked for. It is the one page with
//! scripts: ours, which its policy names by their hashes.

use super::Page;
use crate::app::App;
use crate::problem::Problem;
use crate::questions;
use crate::strict::{Asked, Named, Nothing};
use atlas::chart::pictures;
use atlas::report::{Content, Offered, Shown, histories, pieces, set_over_time};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse};

/// Beside the report's own policy: it runs as a page of nobody's origin, so
/// that whatever it did, it could ask nothing here in the reader's name.
const APART: &str = "frame-ancestors 'none'; sandbox allow-scripts allow-downloads";

pub(crate) async fn page(
    State(app): State<App>,
    Named(id): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Page {
    let page = app
        .ask(move |index, app| {
            let (kept, run) = questions::run(index, &id)?;
            let (mut drawn, mut left_out) = pictures(&run, app.references(), &[]);
            set_over_time(histories(index, &run), &mut drawn, &mut left_out);
            let bytes = std::fs::metadata(&kept.path).map_or(0, |file| file.len());
            let offered = Offered {
                file: "document".into(),
                what: "the document".into(),
                bytes,
            };
            Ok::<_, Problem>(atlas::report::page(&Content {
                shown: Shown {
                    name: &kept.id,
                    run: &run,
                },
                others: &[],
                references: app.references(),
                probes: &app.options().probes,
                pictures: &drawn,
                left_out: &left_out,
                comparisons: &[],
                offered: &[offered],
            }))
        })
        .await?;
    let mut response = Html(page).into_response();
    let policy = format!("{}; {APART}", pieces::policy());
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}
