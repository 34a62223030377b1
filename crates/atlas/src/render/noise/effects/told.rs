//! Control by control: where an effect was told, where none was shown, where
//! it can't be told, and why a control was not tried.

use crate::references::{NoiseEffect, References};
use crate::render::COLUMNS;
use crate::render::layout::{Entry, Grid, Style, left, stacked, wrap};
use model::noise::effect::{Change, Control, Effect, Effects, Verdict};
use model::stats::Interval;

/// Names that perf-book has for our controls.
const PUBLISHED: [(&str, &str); 4] = [
    ("turbo", "turbo"),
    ("pin", "affinity"),
    ("nice", "priority"),
    ("cache", "filesystem cache"),
];

/// One group of lines for each control; with `wide` a line for each job and
/// load.
pub(super) fn told(document: &Effects, references: &References, wide: bool) -> String {
    let mut grids = Vec::new();
    for control in &document.controls {
        let own: Vec<&Effect> = document
            .effects
            .iter()
            .filter(|effect| effect.control == control.name)
            .collect();
        grids.push(group(control, &own, references, wide));
    }
    let rounds = document.effects.iter().map(|effect| effect.rounds);
    let (least, most) = (rounds.clone().min(), rounds.max());
    let rounds = match (least, most) {
        (Some(least), Some(most)) if least == most => format!("{least}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "no".into(),
    };
    let explained = format!(
        "on / off, median of {rounds} rounds [interval]. time: of the job; of wakeup how late it \
         woke up in the mean. spread: mean deviation of the times' logarithms from their median. \
         Told for the whole table at once: were there no effect at all, one table in twenty would \
         tell any; can't tell: too few rounds for so many comparisons."
    );
    let explained = wrap("", &explained, COLUMNS).join("\n");
    format!("{explained}\n\n{}", stacked(&grids, 2, COLUMNS))
}

fn group(control: &Control, own: &[&Effect], references: &References, wide: bool) -> Grid {
    let mut grid = Grid::default();
    let title = format!("{}, against: {}", control.on, control.off);
    grid.wrapped(&format!("{}: ", control.name), &title, COLUMNS);
    if let Some(why) = &control.unavailable {
        let needs = match &control.needs {
            Some(needs) => format!(" (needs {needs})"),
            None => String::new(),
        };
        grid.wrapped("  not available here: ", &format!("{why}{needs}"), COLUMNS);
    }
    let is_told = |effect: &&&Effect| {
        let told = |change: &Change| matches!(change.verdict, Verdict::Better | Verdict::Worse);
        wide || told(&effect.time) || told(&effect.spread)
    };
    for effect in own.iter().filter(is_told) {
        grid.entries(line(effect));
    }
    for (verdict, lead) in [
        (Verdict::NoEffectShown, "  no effect shown: "),
        (Verdict::CannotTell, "  can't tell: "),
    ] {
        let of_word = |effect: &&&Effect| !is_told(effect) && effect.time.verdict == verdict;
        let text = places(own.iter().filter(of_word).copied());
        if !text.is_empty() {
            grid.wrapped(lead, &text, COLUMNS);
        }
    }
    if let Some(text) = published(control, references) {
        grid.wrapped("  published: ", &text, COLUMNS);
    }
    grid
}

/// `cpu none, same-session; memory none`.
fn places<'a>(effects: impl Iterator<Item = &'a Effect>) -> String {
    let mut text = String::new();
    let mut last = None;
    for effect in effects {
        match last {
            Some(workload) if workload == effect.workload => text += ", ",
            Some(_) => text += &format!("; {} ", effect.workload.name()),
            None => text += &format!("{} ", effect.workload.name()),
        }
        text += effect.load.name();
        last = Some(effect.workload);
    }
    text
}

fn line(effect: &Effect) -> Vec<Entry> {
    vec![
        left(format!("  {}", effect.workload.name())),
        left(effect.load.name()),
        left(format!("time {}", ratio(&effect.time))),
        word(&effect.time),
        left(format!("spread {}", ratio(&effect.spread))),
        word(&effect.spread),
    ]
}

fn ratio(change: &Change) -> String {
    change.ratio.as_ref().map_or("-".into(), interval)
}

/// `0.29 [0.25, 0.33]`.
pub(super) fn interval(ratio: &Interval) -> String {
    let number = |value: f64| {
        let places = match value {
            v if v >= 99.5 => 0,
            v if v >= 9.95 => 1,
            v if v >= 0.0995 => 2,
            _ => 3,
        };
        format!("{value:.places$}")
    };
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(number);
    format!("{value} [{low}, {high}]")
}

fn word(change: &Change) -> Entry {
    let entry = left(change.verdict.text());
    match change.verdict {
        Verdict::Better => entry.in_style(Style::Good),
        Verdict::Worse => entry.in_style(Style::Bad),
        Verdict::CannotTell => entry.in_style(Style::Doubtful),
        Verdict::NoEffectShown => entry,
    }
}

/// What a book found of the same control.
fn published(control: &Control, references: &References) -> Option<String> {
    let (_, name) = PUBLISHED.iter().find(|(ours, _)| *ours == control.name)?;
    let (book, effect) = references.noise_effects.iter().find_map(|book| {
        let effect = book.effects.iter().find(|e| e.control == *name)?;
        Some((book, effect))
    })?;
    Some(format!("{} ({})", in_words(effect), book.source))
}

fn in_words(effect: &NoiseEffect) -> String {
    let states: Vec<String> = effect
        .states
        .iter()
        .map(|(state, figures)| {
            let figures: Vec<String> = figures
                .iter()
                .map(|(key, value)| match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => format!("{} {value}", key.replace('_', " ")),
                })
                .collect();
            format!(
                "{}: {}",
                state_in_words(state, &effect.control),
                figures.join(", ")
            )
        })
        .collect();
    states.join("; ")
}

/// A book's *on* is its control's: turbo that is on. Ours may be the other way
/// round, so its name goes with it.
fn state_in_words(state: &str, control: &str) -> String {
    match state {
        "on" => format!("with {control}"),
        "off" => format!("without {control}"),
        named => named.into(),
    }
}
