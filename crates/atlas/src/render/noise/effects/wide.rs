//! Every figure that perf-book's appendix has of a control, on and off.

use crate::render::COLUMNS;
use crate::render::layout::{Entry, Grid, left, right, wrap};
use model::figure::time;
use model::noise::effect::Effects;
use model::noise::effect::figures::Figures;

/// A line on and a line off for each control, job and load.
pub(super) fn figures(document: &Effects) -> String {
    if document.effects.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    let headings = [
        "work",
        "elapsed",
        "task clock",
        "CPUs",
        "voluntary",
        "involuntary",
        "migrations",
        "cycles",
        "GHz",
        "late p50",
        "late p99",
    ];
    let mut line = vec![left("control"), left("job"), left("load"), left("")];
    line.extend(headings.map(right));
    grid.entries(line);
    for effect in &document.effects {
        for (state, figures) in [("on", &effect.on), ("off", &effect.off)] {
            let mut line = vec![
                left(effect.control.clone()),
                left(effect.workload.name()),
                left(effect.load.name()),
                left(state),
            ];
            line.extend(entries(figures));
            grid.entries(line);
        }
    }
    let mut text = String::from(
        "Medians of the runs, of migrations the mean. elapsed: from the making of the process until its \
         end was seen; CPUs: task clock over elapsed; voluntary, involuntary: context switches.\n",
    );
    text += &grid.render(2);
    for not in &document.how.not_counted {
        let lead = format!("{}: not available here: ", not.what);
        text += &(wrap(&lead, &not.reason, COLUMNS).join("\n") + "\n");
    }
    text
}

fn entries(figures: &Figures) -> Vec<Entry> {
    let of_time = |ns: Option<f64>| right(ns.map_or("-".into(), time));
    let number = |value: Option<f64>, places: usize| {
        right(value.map_or("-".into(), |value| format!("{value:.places$}")))
    };
    vec![
        of_time(figures.took_ns),
        of_time(figures.wall_ns),
        of_time(figures.task_clock_ns),
        number(figures.cpus_utilized, 2),
        number(figures.voluntary, 0),
        number(figures.involuntary, 0),
        number(figures.mean_migrations, 2),
        number(figures.cycles, 0),
        number(figures.ghz, 2),
        of_time(figures.late_p50_ns),
        of_time(figures.late_p99_ns),
    ]
}
