//! Two builds compared by commands run in both: the answer, and the rows.

use super::figures::counted;
use compare::paired::{PairedGate, PairedRow, SIDES};
use model::compare::finding::Verdict;
use model::run::Run;
use model::share::{bound, change, change_ends, limit};
use model::story::{Block, Cell, Table, Tone, left, right};

/// The answer, in the sentences of a comment.
pub fn answer(gate: &PairedGate) -> Vec<Block> {
    let above = limit(gate.fail_above);
    let names = |rows: &[&PairedRow]| {
        let names: Vec<String> = rows.iter().map(|row| paired_name(row)).collect();
        names.join(", ")
    };
    let [slower, fine, open] = [Verdict::Different, Verdict::SameWithinNoise, Verdict::CannotTell]
        .map(|answer| gate.rows_with(answer).collect::<Vec<_>>());
    let (refused, noisy): (Vec<_>, Vec<_>) = open
        .into_iter()
        .filter(|row| row.decides || row.why.is_some())
        .partition(|row| row.why.is_some());
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
        let which = match fine.is_empty() && slower.is_empty() {
            true => "Inconclusive: too noisy to judge any row".into(),
            false => format!("Inconclusive for {}: {}", counted(noisy.len(), "row"), names(&noisy)),
        };
        sentences.push(format!("{which}; more runs (--runs) narrow the intervals."));
    }
    let by_cpu: Vec<&PairedRow> =
        gate.rows.iter().filter(|row| row.decides && row.row != "wall").collect();
    if !by_cpu.is_empty() {
        sentences.push(format!(
            "Judged by CPU time, because wall time is disturbed: {}.",
            by_cpu.iter().map(|row| row.command.as_str()).collect::<Vec<_>>().join(", ")
        ));
    }
    let mut commands: Vec<String> = Vec::new();
    for row in &refused {
        let why = row.why.as_deref().unwrap_or_default();
        let sentence = format!("Not comparable: `{}` ({why}).", row.command);
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
pub fn paired_rows(gate: &PairedGate) -> Vec<Block> {
    let [base, head] = SIDES;
    let mut table = Table::new([
        left("command").of_code(),
        left("time"),
        right(format!("{base} ±")),
        right(format!("{head} ±")),
        right("change"),
        left("interval"),
        left("verdict"),
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
            Cell::from(row.answer_text()).toned(match row.answer {
                Verdict::Different => Tone::Bad,
                Verdict::SameWithinNoise => Tone::Good,
                Verdict::CannotTell => Tone::Doubtful,
            }),
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

/// The answer in a line, with the size of what was found.
pub fn paired_headline(gate: &PairedGate) -> String {
    let ratio = |row: &PairedRow| row.ratio.map_or(1.0, |ratio| ratio.value);
    let slower = gate.rows_with(Verdict::Different);
    match slower.max_by(|a, b| ratio(a).total_cmp(&ratio(b))) {
        Some(worst) => {
            let others = match gate.rows_with(Verdict::Different).count() {
                1 => String::new(),
                n => format!(", and {}", counted(n - 1, "other")),
            };
            format!("{} in {}{others}", change(ratio(worst)), paired_name(worst))
        }
        None if gate.is_inconclusive() => "inconclusive".into(),
        None => format!("no regression above {}", limit(gate.fail_above)),
    }
}

/// What was compared, how often, and where.
pub fn paired_facts(gate: &PairedGate, builds: &[String; 2], run: Option<&Run>) -> Vec<Block> {
    let [base, head] = builds;
    let rounds = gate.rows.iter().map(|row| row.rounds);
    let rounds = match (rounds.clone().min(), rounds.max()) {
        (Some(least), Some(most)) if least == most => counted(most, "run"),
        (Some(least), Some(most)) => format!("{least} to {most} runs"),
        _ => "no runs".into(),
    };
    let mut facts = vec![format!("base {base}, head {head}; {rounds} of each, interleaved")];
    facts.extend(run.map(|run| {
        format!("{}; {} {}", run.machine.one_line(), run.program.name, run.program.version)
    }));
    vec![Block::text(facts.join("; "))]
}

fn paired_name(row: &PairedRow) -> String {
    format!("`{}` ({})", row.command, title(row))
}

pub(crate) fn title(row: &PairedRow) -> &'static str {
    match row.row {
        "wall" => "wall time",
        "task_clock" => "CPU time",
        "user" => "user CPU time",
        other => other,
    }
}
