//! One run: its facts and all its rows.

use super::words::{long, on, point, row_path, shown as figure_of, verdict, when};
use super::{Page, runs::marks, scrolling, shown};
use crate::app::App;
use crate::questions;
use crate::strict::{Asked, Named, Nothing};
use crate::wire;
use atlas::index::{KeptResult, results};
use axum::extract::State;
use maud::{Markup, html};
use model::unit::Unit;

pub(crate) async fn page(
    State(app): State<App>,
    Named(id): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Page {
    let content = app
        .ask(move |index, _| {
            let (kept, run) = questions::run(index, &id)?;
            let (figures, points): (Vec<_>, Vec<_>) = results(&run)
                .into_iter()
                .partition(|result| result.at.is_empty());
            Ok(content(&wire::Run::from(&kept), &figures, &points))
        })
        .await?;
    shown("Run", "/runs", &content)
}

fn content(run: &wire::Run, figures: &[KeptResult], points: &[KeptResult]) -> Markup {
    let fact = |name: &str, text: Option<&str>| {
        html! { dt { (name) } dd { (text.unwrap_or("unknown")) } }
    };
    html! {
        h1 { "Run of " (when(run.started_unix_ms)) }
        p { a href={ "/machines/" (run.machine) } { (on(run.host.as_deref(), &run.machine_line)) } }
        p { (marks(run)) }
        dl {
            (fact("host", run.host.as_deref()))
            (fact("kernel", run.kernel.as_deref()))
            dt { "program" }
            dd {
                (run.version) ", " (run.profile)
                @if let Some(commit) = &run.commit { ", commit " (commit) }
            }
            (fact("governor", run.governor.as_deref()))
            (fact("controls", run.controls.as_deref()))
            dt { "took" } dd { (long(run.wall_ms)) }
            dt { "id" } dd { code { (run.id) } }
        }
        p {
            a href={ "/runs/" (run.id) "/report" } { "Report" } " with pictures, "
            a href={ "/runs/" (run.id) "/document" } { "document" } " with every sample, "
            a href={ "/compare?b=" (run.id) } { "compare" } " it with another."
        }
        h2 { "Rows" }
        (table("Rows", figures, !run.imported))
        @if !points.is_empty() {
            h2 { "Points of curves and maps" }
            details {
                summary { (points.len()) " points" }
                (table("Points of curves and maps", points, !run.imported))
            }
        }
    }
}

/// Rows of another program have no page over all machines to lead to.
fn table(label: &str, results: &[KeptResult], lead_on: bool) -> Markup {
    let name = |result: &KeptResult| {
        html! {
            (result.row)
            @if !result.at.is_empty() { " at " (point(&result.at)) }
        }
    };
    let table = html! {
        table {
            thead {
                tr { th { "Row" } th.number { "Value" } th { "95 %" } th.number { "Cycles" } th { "Verdict" } }
            }
            tbody {
                @for result in results {
                    @let text = figure_of(result);
                    tr {
                        th.whole scope="row" {
                            @if lead_on {
                                a href=(row_path(&result.row, &result.at)) { (name(result)) }
                            } @else {
                                (name(result))
                            }
                        }
                        td.number { (text.value) }
                        td.half { (text.half) }
                        td.number { (cycles(result)) }
                        td.words { (verdict(result.verdict, &result.reason)) }
                    }
                }
            }
        }
    };
    scrolling(label, &table)
}

fn cycles(result: &KeptResult) -> String {
    match (result.below_ns, result.cycles) {
        (None, Some(cycles)) => {
            let text = model::figure::figure(&cycles, &Unit::Count);
            format!("{} {}", text.value, text.unit)
                .trim_end()
                .to_owned()
        }
        _ => String::new(),
    }
}
