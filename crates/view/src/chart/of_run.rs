//! Every picture of a run.

use super::maker::Maker;
use super::source::{ChartSource, OtherRun, Picture};
use super::{Body, Chart, comparison, files, ladder, memory, noise, place, tables, threads};
use crate::render::recorded;
use compare::references::References;
use model::run::Run;
use model::story::Row;

/// A picture that can't be drawn of a run.
#[derive(serde::Serialize, Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The picture.
    pub id: String,
    pub why: String,
}

/// Every picture that has something to show, in the order of a report. The
/// other runs and the published tables stand beside the run.
pub fn of_run(run: &Run, references: &References, others: &[OtherRun]) -> Vec<Chart> {
    let (pictures, _) = pictures(run, references, others);
    pictures.into_iter().map(|picture| picture.chart).collect()
}

/// One of them, drawn alone; `None` where it has nothing to show.
pub fn one(run: &Run, references: &References, id: &str) -> Option<Chart> {
    let source = ChartSource::alone(run, references);
    let maker = makers().find(|maker| maker.id() == id)?;
    Some(maker.draw(&source).ok()?.chart)
}

/// The same with the rows that each shows, and what was left out.
pub fn pictures(
    run: &Run,
    references: &References,
    others: &[OtherRun],
) -> (Vec<Picture>, Vec<LeftOut>) {
    let source = ChartSource {
        others: others.iter().map(|o| (o.name.clone(), o.run)).collect(),
        ..ChartSource::alone(run, references)
    };
    let (mut drawn, mut left_out) = (Vec::new(), Vec::new());
    for maker in makers() {
        match maker.draw(&source).and_then(several_values) {
            Ok(picture) => drawn.push(picture),
            Err(why) => left_out.push(LeftOut { id: maker.id().into(), why }),
        }
    }
    let rows: Vec<String> = run.rows.iter().map(|row| row.id.clone()).collect();
    let recorded = recorded::charts(run, references).into_iter();
    drawn.extend(recorded.map(|chart| Picture { chart, rows: rows.clone() }));
    for (place, other) in others.iter().enumerate() {
        match comparison::comparison(place, other) {
            Ok(picture) => drawn.push(picture),
            Err((id, why)) => left_out.push(LeftOut { id, why }),
        }
        drawn.extend(comparison::slopes(place, other));
    }
    (drawn, left_out)
}

/// One value is a sentence, no picture.
fn several_values(picture: Picture) -> Result<Picture, String> {
    one_value(&picture.chart).map_or(Ok(picture), Err)
}

/// The sentence of a picture of one value, with nothing of others beside it.
pub(super) fn one_value(chart: &Chart) -> Option<String> {
    let (count, label) = match &chart.body {
        Body::Dots(dots) => {
            let others = dots.rows.iter().map(|dot| dot.others.len()).sum::<usize>();
            let own = dots.rows.iter().filter(|dot| dot.value.is_some()).count();
            (own + others, &dots.value.label)
        }
        Body::Heat(heat) => (heat.cells.len(), &heat.value.label),
        Body::Bars(bars) => {
            (bars.parts.iter().flat_map(|part| &part.values).flatten().count(), &bars.value.label)
        }
        Body::Lines(_) | Body::Lanes(_) | Body::Strips(_) | Body::Slopes(_) => return None,
    };
    if count != 1 {
        return None;
    }
    let figures = tables(chart);
    let texts = figures
        .first()
        .and_then(|table| table.rows.iter().map(Row::texts).find(|texts| texts.len() > 1));
    let figure =
        texts.unwrap_or_default().into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    Some(format!("it has one {label}: {}", figure.join(", ")))
}

/// The pictures in the order of a report.
fn makers() -> impl Iterator<Item = &'static Maker> {
    let parts = [
        ladder::PICTURES,
        place::PICTURES,
        memory::PICTURES,
        threads::PICTURES,
        memory::CORES,
        files::PICTURES,
        noise::PICTURES,
    ];
    parts.into_iter().flatten()
}
