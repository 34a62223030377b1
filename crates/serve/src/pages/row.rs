//! A row over all machines, and on each of them over time.

use super::html::{
    figure, link, machine_link, machine_name, point, row_name, row_path, run_link, table, text,
    value, verdict,
};
use super::{Page, page};
use crate::app::App;
use crate::params::{Params, RowParams};
use crate::problem::Problem;
use crate::queries::{self, RowOverMachines};
use axum::extract::State;
use axum::response::IntoResponse;
use compare::history::History;
use maud::{Markup, PreEscaped, html};
use model::summary::{KeptResult, KeptRun};
use store::index::MachineStanding;
use view::chart::{Chart, history::chart, svg};

/// Machines whose history is shown.
const MACHINES: usize = 20;
/// Newest figures of a history that are listed.
const LISTED: usize = 20;

pub(crate) async fn row(State(app): State<App>, Params(params): Params<RowParams>) -> Page {
    let title = row_name(&params.row, &params.at.0);
    let content = app.query(move |index, _| {
        let (row, at) = (&params.row, &params.at.0);
        let points = match at.is_empty() {
            true => queries::points(index, row)?,
            false => Vec::new(),
        };
        let over_machines = match queries::over_machines(index, row, at) {
            Ok(over_machines) => Some(over_machines),
            Err(Problem::NoRow) if !points.is_empty() => None,
            Err(problem) => return Err(problem),
        };
        // Machines with a figure that counts first.
        let counted = over_machines.iter().flat_map(|all| &all.standing.machines);
        let counted: Vec<_> = counted.map(|machine| &machine.machine).collect();
        let mut machines = index.machines()?;
        machines.sort_by_key(|machine| !counted.contains(&&machine.key));
        let mut histories = Vec::new();
        for machine in machines {
            if histories.len() == MACHINES {
                break;
            }
            histories.extend(queries::history(index, machine, row, at)?);
        }
        let not_shown = counted.len().saturating_sub(MACHINES);
        Ok(html! {
            @if let Some(all) = &over_machines { (among_machines(all)) }
            @for (figures, history) in &histories { (over_time(figures, history)) }
            @if not_shown > 0 {
                p.soft { (not_shown) " more machines of the table above are not shown here." }
            }
            @if !points.is_empty() {
                h2 { "Points" }
                ul.points { @for at in &points { li { (link(row_path(row, at), point(at))) } } }
            }
        })
    });
    Ok(page(&title, "/rows", &content.await?).into_response())
}

fn among_machines(all: &RowOverMachines) -> Markup {
    let standing = &all.standing;
    let count = standing.machines.len();
    let quantile = |percent: u32| match percent {
        0 => "minimum".into(),
        50 => "median".into(),
        100 => "maximum".into(),
        percent => format!("{percent} %"),
    };
    html! {
        h2 { "All machines" @if let Some(mode) = &standing.mode { ", " (mode) } }
        @if count == 0 {
            p { "No stored run has a figure of it that is ok." }
        } @else {
            dl.quantiles {
                @for q in &standing.quantiles { dt { (quantile(q.percent)) } dd { (value(q.value, &all.unit)) } }
            }
            p.soft {
                "Percentiles over " (count) @if count == 1 { " machine" } @else { " machines" }
                ", each by its latest figure that is ok; the fastest first."
            }
            (table::<MachineStanding>("Machines", &standing.machines, &[
                ("Machine", "words", &|m| {
                    let (host, line) = all.name_of(&m.machine);
                    machine_link(&m.machine.0, host, line)
                }),
                ("Latest", "number", &|m| value(m.value, &all.unit)),
                ("Slower machines", "number", &|m| text(format!("{:.0} %", m.percentile))),
                ("Figures", "number", &|m| text(m.results)),
            ]))
        }
    }
}

fn over_time(figures: &[(KeptRun, KeptResult)], history: &History) -> Markup {
    let machine = &history.machine;
    // Where both kinds are in one list each typical one says so.
    let mixed = figures.iter().any(|(_, result)| result.quiet);
    let drawn = history.runs.iter().filter(|entry| entry.figure.is_some());
    let picture = Chart {
        caption: String::new(),
        ..chart(history)
    };
    html! {
        h2 { "On " (machine_name(machine.host.as_deref(), &machine.line)) }
        @if drawn.count() > 1 {
            @for (class, theme) in [("light", svg::Theme::Light), ("dark", svg::Theme::Dark)] {
                div class={ "picture " (class) } { (PreEscaped(svg::draw(&picture, theme))) }
            }
        }
        p { (history.conclusion()) }
        (table::<(KeptRun, KeptResult)>("Figures over time", figures.iter().rev().take(LISTED), &[
            ("Started", "whole", &|(run, _)| run_link(run)),
            ("Value", "number", &|(_, result)| text(figure(result).0)),
            ("95 %", "half", &|(_, result)| text(figure(result).1)),
            ("Verdict", "words", &|(_, result)| html! {
                @if mixed && !result.quiet && result.value.is_some() {
                    span.soft { "typical, not quiet: " }
                }
                @if let Some(mode) = &result.mode { span.soft { (mode) ": " } }
                (verdict(result))
            }),
        ]))
        @if figures.len() > LISTED {
            p.soft { "The newest " (LISTED) " of " (figures.len()) " figures." }
        }
    }
}
