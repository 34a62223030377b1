//! Two runs, or a run and a published table, compared.

use super::place::{folded, in_query, link, painted};
use super::{PageResult, page, page_of_pictures};
use crate::params::{Ask, RunsParams};
use crate::queries;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use compare::{ComparedRow, Comparison};
use maud::{Markup, html};
use model::compare::finding::Verdict;
use model::story::Block;
use model::summary::KeptRun;
use serde::Deserialize;
use view::chart::of_comparison;
use view::render::comparison::{Detail, comparison_tables, footer, header, summary};

/// Newest runs to choose from.
const CHOICES: u32 = 200;

/// The form sends both sides; neither at first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    #[serde(default)]
    a: String,
    #[serde(default)]
    b: String,
    /// Only rows of this finding.
    finding: Option<Verdict>,
}

/// The findings as they stand in an address.
const FINDINGS: [(Verdict, &str); 3] = [
    (Verdict::Different, "different"),
    (Verdict::SameWithinNoise, "same_within_noise"),
    (Verdict::CannotTell, "inconclusive"),
];

pub(crate) async fn compare(ask: Ask<Chosen>) -> PageResult {
    let response = ask.draw_whole(|index, app, chosen| {
        let newest = RunsParams { machine: None, offset: 0, limit: CHOICES };
        let (_, runs) = queries::runs(index, &newest)?;
        let Chosen { a, b, .. } = &chosen;
        let (status, result) = match a.is_empty() || b.is_empty() {
            true => (StatusCode::OK, html! {}),
            false => match queries::comparison(index, app, a, b) {
                Ok(comparison) => (StatusCode::OK, comparison_of(&comparison, &chosen)),
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
        // Without a comparison there is no picture, and nothing for a script to do.
        Ok(match status {
            StatusCode::OK => page_of_pictures("Compare", "/compare", &content),
            status => (status, page("Compare", "/compare", &content)).into_response(),
        })
    });
    response.await
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
                            (model::utc::readable_utc(run.started_unix_ms)) " "
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

fn comparison_of(c: &Comparison, chosen: &Chosen) -> Markup {
    let only = |rows: &[ComparedRow]| -> Vec<ComparedRow> {
        let is_chosen = |row: &&ComparedRow| chosen.finding.is_none_or(|of| row.finding == of);
        rows.iter().filter(is_chosen).cloned().collect()
    };
    let (rows, points) = (only(&c.rows), only(&c.points));
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
        (painted(&summary(c)))
        (painted(&footer(c, true)))
        @if rows.iter().any(|row| row.ratio.is_some()) {
            (painted(&[Block::chart(of_comparison(c, &rows))]))
        }
        h2 { "Rows" }
        (filter(c, chosen))
        @if rows.is_empty() { p.dim { "None." } } @else { (painted(&comparison_tables(&rows, Detail::Reasons))) }
        @if !points.is_empty() {
            h2 { "Points of curves and maps" }
            (folded(&format!("{} points", points.len()), &painted(&comparison_tables(&points, Detail::Reasons))))
        }
    }
}

/// The same comparison with the rows of one finding, or with all.
fn filter(c: &Comparison, chosen: &Chosen) -> Markup {
    let all = format!("/compare?a={}&b={}", in_query(&chosen.a), in_query(&chosen.b));
    let is_current = |finding| (chosen.finding == finding).then_some("true");
    html! {
        p.filter {
            a href=(all) aria-current=[is_current(None)] { "all " (c.rows.len()) }
            @for (finding, name) in FINDINGS {
                " " a href={ (all) "&finding=" (name) } aria-current=[is_current(Some(finding))] {
                    (finding.printed()) " " (c.count_findings(finding))
                }
            }
        }
    }
}
