//! Each command set against the first.

use crate::render::Options;
use model::command::{Commands, Compared};
use model::compare::finding::{LEVEL, Verdict, WATCHED_LEVEL};
use model::share::limit;
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left};

/// Each command beside the first.
pub(crate) fn compared(record: &Commands, options: &Options) -> Vec<Block> {
    let Some(first) = record.commands.first().filter(|_| !record.compared.is_empty()) else {
        return Vec::new();
    };
    let others = record.commands.len() - 1;
    // How often an interval of a row misses its ratio, in percent.
    let misses = 100.0 * if record.rule.is_watched() { WATCHED_LEVEL } else { LEVEL };
    let mut intervals = match others {
        0 | 1 => format!("its {:.0} % interval", 100.0 - misses),
        // So that all of a row hold together.
        _ => format!(
            "its {:.1} % interval (Bonferroni over {others} commands)",
            100.0 - misses / others as f64
        ),
    };
    if record.rule.is_watched() {
        intervals.push_str(", valid at any stop");
    }
    let heading = format!(
        "relative to {}: median ratio of {} rounds with {intervals}; same: within {} of 1",
        first.name,
        record.compared[0].rounds,
        limit(record.margin)
    );
    let mut table = Table::new(["", "", "", ""].map(left));
    let mut said = None;
    for one in &record.compared {
        // A ratio of what is not comparable would be read as an answer.
        let of_ratio = one.ratio.as_ref().filter(|_| one.why.is_none());
        table.row([
            format!(" {}", one.name).into(),
            one.row.replace('_', "-").into(),
            of_ratio.map_or("-".into(), ratio_text).into(),
            Cell::from(word(one)).toned(match one.word {
                Verdict::CannotTell => Tone::Doubtful,
                _ => Tone::Good,
            }),
        ]);
        if let Some(why) = one.why.as_ref().filter(|why| said != Some(*why)) {
            table.note("      └ ", why);
            said = Some(why);
        }
    }
    let mut blocks: Vec<Block> =
        answers(record, options.as_given).into_iter().map(Block::text).collect();
    blocks.extend([Block::text(heading), Block::Table(table)]);
    blocks
}

/// Who is faster, a sentence for each command but the first: the fastest first, unless in the order given.
fn answers(record: &Commands, as_given: bool) -> Vec<String> {
    let mut walls: Vec<(&Compared, Interval)> = record
        .compared
        .iter()
        .filter(|one| one.row == "wall" && one.why.is_none())
        .filter_map(|one| Some((one, one.ratio?)))
        .collect();
    if !as_given {
        walls.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    }
    walls.into_iter().map(|(one, ratio)| answer(record, one, &ratio)).collect()
}

fn answer(record: &Commands, one: &Compared, ratio: &Interval) -> String {
    let first = &record.commands[0];
    let other = record.commands.iter().find(|command| command.name == one.name);
    let [a, b] = match other.map(|other| [first.command_line(), other.command_line()]) {
        Some([a, b]) if a != b => [a, b],
        _ => [first.name.clone(), one.name.clone()],
    };
    let inverse =
        Interval { value: 1.0 / ratio.value, low: 1.0 / ratio.high, high: 1.0 / ratio.low };
    match one.word {
        Verdict::Different if ratio.value > 1.0 => {
            format!("'{a}' ran {} times faster than '{b}'", times_text(ratio))
        }
        Verdict::Different => {
            format!("'{b}' ran {} times faster than '{a}'", times_text(&inverse))
        }
        Verdict::SameWithinNoise => {
            format!("'{b}' takes as long as '{a}' ({} times)", ratio_text(ratio))
        }
        Verdict::CannotTell => {
            format!("Inconclusive: '{b}' takes {} times as long as '{a}'", ratio_text(ratio))
        }
    }
}

/// Two decimals, and three where two would hide the difference.
fn times_text(r: &Interval) -> String {
    match r.value < 1.1 {
        true => ratio_text(r),
        false => format!("{:.2} [{:.2}, {:.2}]", r.value, r.low, r.high),
    }
}

fn ratio_text(r: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", r.value, r.low, r.high)
}

/// The word, with the direction where there is one.
fn word(one: &Compared) -> String {
    let direction = match (&one.ratio, one.row.as_str()) {
        (Some(r), "peak_memory") if r.value > 1.0 => ": more",
        (Some(_), "peak_memory") => ": less",
        (Some(r), _) if r.value > 1.0 => ": slower",
        _ => ": faster",
    };
    match one.word {
        _ if one.why.is_some() => "not comparable".into(),
        Verdict::Different => format!("{}{direction}", one.word.printed()),
        _ => one.word.printed().into(),
    }
}
