//! Two runs, or a run and a published table, compared.

use super::html::{link, row_link, table, text, when};
use super::{Page, page};
use crate::app::App;
use crate::params::{Params, RunsParams};
use crate::queries;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use compare::{ComparedRow, Comparison, SideFacts, SideFigure};
use maud::{Markup, html};
use model::compare::finding::Finding;
use model::summary::KeptRun;
use serde::Deserialize;

/// Newest runs to choose from.
const CHOICES: u32 = 200;

/// The form sends both; neither at first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    #[serde(default)]
    a: String,
    #[serde(default)]
    b: String,
}

pub(crate) async fn compare(State(app): State<App>, Params(chosen): Params<Chosen>) -> Page {
    let response = app.query(move |index, app| {
        let newest = RunsParams {
            machine: None,
            offset: 0,
            limit: CHOICES,
        };
        let (_, runs) = queries::runs(index, &newest)?;
        let Chosen { a, b } = &chosen;
        let (status, result) = match a.is_empty() || b.is_empty() {
            true => (StatusCode::OK, html! {}),
            false => match queries::comparison(index, app, a, b) {
                Ok(comparison) => (StatusCode::OK, comparison_of(&comparison)),
                Err(problem) if problem.status().is_client_error() => {
                    (problem.status(), html! { p.bad { (problem.detail()) } })
                }
                Err(problem) => return Err(problem),
            },
        };
        let tables = app.references().keys();
        let content = html! {
            form action="/compare" method="get" {
                (choice("a", "Baseline (A)", &runs, &tables, a))
                (choice("b", "Compared (B)", &runs, &tables, b))
                button type="submit" { "Compare" }
            }
            (result)
        };
        Ok((status, page("Compare", "/compare", &content)))
    });
    Ok(response.await?.into_response())
}

fn choice(name: &str, label: &str, runs: &[KeptRun], tables: &[&str], chosen: &str) -> Markup {
    let listed = runs.iter().any(|run| run.id == chosen) || tables.contains(&chosen);
    html! {
        div {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @if !chosen.is_empty() && !listed {
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
                    @for table in tables {
                        option value=(table) selected[*table == chosen] { (table) }
                    }
                }
            }
        }
    }
}

fn comparison_of(c: &Comparison) -> Markup {
    html! {
        (side("A", &c.a))
        (side("B", &c.b))
        @if !c.differences.is_empty() {
            h2 { "Setup differences" }
            dl { @for d in &c.differences { dt { (d.what) } dd { (d.a) " → " (d.b) } } }
        }
        h2 { "Rows" }
        p {
            (c.count(Finding::Different)) " different, "
            (c.count(Finding::SameWithinNoise)) " the same within noise, "
            (c.count(Finding::CannotTell)) " can't tell. Core-bound rows "
            (c.method.cycles) "."
        }
        (rows("Rows", &c.rows))
        @if !c.points.is_empty() {
            h2 { "Points of curves and maps" }
            details {
                summary { (c.points.len()) " points" }
                (rows("Points", &c.points))
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
            @let when = run.started_unix_ms.map(when).or(run.imported.clone());
            p {
                (link(format!("/runs/{}", run.id), when.as_deref().unwrap_or("unknown time")))
                ", " (run.machine) ", " (run.program)
                @for warning in &run.warnings { ". " span.bad { (warning) } }
            }
        }
    }
}

fn rows(label: &str, rows: &[ComparedRow]) -> Markup {
    table::<ComparedRow>(
        label,
        rows,
        &[
            ("Row", "whole", &|row| {
                html! {
                    (row_link(&row.id, &row.at))
                    @if let Some(mode) = &row.mode { " (" (mode) ")" }
                    (view::render::compared_by(row))
                }
            }),
            ("A", "number", &|row| text(quantity(&row.a, row.unit))),
            ("B", "number", &|row| text(quantity(&row.b, row.unit))),
            ("B/A", "number", &|row| text(&view::render::ratio(row)[0])),
            ("95 %", "half", &|row| text(&view::render::ratio(row)[1])),
            ("Finding", "words", &finding),
        ],
    )
}

/// A side's figure with as many digits as its interval supports.
fn quantity(side: &SideFigure, unit: &str) -> String {
    let Some(value) = side.value else {
        return "-".into();
    };
    let ends = side.low.zip(side.high);
    let half = ends.map_or(0.0, |(low, high)| (high - low) / 2.0);
    let (scale, name) = match unit {
        "ns" => model::figure::time_scale(value),
        unit => (1.0, unit),
    };
    let places = model::figure::decimals(value / scale, half / scale);
    let text = format!("{:.places$} {name}", value / scale);
    text.trim_end().to_owned()
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
