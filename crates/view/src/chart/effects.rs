//! What each control of noise does to a job here, beside the others.

use super::figure::log;
use super::forest::by_change;
use super::{Body, Chart, Dot, Dots, Quantity, Section};
use model::estimate::Verdict;
use model::noise::effect::{Change, Effect, Load, Workload};

/// Time and spread of each control, job and load: on over off, with the interval that judges it.
/// `None` where no round says anything of any.
pub fn of_effects(effects: &[Effect]) -> Option<Chart> {
    let dots = effects.iter().flat_map(|effect| {
        [("time", &effect.time), ("spread", &effect.spread)]
            .map(|(what, change)| dot(name_of(effect, what), change))
    });
    let rows = by_change(dots.collect());
    rows.iter().any(|dot| dot.value.is_some()).then(|| Chart {
        id: "noise.effects".into(),
        title: "Effect of each control".into(),
        caption: "Time of the job, and spread of its times, with the control over without it: \
                  median of the rounds, and the interval that its verdict is from, the largest effect \
                  first. Left of 1 is shorter or steadier with the control."
            .into(),
        section: Section::Noise,
        body: Body::Dots(Dots::new(log("with the control over without", Quantity::Ratio), rows)),
        notes: Vec::new(),
    })
}

/// `pin time`; of the jobs of latlas `pin time, cpu with no load`: what tells lines apart is first, since long names
/// are cut at their end.
fn name_of(effect: &Effect, what: &str) -> String {
    let control = &effect.control;
    match (effect.workload, effect.load) {
        (Workload::Command, Load::None) => format!("{control} {what}"),
        (job, load) => format!("{control} {what}, {} {}", job.name(), load.in_words()),
    }
}

fn dot(id: String, change: &Change) -> Dot {
    let ratio = change.found.ratio;
    let end = |end: f64| Some(end).filter(|end| end.is_finite() && *end > 0.0);
    Dot {
        id,
        value: ratio.map(|ratio| ratio.value),
        low: ratio.and_then(|ratio| end(ratio.low)),
        high: ratio.and_then(|ratio| end(ratio.high)),
        verdict: (!change.found.is_different()).then_some(Verdict::CannotTell),
        reason: change.word().into(),
        others: Vec::new(),
        finding: Some(change.found.verdict),
    }
}
