//! Two builds compared by commands run in both: the answer, and the rows.

use super::figures::{counted, trimmed};
use compare::paired::{Answer, PairedGate, PairedRow, SIDES};
use model::stats::Interval;
use model::story::{Block, Cell, Table, Tone, left, right};

/// The answer, in the sentences of a comment.
pub fn answer(gate: &PairedGate) -> Vec<Block> {
    let above = percent(gate.fail_above);
    let names = |answer| {
        let rows = gate.with(answer).map(name).collect::<Vec<_>>();
        rows.join(", ")
    };
    let count = |answer| gate.with(answer).count();
    let [slower, fine, open] = [Answer::Slower, Answer::NotSlower, Answer::CannotTell].map(count);
    let mut sentences = vec![match (slower, fine) {
        (0, 0) => "Nothing could be judged.".into(),
        (0, fine) => format!("No regression above {above} in {}.", counted(fine, "row")),
        (slower, _) => format!(
            "REGRESSION above {above} in {slower} of {}: {}.",
            counted(gate.rows.len(), "row"),
            names(Answer::Slower)
        ),
    }];
    if let Some([all, half]) = gate.detectable() {
        let half = match fine + slower {
            1 => String::new(),
            _ => format!(" (in half of the rows {})", percent(half)),
        };
        sentences.push(format!(
            "Smallest change that could be seen: {}{half}.",
            percent(all)
        ));
    }
    if open > 0 {
        sentences.push(format!(
            "Can't tell for {}: {}; more runs (--runs) make intervals narrower.",
            counted(open, "row"),
            names(Answer::CannotTell)
        ));
    }
    let mut blocks = vec![Block::text(sentences.join(" "))];
    if !gate.complete {
        blocks.push(Block::warning(
            "INTERRUPTED: ",
            "not all commands were measured to the end",
        ));
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
        let (change, interval) = match &row.ratio {
            Some(r) => (change(r.value), range(r)),
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
                Answer::Slower => Cell::from("SLOWER").toned(Tone::Bad),
                Answer::NotSlower if row.ratio.is_some_and(|r| r.high < 1.0) => {
                    Cell::from("faster").toned(Tone::Good)
                }
                Answer::NotSlower => Cell::from("ok").toned(Tone::Good),
                Answer::CannotTell => Cell::from("can't tell").toned(Tone::Doubtful),
            },
        ]);
    }
    vec![
        Block::Table(table),
        Block::text(format!(
            "change: median ratio of interleaved runs; the intervals of all rows hold together with \
             a confidence of {}. ± half of a 95 % interval.",
            percent(1.0 - gate.level)
        )),
    ]
}

fn name(row: &PairedRow) -> String {
    format!("{} ({})", row.command, title(row))
}

fn title(row: &PairedRow) -> String {
    row.row.replace('_', "-")
}

/// A share, with the digits that it has: `5 %`, `0.3 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 10.0 => format!("{} %", p.round()),
        p => format!("{} %", trimmed((p * 10.0).ceil() / 10.0)),
    }
}

fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn range(r: &Interval) -> String {
    let of = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
    format!("[{}, {}]", of(r.low), of(r.high))
}
