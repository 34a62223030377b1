//! How long a woken thread waits: the distribution on the idle machine beside
//! the loaded one.

use super::super::bins::own_cell;
use super::super::curves::doubts;
use super::super::percentiles::{self, KnownPercentiles};
use super::super::source::{ChartSource, Drawn, Picture, why_not};
use super::super::{Chart, Section};
use model::story::histogram::values;
use model::story::tail;
use model::story::wakeup::ROWS;

pub(super) fn wakeup(source: &ChartSource) -> Drawn {
    let (mut notes, mut series, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for id in ROWS {
        let Some(cell) = own_cell(source.run, id) else {
            continue;
        };
        let name = id.rsplit('/').next().unwrap_or(id);
        let estimate = source.run.row(id).and_then(|row| row.estimate());
        let tail = estimate.and_then(|estimate| estimate.tail.as_ref());
        match values(cell, source.run.clock.ns_per_tick) {
            Err(why) => notes.push(format!("{id} is not drawn: {why}.")),
            Ok(ns) => {
                let median = estimate.and_then(|e| Some((e.ns()?, e.verdict)));
                let Some(line) =
                    percentiles::percentile_line(name, &ns, KnownPercentiles { median, tail })
                else {
                    continue;
                };
                series.push(line);
                rows.push(id.to_owned());
            }
        }
        notes.extend(tail.map(|tail| format!("{name}: {}.", tail::tail_text(tail))));
    }
    if series.is_empty() {
        return Err(why_not(source.run, &ROWS));
    }
    notes.extend(doubts(&series));
    Ok(Picture {
        chart: Chart {
            id: "sched.wakeup".into(),
            title: "From a wake to running".into(),
            caption: "All wake-ups by percentile, on the idle machine and with every CPU busy: at \
                      99, one of 100 took at least as long; the last point is the longest."
                .into(),
            section: Section::Threads,
            body: percentiles::body("from the wake to running", series),
            notes,
        },
        rows,
    })
}
