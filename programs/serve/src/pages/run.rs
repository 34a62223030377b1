//! One run: its facts and all its rows.

use super::place::{folded, link, painted};
use super::{PageResult, page};
use crate::params::{Ask, Name};
use crate::queries;
use axum::response::IntoResponse;
use maud::{Markup, html};
use model::summary::{KeptResult, KeptRun};
use model::tally::Tally;
use store::index::results;
use view::render::stored;

pub(crate) async fn run_page(Name(id): Name, ask: Ask) -> PageResult {
    let (run, results) = ask
        .draw_whole(move |index, _, _| {
            let (kept, run) = queries::run_by_id(index, &id)?;
            Ok((kept, results(&run)))
        })
        .await?;
    let title = format!("Run of {}", model::utc::readable_utc(run.started_unix_ms));
    Ok(page(&title, "/runs", &content(&run, &results)).into_response())
}

fn content(run: &KeptRun, results: &[KeptResult]) -> Markup {
    let is_single = |result: &KeptResult| result.at.is_empty();
    let (figures, points): (Vec<_>, Vec<_>) = results.iter().cloned().partition(is_single);
    let to = |page: &str| format!("/runs/{}/{page}", run.id);
    html! {
        // Where the document lies is for the operator only.
        (painted(&stored::run_facts(run, "", &Tally::of_kept(results))))
        p {
            (link(to("report"), "Report")) " with pictures, "
            (link(to("document"), "document")) " with every sample, "
            (link(format!("/compare?b={}", run.id), "compare")) " with another run, "
            (link(format!("/machines/{}", run.machine.0), "all runs")) " of this machine"
        }
        h2 { "Rows" }
        (painted(&stored::results(run, &figures)))
        @if !points.is_empty() {
            h2 { "Points of curves and maps" }
            (folded(&format!("{} points", points.len()), &painted(&stored::results(run, &points))))
        }
    }
}
