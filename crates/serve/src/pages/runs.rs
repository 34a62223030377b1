//! Kept runs, of all machines or of one.

use super::words::{escaped, long, of_value, on, row_path, when};
use super::{Page, scrolling, shown};
use crate::app::App;
use crate::problem::Problem;
use crate::questions;
use crate::strict::{Asked, Named, Nothing, RunsAsked};
use crate::wire::{Run, Runs, Standing};
use axum::extract::State;
use maud::{Markup, html};

pub(crate) async fn page(State(app): State<App>, Asked(asked): Asked<RunsAsked>) -> Page {
    let asked = asked.checked()?;
    let machine = asked.machine.clone();
    let runs = app
        .ask(move |index, _| questions::runs(index, &asked))
        .await?;
    let content = html! {
        h1 { "Runs" }
        @if runs.total == 0 {
            p { "No run is kept" @if machine.is_some() { " of this machine" } "." }
        } @else {
            (table(&runs.runs, true))
            (pages(&runs, machine.as_deref()))
        }
    };
    shown("Runs", "/runs", &content)
}

pub(crate) async fn of_machine(
    State(app): State<App>,
    Named(key): Named,
    Asked(Nothing {}): Asked<Nothing>,
) -> Page {
    let asked = RunsAsked {
        machine: Some(key.clone()),
        offset: 0,
        limit: 100,
    };
    let machine = key.clone();
    let (runs, places) = app
        .ask(move |index, _| {
            let places = questions::standings(index, &machine)?;
            Ok((questions::runs(index, &asked)?, places))
        })
        .await?;
    let Some(newest) = runs.runs.first() else {
        return Err(Problem::not_found("no run of such a machine is kept").into());
    };
    let name = on(newest.host.as_deref(), &newest.machine_line);
    let content = html! {
        h1 { (name) }
        p.soft { (runs.total) @if runs.total == 1 { " run" } @else { " runs" } }
        (table(&runs.runs, false))
        (pages(&runs, Some(&key)))
        (among_all(&places))
    };
    shown(&name, "/", &content)
}

/// The machine's place in every row; points of curves are many.
fn among_all(places: &[Standing]) -> Markup {
    let single = || places.iter().filter(|place| place.at.is_empty());
    let table = html! {
        table {
            thead {
                tr {
                    th { "Row" } th.number { "Latest" } th.number { "Slower machines" }
                    th.number { "Figures" } th.number { "Machines" }
                }
            }
            tbody {
                @for place in single() {
                    tr {
                        th.whole scope="row" { a href=(row_path(&place.row, &[])) { (place.row) }
                            @if let Some(mode) = &place.mode { " (" (mode) ")" } }
                        td.number { (of_value(place.value, &place.unit)) }
                        td.number { (format!("{:.0}", place.percentile)) " %" }
                        td.number { (place.results) }
                        td.number { (place.machines) }
                    }
                }
            }
        }
    };
    html! {
        h2 { "Among all machines" }
        @if single().next().is_none() {
            p { "No kept run of it has a figure that is ok." }
        } @else {
            (scrolling("Among all machines", &table))
        }
    }
}

fn table(runs: &[Run], with_machine: bool) -> Markup {
    let table = html! {
        table {
            thead {
                tr {
                    th { "Began" }
                    @if with_machine { th { "Machine" } }
                    th.number { "Rows" } th.number { "Took" } th { "Program" } th { "Kernel" }
                    th { "Marks" }
                }
            }
            tbody {
                @for run in runs {
                    tr {
                        th.whole scope="row" { a href={ "/runs/" (run.id) } { (when(run.started_unix_ms)) } }
                        @if with_machine {
                            td.words { a href={ "/machines/" (run.machine) } { (on(run.host.as_deref(), &run.machine_line)) } }
                        }
                        td.number { (run.rows) }
                        td.number { (long(run.wall_ms)) }
                        td { (run.version) @if run.profile != "release" { " " (run.profile) } }
                        td { (run.kernel.as_deref().unwrap_or("unknown")) }
                        td { (marks(run)) }
                    }
                }
            }
        }
    };
    scrolling("Runs", &table)
}

/// What sets a run apart, in words.
pub(super) fn marks(run: &Run) -> Markup {
    html! {
        @for tag in &run.tags { span.tag { (tag) } " " }
        @if let Some(why) = &run.partial { span.bad { "partial: " (why) } " " }
        @if run.imported { span.soft { "imported" } " " }
        @if run.commands { span.soft { "commands" } }
    }
}

/// Ways to the newer and the older ones.
fn pages(runs: &Runs, machine: Option<&str>) -> Markup {
    let (offset, limit) = (runs.offset as usize, runs.limit as usize);
    let to = |offset: usize| {
        let machine = machine.map_or(String::new(), |key| format!("&machine={}", escaped(key)));
        format!("/runs?offset={offset}&limit={limit}{machine}")
    };
    let last = (offset + runs.runs.len()).min(runs.total);
    html! {
        @if runs.total > runs.runs.len() {
            p {
                @if runs.runs.is_empty() { "None of " (runs.total) " runs. " }
                @else { (offset + 1) " to " (last) " of " (runs.total) " runs. " }
                @if offset > 0 { a href=(to(offset.saturating_sub(limit))) { "Newer" } " " }
                @if last < runs.total { a href=(to(offset + limit)) { "Older" } }
            }
        }
    }
}
