//! Two runs, or a run and a published table, compared.

use super::place::{folded, in_query, link, painted};
use super::{Page, page};
use crate::app::App;
use crate::params::{Params, RunsParams};
use crate::queries;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use compare::{ComparedRow, Comparison};
use maud::{Markup, html};
use model::story::{Block, Table};
use model::summary::KeptRun;
use serde::Deserialize;
use view::render::comparison::{Detail, footer, header, table};

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
                            (model::utc::text(run.started_unix_ms)) " "
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
    // What is found is what is looked for: behind the row's name.
    let rows = |rows: &[ComparedRow]| {
        let mut blocks = table(rows, Detail::Reasons);
        for block in &mut blocks {
            if let Block::Tables(tables) = block {
                let moved = |table: Table| {
                    let finding = table.columns.len() - 1;
                    table.moved(finding, 1)
                };
                *tables = std::mem::take(tables).into_iter().map(moved).collect();
            }
        }
        painted(&blocks)
    };
    let runs = [("A", &c.a), ("B", &c.b)].map(|(letter, side)| {
        let runs = side.runs.iter().map(move |run| (letter, run));
        runs.collect::<Vec<_>>()
    });
    html! {
        (painted(&header(c)))
        p {
            @for (place, (letter, run)) in runs.iter().flatten().enumerate() {
                @if place > 0 { ", " }
                (letter) ": " (link(format!("/runs/{}", in_query(&run.id)), format!("run {}", run.id)))
            }
        }
        h2 { "Summary" }
        (painted(&footer(c, true)))
        h2 { "Rows" }
        (rows(&c.rows))
        @if !c.points.is_empty() {
            h2 { "Points of curves and maps" }
            (folded(&format!("{} points", c.points.len()), &rows(&c.points)))
        }
    }
}
