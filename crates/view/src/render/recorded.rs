//! What recordings say. This is the only place of the pages that knows their kinds.

use super::noise::effects::effects;
use super::noise::osnoise::osnoise;
use super::{Options, TraceOptions, cpu_history, footer, header, joined, qos, selftest, trace};
use crate::chart::{Chart, MOST_THREADS, of_trace};
use compare::references::References;
use compare::selftest::selftest as judged;
use model::recording::Recording;
use model::run::Run;
use model::story::Block;

/// Columns of the threads over time.
const COLUMNS: usize = 80;

/// The story of one, in parts.
pub(crate) fn story(
    run: &Run,
    recording: &Recording,
    references: &References,
    options: &Options,
) -> Vec<Vec<Block>> {
    match recording {
        Recording::Interruptions(of) => osnoise(&of.cpus),
        Recording::CpuHistory(history) => vec![cpu_history::cpu_history(history)],
        Recording::Effects(of) => effects(of, references, options.wide),
        Recording::Qos(of) => {
            let kinds = &run.machine.core_kinds;
            let reason = || kinds.unknown.as_deref().unwrap_or("no reason");
            qos::qos(of, kinds.get().is_none().then(reason))
        }
        Recording::Knobs(of) => vec![qos::knobs(of)],
        Recording::Sets(of) => {
            let sets: Vec<_> = of.sets.iter().map(|set| (set.arm, set.run.clone())).collect();
            vec![match judged(&sets, of.margin) {
                Ok(test) => selftest::selftest(&test),
                Err(why) => vec![Block::text(why.to_string())],
            }]
        }
        Recording::Trace(of) => {
            let options = TraceOptions { all: options.wide, columns: COLUMNS, stretch: None };
            vec![trace::trace(of, options)]
        }
    }
}

/// The page of a run that was made to hold a recording.
pub(super) fn page(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let mut parts = vec![header::short(run)];
    parts.extend(run.recordings.iter().flat_map(|of| story(run, of, references, options)));
    parts.push(footer::kept(run, options).into_iter().collect());
    joined(parts)
}

/// Pictures in the stories of a run.
pub(crate) fn charts(run: &Run, references: &References) -> Vec<Chart> {
    let options = Options::default();
    // These two have no picture in their stories.
    let drawn = |of: &&Recording| !matches!(of, Recording::Sets(_) | Recording::Trace(_));
    let stories =
        run.recordings.iter().filter(drawn).flat_map(|of| story(run, of, references, &options));
    let charts = stories.flatten().filter_map(|block| match block {
        Block::Chart(chart) => Some(*chart),
        _ => None,
    });
    // The story draws it in letters.
    let traces = run.recordings.iter().filter_map(Recording::trace);
    let charts = charts.chain(traces.map(|trace| of_trace(trace, None, MOST_THREADS)));
    // Several of a kind are told apart by their numbers.
    let named = |(number, chart): (usize, Chart)| match number {
        1 => chart,
        number => Chart { id: format!("{}.{number}", chart.id), ..chart },
    };
    (1..).zip(charts).map(named).collect()
}
