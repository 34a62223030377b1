//! Lists: machines, runs, rows, and the page of a machine.

use super::html::{
    duration, in_query, link, machine_link, machine_name, row_link, run_link, table, text, value,
    when,
};
use super::{Page, page};
use crate::app::App;
use crate::params::{Name, NoParams, Params, RunsParams};
use crate::problem::Problem;
use crate::queries;
use crate::wire::Row;
use axum::extract::State;
use axum::response::IntoResponse;
use maud::{Markup, html};
use model::summary::{KeptRun, Machine};
use store::index::Percentile;

pub(crate) async fn machines(State(app): State<App>, _: Params<NoParams>) -> Page {
    let machines = app.query(|index, _| Ok(index.machines()?)).await?;
    let content = match machines.is_empty() {
        true => html! {
            p { "No stored runs. Store one with " code { "latlas run" } " or " (link("/upload", "upload")) " one." }
        },
        false => table::<Machine>(
            "Machines",
            &machines,
            &[
                ("Machine", "words", &|m| {
                    machine_link(&m.key.0, m.host.as_deref(), &m.line)
                }),
                ("Runs", "number", &|m| text(m.runs)),
                ("Newest", "whole", &|m| text(when(m.newest_unix_ms))),
            ],
        ),
    };
    Ok(page("Machines", "/", &content).into_response())
}

pub(crate) async fn runs(State(app): State<App>, Params(params): Params<RunsParams>) -> Page {
    let content = app.query(move |index, _| {
        let (total, runs) = queries::runs(index, &params)?;
        Ok(match total {
            0 => html! { p { "No stored runs." } },
            _ => html! { (runs_table(&runs, true)) (paging(total, runs.len(), &params)) },
        })
    });
    let content = content.await?;
    Ok(page("Runs", "/runs", &content).into_response())
}

pub(crate) async fn machine(State(app): State<App>, Name(key): Name, _: Params<NoParams>) -> Page {
    let params = RunsParams {
        machine: Some(key.clone()),
        offset: 0,
        limit: RunsParams::default_limit(),
    };
    let (name, content) = app
        .query(move |index, _| {
            let percentiles = queries::machine_percentiles(index, &key)?;
            let (total, runs) = queries::runs(index, &params)?;
            let newest = runs.first().ok_or(Problem::NoMachine)?;
            let name = machine_name(newest.host.as_deref(), &newest.machine_line);
            let content = html! {
                p.soft { (total) @if total == 1 { " run" } @else { " runs" } }
                (runs_table(&runs, false))
                (paging(total, runs.len(), &params))
                (among_machines(&percentiles))
            };
            Ok((name, content))
        })
        .await?;
    Ok(page(&name, "/", &content).into_response())
}

pub(crate) async fn rows(State(app): State<App>, _: Params<NoParams>) -> Page {
    let rows = app.query(|index, _| queries::rows(index)).await?;
    let content = match rows.is_empty() {
        true => html! { p { "No stored runs." } },
        false => table::<Row>(
            "Rows",
            &rows,
            &[
                ("Row", "whole", &|row| row_link(&row.row, &[])),
                (
                    "Points",
                    "number",
                    &|row| html! { @if row.points > 0 { (row.points) } },
                ),
            ],
        ),
    };
    Ok(page("Rows", "/rows", &content).into_response())
}

fn runs_table(runs: &[KeptRun], with_machine: bool) -> Markup {
    let mut columns: Vec<super::html::Column<KeptRun>> = vec![
        ("Started", "whole", &run_link),
        ("Machine", "words", &|run| {
            machine_link(&run.machine.0, run.host.as_deref(), &run.machine_line)
        }),
        ("Rows", "number", &|run| text(run.rows)),
        ("Duration", "number", &|run| text(duration(run.wall_ms))),
        ("Program", "", &|run| {
            html! {
                (run.setup.version) @if run.setup.profile != "release" { " " (run.setup.profile) }
            }
        }),
        ("Kernel", "", &|run| {
            text(run.setup.kernel.as_deref().unwrap_or("unknown"))
        }),
        ("Marks", "", &marks),
    ];
    if !with_machine {
        columns.remove(1);
    }
    table("Runs", runs, &columns)
}

/// Tags, and what makes a run unlike others.
pub(super) fn marks(run: &KeptRun) -> Markup {
    html! {
        @for tag in &run.tags { span.tag { (tag) } " " }
        @if let Some(why) = &run.partial { span.bad { "partial: " (why) } " " }
        @if run.imported { span.soft { "imported" } " " }
        @if run.commands { span.soft { "commands" } }
    }
}

fn paging(total: usize, shown: usize, params: &RunsParams) -> Markup {
    let (offset, limit) = (params.offset as usize, params.limit as usize);
    let machine = params.machine.iter();
    let machine: String = machine
        .map(|key| format!("&machine={}", in_query(key)))
        .collect();
    let to = |offset: usize| format!("/runs?offset={offset}&limit={limit}{machine}");
    let last = (offset + shown).min(total);
    html! {
        @if total > shown {
            p {
                @if shown == 0 { "None of " (total) " runs. " }
                @else { (offset + 1) " to " (last) " of " (total) " runs. " }
                @if offset > 0 { (link(to(offset.saturating_sub(limit)), "Newer")) " " }
                @if last < total { (link(to(offset + limit), "Older")) }
            }
        }
    }
}

/// The machine's percentile for every single figure; points of curves are many.
fn among_machines(percentiles: &[Percentile]) -> Markup {
    let single: Vec<&Percentile> = percentiles.iter().filter(|p| p.at.is_empty()).collect();
    html! {
        h2 { "Among all machines" }
        @if single.is_empty() {
            p { "No run of this machine has a figure that is ok." }
        } @else {
            (table::<Percentile>("Among all machines", single, &[
                ("Row", "whole", &|p| html! {
                    (row_link(&p.row, &[])) @if let Some(mode) = &p.mode { " (" (mode) ")" }
                }),
                ("Latest", "number", &|p| value(p.value, &p.unit)),
                ("Slower machines", "number", &|p| text(format!("{:.0} %", p.percentile))),
                ("Figures", "number", &|p| text(p.results)),
                ("Machines", "number", &|p| text(p.machines)),
            ]))
        }
    }
}
