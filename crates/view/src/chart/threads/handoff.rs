//! A semaphore handed from thread to thread: each placement, and each state that
//! it runs in where the scheduler chooses.

use super::super::bins::own_cell;
use super::super::curves::doubts;
use super::super::percentiles::{self, KnownPercentiles, MEDIAN};
use super::super::published::unjoined;
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Chart, ChartLine, Point, Section};
use compare::references::Reference;
use model::estimate::Estimate;
use model::run::{Cell, Run};
use model::story::histogram::values;
use model::story::tail::modes_with_intervals;
use model::unit::Unit;

/// Rows and their names in the legend.
const ROWS: [(&str, &str); 3] = [
    ("sync.semaphore_switch/same_cpu", "pinned to one CPU"),
    ("sync.semaphore_switch/other_cpu", "pinned to two CPUs"),
    ("sync.semaphore_switch/free", "free"),
];

pub(super) fn semaphore(source: &ChartSource) -> Drawn {
    let (mut notes, mut series, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (id, name) in ROWS {
        let estimate = source.run.row(id).and_then(|row| row.estimate());
        let Some((cell, estimate)) = own_cell(source.run, id).zip(estimate) else {
            continue;
        };
        match of_row(source.run, cell, estimate, name) {
            Err(why) => notes.push(format!("{id} is not drawn: {why}.")),
            Ok(lines) if lines.is_empty() => {}
            Ok(lines) => {
                series.extend(lines);
                rows.push(id.to_owned());
            }
        }
        let modes = modes_with_intervals(estimate, &Unit::Time);
        if !modes.is_empty() {
            notes.push(format!("{name}: {modes}."));
        }
    }
    if series.is_empty() {
        return Err(why_not(source.run, &ROWS.map(|(id, _)| id)));
    }
    series.extend(source.references.tables.iter().filter_map(published_median));
    notes.extend(doubts(&series));
    Ok(Picture {
        chart: Chart {
            id: "sync.semaphore_switch".into(),
            title: "Handing over by semaphore".into(),
            caption: "One thread posts, the other, which sleeps, runs: all hand-overs by \
                      percentile. Where the threads may use every CPU, each state is drawn apart: \
                      both on one CPU, or on two. Points: published figures of free threads, at the \
                      median."
                .into(),
            section: Section::Threads,
            body: percentiles::body("time of a hand-over", series),
            notes,
        },
        rows,
    })
}

/// A published figure, which says nothing of the other percentiles.
fn published_median(table: &Reference) -> Option<ChartLine> {
    let [.., (free, _)] = ROWS;
    let point = Point::bare(MEDIAN, table.comparable_ns(free)?);
    Some(unjoined(table.title.clone(), vec![point]))
}

/// A row's curve, or that of each of its modes.
fn of_row(
    run: &Run,
    cell: &Cell,
    estimate: &Estimate,
    name: &str,
) -> Result<Vec<ChartLine>, String> {
    let ns = values(cell, run.clock.ns_per_tick).map_err(|damage| damage.to_string())?;
    let whole = KnownPercentiles {
        median: estimate.ns().map(|ns| (ns, estimate.verdict)),
        tail: estimate.tail.as_ref(),
    };
    if estimate.modes.len() < 2 {
        return Ok(percentiles::percentile_line(name, &ns, whole).into_iter().collect());
    }
    let samples = cell.samples.samples().map_err(|damage| damage.to_string())?;
    let of_mode = |mode: &model::estimate::Mode| {
        let own = samples.iter().zip(&ns).filter(|(sample, _)| {
            cell.modes.get(usize::from(sample.evidence.mode)) == Some(&mode.name)
        });
        let own: Vec<f64> = own.map(|(_, ns)| *ns).collect();
        let known =
            KnownPercentiles { median: Some((mode.typical.ns, estimate.verdict)), tail: None };
        percentiles::percentile_line(format!("{name}: {}", mode.name), &own, known)
    };
    Ok(estimate.modes.iter().filter_map(of_mode).collect())
}
