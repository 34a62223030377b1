//! The advice that follows, the best first.

use super::told::interval;
use crate::render::COLUMNS;
use crate::render::layout::wrap;
use model::noise::effect::advice::{Advice, Shown, advice as of_effects};
use model::noise::effect::{Effects, Workload};

/// Only what was shown to be better here.
pub(super) fn advice(document: &Effects) -> String {
    let all = of_effects(&document.controls, &document.effects);
    if all.is_empty() {
        return "Advice: none: no control was shown to make a run shorter or steadier here.\n"
            .into();
    }
    let mut lines = vec!["Advice, from what was shown to be better here:".to_owned()];
    for (number, advice) in (1..).zip(&all) {
        let lead = format!("{number:2}. ");
        lines.extend(wrap(&lead, &sentence(advice), COLUMNS));
        lines.extend(wrap("    ", &advice.control.apply, COLUMNS));
    }
    lines.join("\n") + "\n"
}

fn sentence(advice: &Advice) -> String {
    let best = [advice.time, advice.late, advice.spread];
    let told: Vec<String> = best.iter().flatten().map(in_words).collect();
    let mut text = format!(
        "{}: {}; better in {} of {} cases",
        advice.control.name,
        told.join("; "),
        advice.better_in,
        advice.of
    );
    if !advice.worse.is_empty() {
        let worse: Vec<String> = advice.worse.iter().map(in_words).collect();
        text += &format!(". Worse: {}", worse.join("; "));
    }
    text
}

fn in_words(told: &Shown) -> String {
    let of = match (told.of_time, told.workload) {
        (true, Workload::Wakeup) => "lateness",
        (true, _) => "time",
        (false, _) => "spread",
    };
    format!(
        "{of} {} of {} {}",
        interval(&told.ratio),
        told.workload.name(),
        told.load.in_words()
    )
}
