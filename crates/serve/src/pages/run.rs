//! One run: its facts and all its rows.

use super::html::{
    duration, figure, interval_in, link, machine_link, row_link, row_name, table, text, verdict,
    when,
};
use super::{Page, lists::marks, page};
use crate::app::App;
use crate::params::{Name, NoParams, Params};
use crate::queries;
use axum::extract::State;
use axum::response::IntoResponse;
use maud::{Markup, html};
use model::summary::{KeptResult, KeptRun};
use model::unit::Unit;
use store::index::results;

pub(crate) async fn run(State(app): State<App>, Name(id): Name, _: Params<NoParams>) -> Page {
    let (run, results) = app
        .query(move |index, _| {
            let (kept, run) = queries::run(index, &id)?;
            Ok((kept, results(&run)))
        })
        .await?;
    let title = format!("Run of {}", when(run.started_unix_ms));
    Ok(page(&title, "/runs", &content(&run, &results)).into_response())
}

fn content(run: &KeptRun, results: &[KeptResult]) -> Markup {
    let setup = &run.setup;
    let commit = setup
        .commit
        .iter()
        .map(|commit| format!(", commit {commit}"));
    let program = format!(
        "{}, {}{}",
        setup.version,
        setup.profile,
        commit.collect::<String>()
    );
    let (figures, points): (Vec<_>, Vec<_>) =
        results.iter().partition(|result| result.at.is_empty());
    html! {
        p { (machine_link(&run.machine.0, run.host.as_deref(), &run.machine_line)) }
        p { (marks(run)) }
        dl {
            @for (name, fact) in [
                ("host", &run.host),
                ("kernel", &setup.kernel),
                ("program", &Some(program)),
                ("governor", &setup.governor),
                ("controls", &setup.controls),
                ("duration", &Some(duration(run.wall_ms))),
            ] {
                dt { (name) } dd { (fact.as_deref().unwrap_or("unknown")) }
            }
            dt { "id" } dd { code { (run.id) } }
        }
        p {
            (link(format!("/runs/{}/report", run.id), "Report")) " with pictures, "
            (link(format!("/runs/{}/document", run.id), "document")) " with every sample, "
            (link(format!("/compare?b={}", run.id), "compare")) " with another run"
        }
        h2 { "Rows" }
        (results_table("Rows", figures, !run.imported))
        @if !points.is_empty() {
            h2 { "Points of curves and maps" }
            details {
                summary { (points.len()) " points" }
                (results_table("Points of curves and maps", points, !run.imported))
            }
        }
    }
}

/// Rows of another program have no page of their own to link to.
fn results_table(label: &str, results: Vec<&KeptResult>, linked: bool) -> Markup {
    table::<KeptResult>(
        label,
        results,
        &[
            ("Row", "whole", &|result| match linked {
                true => row_link(&result.row, &result.at),
                false => text(row_name(&result.row, &result.at)),
            }),
            ("Value", "number", &|result| text(figure(result).0)),
            ("95 %", "half", &|result| text(figure(result).1)),
            (
                "Cycles",
                "number",
                &|result| match (result.below_ns, result.cycles) {
                    (None, Some(cycles)) => text(interval_in(&cycles, &Unit::Count).0),
                    _ => text(""),
                },
            ),
            ("Verdict", "words", &verdict),
        ],
    )
}
