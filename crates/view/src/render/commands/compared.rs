//! Each command set against the first.

use model::command::{Commands, Compared};
use model::compare::finding::Verdict;
use model::share::limit;
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left};

/// Each command beside the first.
pub(crate) fn compared(record: &Commands) -> Vec<Block> {
    let Some(first) = record.commands.first().filter(|_| !record.compared.is_empty()) else {
        return Vec::new();
    };
    let others = record.commands.len() - 1;
    let intervals = match others {
        0 | 1 => "its 95 % interval".into(),
        // So that all of a row hold together in 95 % of such runs.
        _ => format!(
            "its {:.1} % interval (Bonferroni over {others} commands)",
            100.0 - 5.0 / others as f64
        ),
    };
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
            of_ratio.map_or("-".into(), ratio).into(),
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
    vec![Block::text(heading), Block::Table(table)]
}

fn ratio(r: &Interval) -> String {
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
        Verdict::Different => format!("{}{direction}", one.word.text()),
        _ => one.word.text().into(),
    }
}
