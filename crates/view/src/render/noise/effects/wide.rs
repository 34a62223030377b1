//! Every figure that perf-book's appendix has of a control, on and off.

use model::figure::time;
use model::noise::effect::figures::RunMedians;
use model::noise::effect::{Effect, Effects};
use model::story::{Block, Cell, Table, left, right};

/// A line on and a line off for each control, job and load.
pub(super) fn on_off_lines(document: &Effects, effects: &[Effect]) -> Vec<Block> {
    if effects.is_empty() {
        return Vec::new();
    }
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
    let mut table = Table::new(["control", "job", "load", ""].map(left));
    table.columns.extend(headings.map(right));
    for effect in effects {
        for (state, figures) in [("on", &effect.on), ("off", &effect.off)] {
            let names = [&effect.control, effect.workload.name(), effect.load.name(), state];
            let names = names.map(str::to_owned).into_iter();
            table.row(names.chain(texts(figures)).map(Cell::from));
        }
    }
    let caption = "Medians of the runs, of migrations the mean. elapsed: from the making of the process until its \
         end was seen; CPUs: task clock over elapsed; voluntary, involuntary: context switches.";
    let missing = document.how.not_counted.iter().map(|not| {
        let label = format!("{}: not available here: ", not.what);
        Block::labelled(label, not.reason.as_str())
    });
    let caption = Block::text(caption);
    let table = Block::Table(table.wide());
    let heading = Block::Heading("Medians with and without each control".into());
    [heading, caption, table].into_iter().chain(missing).collect()
}

fn texts(figures: &RunMedians) -> [String; 11] {
    let of_time = |ns: Option<f64>| ns.map_or("-".into(), time);
    let number = |value: Option<f64>, places: usize| {
        value.map_or("-".into(), |value| format!("{value:.places$}"))
    };
    [
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
