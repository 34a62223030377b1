//! Two runs against each other.

use super::words::{point, row_path, when};
use super::{Page, scrolling, shown};
use crate::app::App;
use crate::problem::Problem;
use crate::questions;
use crate::strict::{Asked, RunsAsked};
use crate::wire::Run;
use atlas::compare::{ComparedRow, Comparison, SideFacts, SideFigure};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use maud::{Markup, html};
use model::compare::finding::Finding;
use schemars::JsonSchema;
use serde::Deserialize;

/// Runs to choose from.
const OFFERED: u32 = 200;

/// What was chosen; the form sends both, and neither at first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    a: Option<String>,
    b: Option<String>,
}

pub(crate) async fn page(State(app): State<App>, Asked(chosen): Asked<Chosen>) -> Page {
    let (status, content) = app
        .ask(move |index, app| {
            let asked = RunsAsked {
                machine: None,
                offset: 0,
                limit: OFFERED,
            };
            let runs = questions::runs(index, &asked)?.runs;
            let [a, b] = [&chosen.a, &chosen.b].map(|side| side.as_deref().unwrap_or(""));
            let mut status = StatusCode::OK;
            let answer = match a.is_empty() || b.is_empty() {
                true => None,
                false => Some(match questions::comparison(index, app, a, b) {
                    Ok(comparison) => comparison_of(&comparison),
                    Err(problem) if problem.status.is_client_error() => {
                        status = problem.status;
                        html! { p.bad { (problem.detail) } }
                    }
                    Err(problem) => return Err(problem),
                }),
            };
            let content = html! {
                h1 { "Compare" }
                (form(app, &runs, a, b))
                @if let Some(answer) = answer { (answer) }
            };
            Ok::<_, Problem>((status, content))
        })
        .await?;
    Ok((status, shown("Compare", "/compare", &content)?).into_response())
}

fn form(app: &App, runs: &[Run], a: &str, b: &str) -> Markup {
    let choice = |name: &str, label: &str, chosen: &str| {
        let offered = runs.iter().any(|run| run.id == chosen);
        let tables = app.references().keys();
        html! {
            div {
                label for=(name) { (label) }
                select id=(name) name=(name) {
                    @if !chosen.is_empty() && !offered && !tables.contains(&chosen) {
                        option value=(chosen) selected { (chosen) }
                    }
                    optgroup label="Runs" {
                        @for run in runs {
                            option value=(run.id) selected[run.id == chosen] {
                                (when(run.started_unix_ms)) " "
                                (run.host.as_deref().unwrap_or("unknown host"))
                                @for tag in &run.tags { " " (tag) }
                            }
                        }
                    }
                    optgroup label="Published tables" {
                        @for table in &tables {
                            option value=(table) selected[*table == chosen] { (table) }
                        }
                    }
                }
            }
        }
    };
    html! {
        form action="/compare" method="get" {
            (choice("a", "Baseline (A)", a))
            (choice("b", "Against it (B)", b))
            button type="submit" { "Compare" }
        }
    }
}

fn comparison_of(c: &Comparison) -> Markup {
    html! {
        (side("A", &c.a))
        (side("B", &c.b))
        @if !c.differences.is_empty() {
            h2 { "Measured differently in" }
            dl { @for d in &c.differences { dt { (d.what) } dd { (d.a) " → " (d.b) } } }
        }
        h2 { "Rows" }
        p {
            (c.count(Finding::Different)) " different, "
            (c.count(Finding::SameWithinNoise)) " the same within noise, "
            (c.count(Finding::CannotTell)) " can't tell. Core-bound rows "
            (c.method.cycles) "."
        }
        (table("Rows", &c.rows))
        @if !c.points.is_empty() {
            h2 { "Points of curves and maps" }
            details {
                summary { (c.points.len()) " points" }
                (table("Points", &c.points))
            }
        }
        @for (name, rows) in [("A", &c.only_in_a), ("B", &c.only_in_b)] {
            @if !rows.is_empty() {
                h2 { "Only in " (name) }
                p { (rows.join(", ")) }
            }
        }
    }
}

fn side(letter: &str, side: &SideFacts) -> Markup {
    html! {
        h2 { (letter) ": " (side.name) }
        @if let Some(published) = &side.published { p { (published) } }
        @for run in &side.runs {
            p {
                a href={ "/runs/" (run.id) } {
                    @match (run.started_unix_ms, &run.imported) {
                        (Some(ms), _) => (when(ms)),
                        (None, Some(imported)) => (imported),
                        (None, None) => "unknown time",
                    }
                }
                ", " (run.machine) ", " (run.program)
                @for warning in &run.warnings { ". " span.bad { (warning) } }
            }
        }
    }
}

fn table(label: &str, rows: &[ComparedRow]) -> Markup {
    let table = html! {
        table {
            thead {
                tr {
                    th { "Row" } th.number { "A" } th.number { "B" } th.number { "B/A" } th { "95 %" }
                    th { "Finding" }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th.whole scope="row" {
                            a href=(row_path(&row.id, &row.at)) {
                                (row.id) @if !row.at.is_empty() { " at " (point(&row.at)) }
                            }
                            @if let Some(mode) = &row.mode { " (" (mode) ")" }
                            (atlas::render::compared_by(row))
                        }
                        td.number { (quantity(&row.a, row.unit)) }
                        td.number { (quantity(&row.b, row.unit)) }
                        (ratio(row))
                        td.words { (finding(row)) }
                    }
                }
            }
        }
    };
    scrolling(label, &table)
}

/// A side's figure with as many digits as its interval supports.
fn quantity(side: &SideFigure, unit: &str) -> String {
    let Some(value) = side.value else {
        return "-".into();
    };
    let half = side
        .low
        .zip(side.high)
        .map_or(0.0, |(low, high)| (high - low) / 2.0);
    let (scale, name) = match unit {
        "ns" => model::figure::time_scale(value),
        unit => (1.0, unit),
    };
    let places = model::figure::decimals(value / scale, half / scale);
    format!("{:.places$} {name}", value / scale)
        .trim_end()
        .to_owned()
}

fn ratio(row: &ComparedRow) -> Markup {
    let [ratio, interval] = atlas::render::ratio(row);
    html! { td.number { (ratio) } td.half { (interval) } }
}

fn finding(row: &ComparedRow) -> Markup {
    let class = match row.finding {
        Finding::SameWithinNoise => "ok",
        Finding::Different => "bad",
        Finding::CannotTell => "doubtful",
    };
    html! {
        span class=(class) {
            (row.finding.text())
            @if let Some(direction) = row.direction { ": " (direction.text()) }
        }
        @for why in &row.why { " " span.soft { (why) } }
    }
}
