//! What recordings say. This is the only place of the pages that knows their kinds.

use super::noise::effects::effects;
use super::noise::osnoise::osnoise;
use super::{
    Options, TraceOptions, cpu_history, footer, header, joined, judged_page, qos, selftest, trace,
};
use crate::chart::{Chart, MOST_THREADS, of_judgment, of_trace};
use compare::judged::Judgment;
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
            qos::qos(of, kinds.get().is_none().then(reason), options.pictures)
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
            vec![trace::trace_page(of, options)]
        }
        Recording::Judged(of) => {
            let judgment = Judgment::from_run(run);
            let page = |judgment: &Judgment| {
                let chart = options.pictures.then(|| of_judgment(judgment)).flatten();
                let chart = chart.map(Block::chart).into_iter();
                judged_page(judgment, of, run).into_iter().chain(chart).collect()
            };
            judgment.iter().map(page).collect()
        }
    }
}

/// The page of a run that was made to hold a recording.
pub(super) fn recording_page(run: &Run, references: &References, options: &Options) -> Vec<Block> {
    let mut parts = vec![header::short(run)];
    parts.extend(run.recordings.iter().flat_map(|of| story(run, of, references, options)));
    parts.push(footer::kept_note(run, options).into_iter().collect());
    joined(parts)
}

/// The stories of all recordings of a run, with pictures of what their tables say, too.
pub(crate) fn stories_of(
    run: &Run,
    references: &References,
    options: &Options,
) -> Vec<(&'static str, Vec<Block>)> {
    let options = Options { pictures: true, ..options.clone() };
    let places = 0..run.recordings.len();
    let named =
        |place: usize| (run.recordings[place].name(), blocks_of(run, place, references, &options));
    places.map(named).collect()
}

/// The story of one. Pictures of several recordings of a kind are told apart by the numbers of these.
fn blocks_of(run: &Run, place: usize, references: &References, options: &Options) -> Vec<Block> {
    let blocks = story(run, &run.recordings[place], references, options).into_iter().flatten();
    let blocks = blocks.map(|block| match block {
        Block::Chart(chart) => Block::chart(numbered(run, place, *chart)),
        block => block,
    });
    blocks.collect()
}

fn numbered(run: &Run, place: usize, chart: Chart) -> Chart {
    let name = run.recordings[place].name();
    match run.recordings[..place].iter().filter(|other| other.name() == name).count() {
        0 => chart,
        before => Chart { id: format!("{}.{}", chart.id, before + 1), ..chart },
    }
}

/// Pictures in the stories of a run.
pub(crate) fn charts_of_stories(run: &Run, references: &References) -> Vec<Chart> {
    // These have no picture in their stories, and some take long to tell.
    let has_none = |recording: &Recording| {
        matches!(recording, Recording::Sets(_) | Recording::Trace(_) | Recording::Judged(_))
    };
    let options = Options { pictures: true, ..Options::default() };
    let places = (0..run.recordings.len()).filter(|place| !has_none(&run.recordings[*place]));
    let blocks = places.flat_map(|place| blocks_of(run, place, references, &options));
    let charts = blocks.filter_map(|block| match block {
        Block::Chart(chart) => Some(*chart),
        _ => None,
    });
    charts.collect()
}

/// All pictures of recordings: those in stories, and of what stories say in letters or tables.
pub(crate) fn charts(run: &Run, references: &References) -> Vec<Chart> {
    let others = run.recordings.iter().enumerate().filter_map(|(place, recording)| {
        let chart = of_trace(recording.trace()?, None, MOST_THREADS);
        Some(numbered(run, place, chart))
    });
    charts_of_stories(run, references).into_iter().chain(others).collect()
}
