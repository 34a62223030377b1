//! Lists: machines, runs, rows, and the page of a machine.

use super::place::{folded, in_query, link, painted};
use super::{PageResult, page, page_of_pictures};
use crate::app::App;
use crate::params::{Ask, Name, RunsParams};
use crate::problem::Problem;
use crate::queries;
use crate::wire::Row;
use axum::response::IntoResponse;
use maud::{Markup, html};
use model::phrases::counted;
use model::story::{Block, Cell, Link, Table, left, right};
use model::summary::KeptRun;
use store::index::{Index, Percentile};
use view::chart::one;
use view::render::stored;
use view::report::histories;

/// Pictures of a machine's newest run.
const SHOWN: [&str; 2] = ["overview", "memory.latency"];

pub(crate) async fn machines(ask: Ask) -> PageResult {
    let queried =
        ask.query(|index, _, _| Ok((index.machines()?, queries::newest_runs(index)?))).await?;
    let (machines, newest) = queried;
    let content = match machines.is_empty() {
        true => html! {
            p { "No stored runs. Store one with " code { "latlas run" } " or " (link("/upload", "upload")) " one." }
        },
        false => painted(&[Block::Table(stored::machines(&machines, &newest))]),
    };
    Ok(page("Machines", "/", &content).into_response())
}

pub(crate) async fn runs(ask: Ask<RunsParams>) -> PageResult {
    let content = ask.query(|index, _, params| {
        let (total, runs) = queries::runs(index, &params)?;
        Ok(match total {
            0 => html! { p { "No stored runs." } },
            _ => {
                let tallies = queries::tallies(index, &runs)?;
                html! {
                    (painted(&[Block::Table(stored::runs_table(&runs, &tallies))]))
                    (paging(total, runs.len(), &params))
                }
            }
        })
    });
    let content = content.await?;
    Ok(page("Runs", "/runs", &content).into_response())
}

pub(crate) async fn machine(Name(key): Name, ask: Ask) -> PageResult {
    let params =
        RunsParams { machine: Some(key.clone()), offset: 0, limit: RunsParams::default_limit() };
    let (name, content) = ask
        .draw_whole(move |index, app, _| {
            let percentiles = queries::machine_percentiles(index, &key)?;
            let (total, runs) = queries::runs(index, &params)?;
            let newest = runs.first().ok_or(Problem::NoMachine)?;
            let name = newest.host.clone().unwrap_or_else(|| key.clone());
            let tallies = queries::tallies(index, &runs)?;
            let (shown, over_time) = pictures_of(index, app, newest)?;
            let content = html! {
                (painted(&[
                    Block::text(newest.machine_line.as_str()),
                    Block::Heading("Runs".into()),
                    Block::Table(stored::runs_table(&runs, &tallies)),
                ]))
                (paging(total, runs.len(), &params))
                (painted(&shown))
                @if !over_time.is_empty() {
                    h2 { "Over time" }
                    (folded(&counted(over_time.len(), "row"), &painted(&over_time)))
                }
                (painted(&[Block::Heading("Among all machines".into()), among(&percentiles)]))
            };
            Ok((name, content))
        })
        .await?;
    Ok(page_of_pictures(&name, "/", &content))
}

/// Where the machine stands in each row.
fn among(percentiles: &[Percentile]) -> Block {
    // Points of curves are many, and a machine is none among itself.
    let single = percentiles.iter().filter(|of| of.at.is_empty());
    let (alone, compared): (Vec<&Percentile>, Vec<&Percentile>) =
        single.partition(|of| of.machines < 2);
    match (alone.len(), compared.is_empty()) {
        (0, true) => Block::text("No run of this machine has a figure that is ok."),
        (_, true) => Block::text("1 machine: no percentiles."),
        _ => {
            let compared: Vec<Percentile> = compared.into_iter().cloned().collect();
            let mut table = stored::percentiles(&compared, false);
            if !alone.is_empty() {
                let rows = counted(alone.len(), "row");
                table.note("", format!("{rows} of this machine only: no percentiles"));
            }
            Block::Table(table)
        }
    }
}

/// Pictures of a machine that are worth their room: its newest run's overview
/// and memory; and rows over time.
fn pictures_of(
    index: &Index,
    app: &App,
    newest: &KeptRun,
) -> Result<(Vec<Block>, Vec<Block>), Problem> {
    let run = store::read_run(&newest.path)?;
    let shown = |id: &&str| one(&run, app.references(), id);
    let of_run = SHOWN.iter().filter_map(shown);
    let over_time = histories(index, &run)?;
    let over_time = over_time.into_iter().map(|picture| picture.chart);
    Ok((of_run.map(Block::chart).collect(), over_time.map(Block::chart).collect()))
}

pub(crate) async fn rows(ask: Ask) -> PageResult {
    let (rows, newest) = ask.query(|index, app, _| queries::rows(index, app)).await?;
    let content = match &newest {
        None => html! { p { "No stored runs." } },
        Some(machine) => painted(&[Block::Table(rows_table(&rows, machine.display_name()))]),
    };
    Ok(page("Rows", "/rows", &content).into_response())
}

fn rows_table(rows: &[Row], machine: &str) -> Table {
    let mut table = Table::new([
        left("row"),
        right(format!("latest on {machine}")),
        right("points"),
        left("title"),
    ]);
    for row in rows {
        let name =
            Cell::from(row.row.as_str()).to(Link::Row { id: row.row.clone(), at: Vec::new() });
        let value = row.value_ns.zip(row.unit);
        let value = value.map(|(value, unit)| model::figure::value_text(&unit, unit.of_ns(value)));
        let points = match row.points {
            0 => String::new(),
            points => points.to_string(),
        };
        table.row([
            name,
            value.unwrap_or_default().into(),
            points.into(),
            row.title.as_deref().unwrap_or("").into(),
        ]);
    }
    table
}

fn paging(total: usize, shown: usize, params: &RunsParams) -> Markup {
    let (offset, limit) = (params.offset as usize, params.limit as usize);
    let machine = params.machine.iter();
    let machine: String = machine.map(|key| format!("&machine={}", in_query(key))).collect();
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
