//! Every picture of a run.

use super::maker::Maker;
use super::source::{OtherRun, Picture, Source};
use super::{Chart, comparison, files, ladder, memory, noise, threads};
use crate::render::recorded;
use compare::references::References;
use model::run::Run;

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
    let source = Source::alone(run, references);
    let maker = all().find(|maker| maker.id() == id)?;
    Some(maker.draw(&source).ok()?.chart)
}

/// The same with the rows that each shows, and what was left out.
pub fn pictures(
    run: &Run,
    references: &References,
    others: &[OtherRun],
) -> (Vec<Picture>, Vec<LeftOut>) {
    let source = Source {
        others: others.iter().map(|o| (o.name.clone(), o.run)).collect(),
        ..Source::alone(run, references)
    };
    let (mut drawn, mut left_out) = (Vec::new(), Vec::new());
    for maker in all() {
        match maker.draw(&source) {
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
    }
    (drawn, left_out)
}

/// The pictures in the order of a report.
fn all() -> impl Iterator<Item = &'static Maker> {
    let parts = [
        ladder::PICTURES,
        memory::PICTURES,
        threads::PICTURES,
        memory::CORES,
        files::PICTURES,
        noise::PICTURES,
    ];
    parts.into_iter().flatten()
}
