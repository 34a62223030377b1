//! A judged suite as a forest plot.

use super::figure::log;
use super::forest::by_change;
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use compare::judged::{BenchmarkAnswer, JudgedRow, Judgment};
use model::compare::finding::Verdict;

/// Head over base of each benchmark; `None` where none has a ratio.
pub fn of_judgment(judgment: &Judgment) -> Option<Chart> {
    let rows = by_change(judgment.rows.iter().map(dot).collect());
    rows.iter().any(|dot| dot.value.is_some()).then(|| Chart {
        id: "judged".into(),
        title: "Head over base".into(),
        caption: "Time of each benchmark in head over base, with its 99 % interval, what changed \
                  first. Right of 1 is slower."
            .into(),
        section: Section::Noise,
        body: Body::Dots(Dots::new(log("head over base", Quantity::Ratio), rows)),
        notes: Vec::new(),
    })
}

fn dot(row: &JudgedRow) -> Dot {
    use BenchmarkAnswer::{Faster, Inconclusive, NotShown, Slower, SlowerWithinLimit};
    let finding = match row.answer {
        Slower | SlowerWithinLimit | Faster => Verdict::Different,
        NotShown => Verdict::SameWithinNoise,
        Inconclusive => Verdict::CannotTell,
    };
    Dot {
        id: row.name.clone(),
        value: row.ratio.map(|ratio| ratio.value),
        low: row.ratio.map(|ratio| ratio.low),
        high: row.ratio.map(|ratio| ratio.high),
        verdict: (finding == Verdict::CannotTell).then_some(model::estimate::Verdict::CannotTell),
        reason: String::new(),
        others: Vec::new(),
        finding: Some(finding),
    }
}
