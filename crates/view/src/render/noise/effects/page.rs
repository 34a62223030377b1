//! Control by control: where an effect was told, where none was shown, where
//! it can't be told, and why a control was not tried.

use compare::references::{NoiseEffect, References};
use model::noise::effect::{Change, Control, Effect, Effects};
use model::share::percent;
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left};

/// Names that perf-book has for our controls.
const PUBLISHED: [(&str, &str); 4] =
    [("turbo", "turbo"), ("pin", "affinity"), ("nice", "priority"), ("cache", "filesystem cache")];

/// One group of lines for each control; with `wide` a line for each job and
/// load.
pub(super) fn effects_page(
    (document, effects): (&Effects, &[Effect]),
    references: &References,
    wide: bool,
) -> Vec<Block> {
    let mut tables = Vec::new();
    // Of one job there is room for everything.
    let wide = wide || !document.how.command.is_empty();
    for (at, control) in document.controls.iter().enumerate() {
        let own: Vec<&Effect> =
            effects.iter().filter(|effect| effect.control == control.name).collect();
        let mut table = group(control, &own, references, wide);
        // Once for all.
        if at == 0 {
            let titles = ["  job", "load", "on / off", "", "on / off", ""];
            table.columns = titles.map(left).into();
        }
        tables.push(table);
    }
    let rounds = effects.iter().map(|effect| effect.rounds);
    let (least, most) = (rounds.clone().min(), rounds.max());
    let rounds = match (least, most) {
        (Some(least), Some(most)) if least == most => format!("{least}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "no".into(),
    };
    let explained = format!(
        "on / off, median of {rounds} rounds [interval]. time: of the job; of wakeup how late it \
         woke up in the mean. spread: mean deviation of the times' logarithms from their median. \
         switches and migrations: mean of a run, off -> on. Judged as one family: with no effect at \
         all, one table in twenty shows any; inconclusive: too few rounds for so many comparisons; \
         detectable from: the smallest effect that these rounds could have shown."
    );
    let heading = Block::Heading("Control by control".into());
    vec![heading, Block::text(explained), Block::empty_line(), Block::Tables(tables)]
}

fn group(control: &Control, own: &[&Effect], references: &References, wide: bool) -> Table {
    let mut table = Table::new([""; 6].map(left));
    let title = format!("{}, against: {}", control.on, control.off);
    table.note(format!("{}: ", control.name), title);
    if let Some(why) = &control.unavailable {
        let needs = match &control.needs {
            Some(needs) => format!(" (needs {needs})"),
            None => String::new(),
        };
        table.note("  not available here: ", format!("{why}{needs}"));
    }
    let is_told = |effect: &&&Effect| {
        let counted = [&effect.switches, &effect.migrations].into_iter().flatten();
        let mut all = counted.chain([&effect.time, &effect.spread]);
        wide || all.any(|change| change.found.is_different())
    };
    for effect in own.iter().filter(is_told) {
        table.row(effect_cells(effect));
        table.note("    ", effect_counts(effect));
    }
    for (word, lead) in
        [("no effect shown", "  no effect shown: "), ("inconclusive", "  inconclusive: ")]
    {
        let of_word = |effect: &&&Effect| !is_told(effect) && effect.time.word() == word;
        let text = places(own.iter().filter(of_word).copied());
        if !text.is_empty() {
            let smallest = own.iter().filter(of_word);
            let smallest = smallest.filter_map(|effect| effect.time.smallest());
            let shows = match smallest.reduce(f64::max) {
                Some(share) => format!(" (time detectable from {})", smallest_text(share)),
                None => String::new(),
            };
            table.note(lead, text + &shows);
        }
    }
    if let Some(text) = published(control, references) {
        table.note("  published: ", text);
    }
    table
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

fn effect_cells(effect: &Effect) -> [Cell; 6] {
    [
        format!("  {}", effect.workload.name()).into(),
        effect.load.name().into(),
        format!("time {}", change_text(&effect.time)).into(),
        word(&effect.time),
        format!("spread {}", change_text(&effect.spread)).into(),
        word(&effect.spread),
    ]
}

/// `switches 151 -> 102 better; migrations 10.0 -> 0 better; detectable from: ...`.
fn effect_counts(effect: &Effect) -> String {
    let changes = [("switches", &effect.switches), ("migrations", &effect.migrations)];
    let mut text: Vec<String> = Vec::new();
    let mut shows = Vec::new();
    for (name, change) in [("time", &effect.time), ("spread", &effect.spread)] {
        shows.extend(change.smallest().map(|share| format!("{name} {}", smallest_text(share))));
    }
    for (name, change) in changes {
        let Some(change) = change else {
            text.push(format!("{name} not counted here"));
            continue;
        };
        if let Some([Some(off), Some(on)]) = change.counts {
            let word = change.word();
            text.push(format!("{name} {} -> {} {word}", mean_count(off), mean_count(on)));
        }
        // All rounds alike: any difference would have been seen.
        shows.extend(change.smallest().map(|n| match n < 0.01 {
            true => format!("{name} <0.01"),
            false => format!("{name} {}", mean_count(n)),
        }));
    }
    if !shows.is_empty() {
        text.push(format!("detectable from: {}", shows.join(", ")));
    }
    text.join("; ")
}

/// The smallest change of a ratio that could be shown: `43 %`, and from twice or half on as a factor,
/// `70-fold`, since a share of more than all says nothing of a decrease.
fn smallest_text(share: f64) -> String {
    match share {
        share if !share.is_finite() => "no size".into(),
        share if share >= 1.0 => format!("{}-fold", mean_count(1.0 + share)),
        share => percent(share),
    }
}

/// A mean count: `151`, `9.7`, `0.25`, `0`.
pub(super) fn mean_count(mean: f64) -> String {
    let places = match mean.abs() {
        n if n == 0.0 || n >= 99.5 => 0,
        n if n >= 9.95 => 1,
        n if n >= 0.0995 => 2,
        _ => 3,
    };
    format!("{mean:.places$}")
}

fn change_text(change: &Change) -> String {
    change.found.ratio.as_ref().map_or("-".into(), ratio_text)
}

/// `0.29 [0.25, 0.33]`; `1.004 [1.001, 1.007]` where all of it is on one side of 1, and would read
/// as 1 with fewer digits.
pub(super) fn ratio_text(ratio: &Interval) -> String {
    /// Digits after the point below which a ratio is no finding.
    const MOST: usize = 6;
    let all = [ratio.value, ratio.low, ratio.high];
    let is_apart = ratio.low > 1.0 || ratio.high < 1.0;
    let reads_as_1 = |places: usize| all.iter().any(|r| format!("{r:.places$}").parse() == Ok(1.0));
    let places = (2..=MOST).find(|&places| !reads_as_1(places)).filter(|&places| places > 2);
    let [value, low, high] = match places.filter(|_| is_apart) {
        Some(places) => all.map(|r| format!("{r:.places$}")),
        None => all.map(mean_count),
    };
    format!("{value} [{low}, {high}]")
}

fn word(change: &Change) -> Cell {
    let (text, tone) = match (change.is_less(), change.found.ratio) {
        (Some(true), _) => (change.word(), Tone::Good),
        (Some(false), _) => (change.word(), Tone::Bad),
        // Two of them on a line.
        (None, Some(_)) => ("none shown", Tone::Plain),
        (None, None) => (change.word(), Tone::Doubtful),
    };
    Cell::from(text).toned(tone)
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
            format!("{}: {}", state_in_words(state, &effect.control), figures.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_that_differs_from_1_does_not_read_as_1() {
        let text = |value, low, high| ratio_text(&Interval { value, low, high });
        assert_eq!(text(1.004, 1.0012, 1.0071), "1.004 [1.001, 1.007]");
        assert_eq!(text(0.996, 0.99, 0.99996), "0.99600 [0.99000, 0.99996]");
        assert_eq!(text(0.2904, 0.25, 0.33), "0.29 [0.25, 0.33]");
        // Nothing is shown of it: the digits that a ratio has.
        assert_eq!(text(1.004, 0.981, 1.024), "1.00 [0.98, 1.02]");
    }

    #[test]
    fn no_share_is_above_100_percent() {
        let texts = [0.011, 0.43, 0.99, 1.0, 69.36, f64::INFINITY].map(smallest_text);
        assert_eq!(texts, ["1.1 %", "43 %", "99 %", "2.00-fold", "70.4-fold", "no size"]);
    }
}
