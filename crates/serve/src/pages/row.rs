//! A row over all machines, and on each of them over time.

use super::words::{
    of_value, on, point as point_text, row_path, shown as figure_of, verdict, when,
};
use super::{Page, scrolling, shown, sparkline};
use crate::app::App;
use crate::questions;
use crate::strict::{Asked, RowAsked, point};
use crate::wire::Percentiles;
use atlas::history::Level;
use atlas::index::{KeptResult, KeptRun, Machine};
use atlas::render::sentence;
use axum::extract::State;
use maud::{Markup, html};

/// Machines whose history is drawn.
const DRAWN: usize = 20;
/// Figures of a history that are also written out.
const WRITTEN: usize = 20;

struct OnMachine {
    machine: Machine,
    history: Vec<(KeptRun, KeptResult)>,
    /// When the level changed, ms since 1970 UTC.
    changes: Vec<u64>,
    /// What the test says.
    said: String,
}

impl OnMachine {
    fn of(machine: Machine, history: Vec<(KeptRun, KeptResult)>) -> Option<OnMachine> {
        let past = questions::past(machine.clone(), &history)?;
        let began = |level: &Level| past.runs[level.first].run.started_unix_ms;
        Some(OnMachine {
            machine,
            changes: past.levels.iter().skip(1).map(began).collect(),
            said: sentence(&past),
            history,
        })
    }
}

pub(crate) async fn page(State(app): State<App>, Asked(asked): Asked<RowAsked>) -> Page {
    let at = point(asked.at.as_deref())?;
    let name = match at.is_empty() {
        true => asked.row.clone(),
        false => format!("{} at {}", asked.row, point_text(&at)),
    };
    let content = app
        .ask(move |index, _| {
            let row = &asked.row;
            let points = match at.is_empty() {
                true => questions::points(index, row)?,
                false => Vec::new(),
            };
            let percentiles = match questions::percentiles(index, row, &at) {
                Ok(percentiles) => Some(percentiles),
                Err(problem) if problem.status == axum::http::StatusCode::NOT_FOUND => None,
                Err(problem) => return Err(problem),
            };
            // Those with a figure that counts first.
            let counts = |key: &str| {
                let mut counted = percentiles.iter().flat_map(|p| &p.machines);
                counted.any(|place| place.machine == key)
            };
            let mut machines = index.machines()?;
            machines.sort_by_key(|machine| !counts(&machine.key.0));
            let mut on_machines = Vec::new();
            for machine in machines {
                if on_machines.len() == DRAWN {
                    break;
                }
                let history = index.history(&machine.key, row, &at)?;
                on_machines.extend(OnMachine::of(machine, history));
            }
            let counted = percentiles.as_ref().map_or(0, |p| p.machines.len());
            let left_out = counted.saturating_sub(DRAWN);
            if percentiles.is_none() && points.is_empty() {
                return Err(questions::no_such_row());
            }
            Ok(html! {
                h1 { (row) @if !at.is_empty() { " at " (point_text(&at)) } }
                @if let Some(percentiles) = &percentiles { (over_machines(percentiles)) }
                @for one in &on_machines { (over_time(one)) }
                @if left_out > 0 {
                    p.soft { (left_out) " more machines of the table above are not drawn here." }
                }
                @if !points.is_empty() { (all_points(row, &points)) }
            })
        })
        .await?;
    shown(&name, "/rows", &content)
}

fn over_machines(p: &Percentiles) -> Markup {
    let places = html! {
        table {
            thead {
                tr {
                    th { "Machine" } th.number { "Latest" } th.number { "Slower machines" }
                    th.number { "Figures" }
                }
            }
            tbody {
                @for place in &p.machines {
                    tr {
                        th.words scope="row" { a href={ "/machines/" (place.machine) } { (on(place.host.as_deref(), &place.line)) } }
                        td.number { (of_value(place.value, &p.unit)) }
                        td.number { (format!("{:.0}", place.percentile)) " %" }
                        td.number { (place.results) }
                    }
                }
            }
        }
    };
    let quantiles = html! {
        table {
            thead { tr { @for q in &p.quantiles { th.number scope="col" { (named(q.percent)) } } } }
            tbody { tr { @for q in &p.quantiles { td.number { (of_value(q.value, &p.unit)) } } } }
        }
    };
    html! {
        h2 { "All machines" @if let Some(mode) = &p.mode { ", " (mode) } }
        @if p.machines.is_empty() {
            p { "No kept run has a figure of it that is ok." }
        } @else {
            (scrolling("Percentiles", &quantiles))
            p.soft {
                "Percentiles over " (p.machines.len())
                @if p.machines.len() == 1 { " machine" } @else { " machines" }
                ", each by its latest figure that is ok: the fastest first."
            }
            (scrolling("Machines", &places))
        }
    }
}

fn named(percent: u32) -> String {
    match percent {
        0 => "first".into(),
        50 => "median".into(),
        100 => "last".into(),
        percent => format!("{percent} %"),
    }
}

fn over_time(one: &OnMachine) -> Markup {
    let newest = one.history.iter().rev().take(WRITTEN);
    // Where both kinds are in one list each typical one says so.
    let quiet = |(_, result): &&(KeptRun, KeptResult)| result.quiet;
    let mixed = one.history.iter().any(|one| quiet(&one));
    let table = html! {
        table {
            thead { tr { th { "Began" } th.number { "Value" } th { "95 %" } th { "Verdict" } } }
            tbody {
                @for (run, result) in newest {
                    @let text = figure_of(result);
                    tr {
                        th.whole scope="row" { a href={ "/runs/" (run.id) } { (when(run.started_unix_ms)) } }
                        td.number { (text.value) }
                        td.half { (text.half) }
                        td.words {
                            @if mixed && !result.quiet && result.value.is_some() {
                                span.soft { "typical, not quiet: " }
                            }
                            @if let Some(mode) = &result.mode { span.soft { (mode) ": " } }
                            (verdict(result.verdict, &result.reason))
                        }
                    }
                }
            }
        }
    };
    html! {
        h2 { "On " (on(one.machine.host.as_deref(), &one.machine.line)) }
        (sparkline::sparkline(&one.history, &one.changes))
        p { (one.said) }
        (scrolling("Figures over time", &table))
        @if one.history.len() > WRITTEN {
            p.soft { "The newest " (WRITTEN) " of " (one.history.len()) " figures." }
        }
    }
}

fn all_points(row: &str, points: &[Vec<u64>]) -> Markup {
    html! {
        h2 { "Points" }
        ul.points {
            @for at in points { li { a href=(row_path(row, at)) { (point_text(at)) } } }
        }
    }
}
