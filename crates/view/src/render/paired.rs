//! Two builds compared by commands run in both: the answer, and the rows.

use super::figures::counted;
use compare::paired::{PairedGate, PairedRow, SIDES};
use model::compare::finding::Verdict;
use model::share::{bound, change, change_ends, limit};
use model::story::{Block, Cell, Table, Tone, left, right};

/// The answer, in the sentences of a comment.
pub fn answer(gate: &PairedGate) -> Vec<Block> {
    let above = limit(gate.fail_above);
    let names = |rows: &[&PairedRow]| {
        let names: Vec<String> = rows.iter().map(|row| name(row)).collect();
        names.join(", ")
    };
    let [slower, fine, open] = [Verdict::Different, Verdict::SameWithinNoise, Verdict::CannotTell]
        .map(|answer| gate.with(answer).collect::<Vec<_>>());
    let (refused, noisy): (Vec<_>, Vec<_>) = open.into_iter().partition(|row| row.why.is_some());
    let mut sentences = Vec::new();
    if !slower.is_empty() {
        sentences.push(format!(
            "REGRESSION above {above} in {} of {}: {}.",
            slower.len(),
            counted(gate.rows.len(), "row"),
            names(&slower)
        ));
    } else if !fine.is_empty() {
        sentences.push(format!("No regression above {above} in {}.", counted(fine.len(), "row")));
    }
    if let Some([all, half]) = gate.detectable() {
        let half = match fine.len() + slower.len() {
            1 => String::new(),
            _ => format!(" (median row {})", bound(half)),
        };
        sentences.push(format!("Smallest detectable change: {}{half}.", bound(all)));
    }
    if !noisy.is_empty() {
        let which = match noisy.len() == gate.rows.len() {
            true => "Inconclusive: too noisy to judge any row".into(),
            false => format!("Inconclusive for {}: {}", counted(noisy.len(), "row"), names(&noisy)),
        };
        sentences.push(format!("{which}; more runs (--runs) narrow the intervals."));
    }
    let mut commands: Vec<String> = Vec::new();
    for row in &refused {
        let why = row.why.as_deref().unwrap_or_default();
        let sentence = format!("Not comparable: {} ({why}).", row.command);
        if !commands.contains(&sentence) {
            commands.push(sentence);
        }
    }
    sentences.extend(commands);
    if gate.rows.is_empty() {
        sentences.push("Inconclusive: no command was measured.".into());
    }
    let mut blocks = vec![Block::text(sentences.join(" "))];
    if !gate.complete {
        blocks.push(Block::warning("INTERRUPTED: ", "not all commands were measured to the end"));
    }
    blocks
}

/// A line for each time.
pub fn rows(gate: &PairedGate) -> Vec<Block> {
    let [base, head] = SIDES;
    let mut table = Table::new([
        left("command"),
        left("time"),
        right(format!("{base} ±")),
        right(format!("{head} ±")),
        right("change"),
        left("interval"),
        left(""),
    ]);
    for row in &gate.rows {
        let (change, interval) = match row.ratio.as_ref().filter(|_| row.why.is_none()) {
            Some(r) => (change(r.value), change_ends(r)),
            None => ("-".into(), String::new()),
        };
        table.row([
            row.command.as_str().into(),
            title(row).into(),
            Cell::time(Some(row.base_ns)),
            Cell::time(Some(row.head_ns)),
            change.into(),
            interval.into(),
            match row.answer {
                Verdict::Different => Cell::from("SLOWER").toned(Tone::Bad),
                Verdict::SameWithinNoise if row.ratio.is_some_and(|r| r.high < 1.0) => {
                    Cell::from("faster").toned(Tone::Good)
                }
                Verdict::SameWithinNoise => Cell::from("ok").toned(Tone::Good),
                Verdict::CannotTell => Cell::from(match row.why {
                    Some(_) => "not comparable",
                    None => "inconclusive",
                })
                .toned(Tone::Doubtful),
            },
        ]);
    }
    vec![
        Block::Table(table),
        Block::text(format!(
            "change: median ratio of interleaved runs, with simultaneous {} confidence intervals. ± \
             half of a 95 % interval.",
            limit(1.0 - gate.level)
        )),
    ]
}

fn name(row: &PairedRow) -> String {
    format!("{} ({})", row.command, title(row))
}

fn title(row: &PairedRow) -> String {
    row.row.replace('_', "-")
}
