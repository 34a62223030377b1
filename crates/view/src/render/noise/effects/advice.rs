//! The advice that follows, the best first.

use super::page::ratio_text;
use model::noise::effect::advice::{Advice, ShownEffect, advice as of_effects};
use model::noise::effect::{Effect, Effects, Workload};
use model::story::Block;

/// Only what was shown to be better here.
pub(super) fn advice(document: &Effects, effects: &[Effect]) -> Vec<Block> {
    let all = of_effects(&document.controls, effects);
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::text("Advice, from what was shown to be better here:")];
    for (number, advice) in (1..).zip(&all) {
        blocks.push(Block::labelled(format!("{number:2}. "), sentence(advice)));
    }
    blocks
}

fn sentence(advice: &Advice) -> String {
    let best = [advice.time, advice.late, advice.spread];
    let reported: Vec<String> = best.iter().flatten().map(in_words).collect();
    let mut text = format!(
        "{}: {}; better in {} of {} cases",
        advice.control.name,
        reported.join("; "),
        advice.better_in,
        advice.of
    );
    if !advice.worse.is_empty() {
        let worse: Vec<String> = advice.worse.iter().map(in_words).collect();
        text += &format!(". Worse: {}", worse.join("; "));
    }
    text
}

fn in_words(reported: &ShownEffect) -> String {
    let of = match (reported.of_time, reported.workload) {
        (true, Workload::Wakeup) => "lateness",
        (true, _) => "time",
        (false, _) => "spread",
    };
    format!(
        "{of} {} of {} {}",
        ratio_text(&reported.ratio),
        reported.workload.name(),
        reported.load.in_words()
    )
}
