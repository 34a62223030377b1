//! Two builds of a benchmark suite: the verdict, a line a finding, what was not judged and why.

use super::figures::counted;
use compare::judged::{BenchmarkAnswer, JudgedOutcome, JudgedRow, Judgment, NeededRounds};
use model::figure::time;
use model::judged::evidence::ChangeEvidence;
use model::judged::question::SlotRule;
use model::judged::{BenchmarkState, Judged, JudgedBenchmark};
use model::phrases::{cut, rounded, rounded_up, several};
use model::run::Run;
use model::share::{bound, change, change_ends, limit, percent};
use model::story::{Block, Cell, Note, Table, Tone, left, right};

/// Lines of the page in a terminal of 100 columns, as a comment has room for.
const PAGE_LINES: usize = 25;
/// Of these, those of the verdict, the head of the table and what is left out of it.
const FRAME_LINES: usize = 5;
/// Characters of a line of text, with room for what no line is broken in.
const LINE: usize = 90;
/// Findings on the page; the others are counted.
const MOST: usize = 8;
/// Characters of a name beside which its row has room in one line; longer ones have a line of their own.
const NAME_IN_LINE: usize = 24;
/// Remarks on the builds.
const REMARKS: usize = 2;
/// Names in a sentence, and characters of each and of one in the table.
const NAMES: usize = 2;
const NAME: usize = 40;
const ROW_NAME: usize = 60;

/// The page: [`PAGE_LINES`] at most. The sentences come first, findings have the room that these leave.
pub fn judged_page(judgment: &Judgment, judged: &Judged, run: &Run) -> Vec<Block> {
    let tone = match judgment.outcome {
        JudgedOutcome::Regression => Tone::Bad,
        JudgedOutcome::Inconclusive => Tone::Doubtful,
        JudgedOutcome::NoRegression => Tone::Good,
    };
    let mut blocks = vec![Block::Note(Note { tone, ..Note::new("", verdict(judgment)) })];
    if judgment.interrupted {
        blocks.push(Block::warning("INTERRUPTED: ", "judged by what was measured until then"));
    }
    let measured =
        [remarks(judged), seen(judgment), slow_processes(judgment).into_iter().collect()].concat();
    // A paragraph each: in Markdown there is an empty line between two.
    let paragraphs = [not_judged(judgment, judged), measured, vec![facts(judged, judgment, run)]];
    let paragraphs = paragraphs.into_iter().filter(|sentences| !sentences.is_empty());
    let paragraphs: Vec<String> = paragraphs.map(|sentences| sentences.join(" ")).collect();
    let lines: usize = paragraphs.iter().map(|text| text.chars().count() / LINE + 1).sum();
    blocks.extend(findings(judgment, PAGE_LINES.saturating_sub(FRAME_LINES + lines)));
    blocks.extend(paragraphs.into_iter().map(Block::text));
    blocks
}

/// A name that is too long without its middle: its end tells it from others.
fn shortened(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let half = (most - 3) / 2;
    let start: String = name.chars().take(half).collect();
    let end: String = name.chars().skip(count - half).collect();
    format!("{start}...{end}")
}

/// Some names in a sentence.
fn short_names<'b>(own: impl IntoIterator<Item = &'b JudgedBenchmark>) -> String {
    several(&own.into_iter().map(|one| shortened(&one.name, NAME)).collect::<Vec<_>>(), NAMES)
}

/// The verdict in a line, with the size of what was found.
pub fn judged_headline(judgment: &Judgment) -> String {
    let slower = judgment.rows_with(BenchmarkAnswer::Slower);
    match (judgment.outcome, slower.first()) {
        (_, Some(worst)) => {
            let others = match slower.len() {
                1 => String::new(),
                n => format!(", and {}", counted(n - 1, "other")),
            };
            // A backtick would end the code.
            let name = shortened(&worst.name, ROW_NAME).replace('`', "'");
            format!("{} in `{name}`{others}", change_of(worst))
        }
        (JudgedOutcome::NoRegression, None) => "no regression".into(),
        _ => "inconclusive".into(),
    }
}

fn verdict(judgment: &Judgment) -> String {
    let all = judgment.rows.len() + judgment.others.len();
    let number = |answer| judgment.rows_with(answer).len();
    let above = match judgment.fail_above {
        0.0 => String::new(),
        share => format!(" by more than {}", limit(share)),
    };
    let [slower, within, faster] =
        [BenchmarkAnswer::Slower, BenchmarkAnswer::SlowerWithinLimit, BenchmarkAnswer::Faster]
            .map(number);
    let first = match judgment.outcome {
        JudgedOutcome::Regression => {
            format!("REGRESSION: {slower} of {} slower{above}", counted(all, "benchmark"))
        }
        JudgedOutcome::NoRegression => {
            format!("No regression{above} in {}", counted(all, "benchmark"))
        }
        JudgedOutcome::Inconclusive => {
            let open = number(BenchmarkAnswer::Inconclusive);
            match (open, judgment.rows.is_empty()) {
                (_, true) => "Inconclusive: no benchmark was measured".into(),
                (0, _) => "Inconclusive: not all benchmarks were measured".to_owned(),
                _ => format!("Inconclusive for {open} of {}", counted(all, "benchmark")),
            }
        }
    };
    let others = [(within, "slower within the limit"), (faster, "faster")];
    let others = others.iter().filter(|(number, _)| *number > 0);
    let others: Vec<String> = others.map(|(number, what)| format!("{number} {what}")).collect();
    [vec![first], others].concat().join(", ") + "."
}

/// A line for each benchmark of which something was found, in so many lines.
fn findings(judgment: &Judgment, mut room: usize) -> Vec<Block> {
    let order = [
        BenchmarkAnswer::Slower,
        BenchmarkAnswer::SlowerWithinLimit,
        BenchmarkAnswer::Faster,
        BenchmarkAnswer::Inconclusive,
    ];
    let rows: Vec<&JudgedRow> =
        order.iter().flat_map(|answer| judgment.rows_with(*answer)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new([
        left("benchmark").of_code(),
        right("change"),
        left("99 % interval"),
        right("rounds"),
        left("evidence"),
    ]);
    let mut shown = 0;
    for row in rows.iter().take(MOST) {
        let name = shortened(&row.name, ROW_NAME);
        let lines = if name.chars().count() > NAME_IN_LINE { 2 } else { 1 };
        // The first one always.
        match room.checked_sub(lines) {
            None if shown > 0 => break,
            left => room = left.unwrap_or(0),
        }
        shown += 1;
        let (tone, evidence) = match row.answer {
            BenchmarkAnswer::Slower => (Tone::Bad, evidence(row)),
            BenchmarkAnswer::Faster | BenchmarkAnswer::NotShown => (Tone::Good, evidence(row)),
            BenchmarkAnswer::SlowerWithinLimit | BenchmarkAnswer::Inconclusive => {
                (Tone::Doubtful, evidence(row))
            }
        };
        table.row([
            name.as_str().into(),
            change_of(row).into(),
            row.ratio.as_ref().map(change_ends).unwrap_or_default().into(),
            row.rounds.to_string().into(),
            Cell::from(evidence.as_str()).toned(tone),
        ]);
    }
    let more = rows.len() - shown;
    if more > 0 {
        table.note("", format!("and {more} more (--json lists all)"));
    }
    vec![Block::Table(table)]
}

fn change_of(row: &JudgedRow) -> String {
    row.ratio.map_or("-".into(), |ratio| change(ratio.value))
}

/// What speaks for it.
fn evidence(row: &JudgedRow) -> String {
    let word = if row.ratio.is_none_or(|ratio| ratio.value > 1.0) { "slower" } else { "faster" };
    // A build that can't be relinked has one layout.
    let others =
        if row.relinked { "data, branches, waiting" } else { "data, branches, layout, waiting" };
    match row.evidence {
        Some(ChangeEvidence::Work { instructions, system_calls }) if system_calls.abs() < 1.0 => {
            let is_against = row.ratio.is_some_and(|of| (of.value > 1.0) != (instructions > 1.0));
            match is_against {
                true => format!("{word} despite {} instructions ({others})", change(instructions)),
                false => format!("work: {} instructions", change(instructions)),
            }
        }
        Some(ChangeEvidence::Work { system_calls, .. }) => {
            format!("work: {system_calls:+.0} system calls")
        }
        Some(ChangeEvidence::SameInstructions) => {
            format!("same instructions, {word} ({others})")
        }
        Some(ChangeEvidence::Machine) => {
            format!("machine: inconclusive{}", would_need(row.needed))
        }
        Some(ChangeEvidence::Time) => format!("{word} (work not counted)"),
        None => format!("inconclusive{}", would_need(row.needed)),
    }
}

fn would_need(needed: Option<NeededRounds>) -> String {
    match needed.map(|needed| (needed.rounds, rounded_up(needed.ms))) {
        Some((Some(rounds), time)) => format!(", needs {rounds} rounds ({time})"),
        Some((None, time)) => format!(", the budget ended: needs {time} more"),
        None => String::new(),
    }
}

/// What was not measured, a line for each reason.
fn not_judged(judgment: &Judgment, judged: &Judged) -> Vec<String> {
    let named = |is: fn(&BenchmarkState) -> bool| {
        let own = judgment.others.iter().filter(|one| is(&one.state));
        own.collect::<Vec<&JudgedBenchmark>>()
    };
    let mut lines = Vec::new();
    let mut line = |own: Vec<&JudgedBenchmark>, text: &dyn Fn(usize) -> String| {
        if !own.is_empty() {
            lines.push(format!("{}: {}.", text(own.len()), short_names(own)));
        }
    };
    line(named(|state| *state == BenchmarkState::SameProgram), &|n| {
        format!("Same program in both builds, not measured ({n})")
    });
    line(named(|state| *state == BenchmarkState::OnlyInBase), &|n| format!("Only in base ({n})"));
    line(named(|state| *state == BenchmarkState::OnlyInHead), &|n| format!("Only in head ({n})"));
    let beyond = named(|state| matches!(state, BenchmarkState::BeyondBudget { .. }));
    let needed_ms: u64 = beyond
        .iter()
        .map(|one| match one.state {
            BenchmarkState::BeyondBudget { needed_ms } => needed_ms,
            _ => 0,
        })
        .sum();
    line(beyond, &|n| format!("Beyond the budget, {} more needed ({n})", rounded_up(needed_ms)));
    let failed = named(|state| matches!(state, BenchmarkState::Failed { .. }));
    if let Some(BenchmarkState::Failed { arm, why }) = failed.first().map(|one| &one.state) {
        let (number, why) = (failed.len(), cut(why));
        lines.push(format!(
            "Failed ({number}): {}; the first, in {arm}: {why}.",
            short_names(failed)
        ));
    }
    lines.extend(failed_runs(judged));
    lines
}

/// Slots that failed, of benchmarks that were measured all the same.
fn failed_runs(judged: &Judged) -> Option<String> {
    let is_lossy = |one: &&JudgedBenchmark| {
        one.lost_slots > 0 && !matches!(one.state, BenchmarkState::Failed { .. })
    };
    let own: Vec<&JudgedBenchmark> = judged.benchmarks.iter().filter(is_lossy).collect();
    let number: u32 = own.iter().map(|one| one.lost_slots).sum();
    let first = own.first()?;
    let why = cut(first.lost_because.as_deref().unwrap_or("reason not kept"));
    let failed = counted(number as usize, "failed run");
    Some(format!("Left out: {failed} of {}; the first: {why}.", short_names(own)))
}

/// The first remarks on the builds, and how many more there are.
fn remarks(judged: &Judged) -> Vec<String> {
    let mut all: Vec<String> =
        judged.remarks.iter().take(REMARKS).map(|remark| format!("{remark}.")).collect();
    let more = judged.remarks.len().saturating_sub(REMARKS);
    if more > 0 {
        all.push(format!("{} in the run file (-o FILE.json).", counted(more, "more remark")));
    }
    all
}

/// What would have been seen, and how far the base differs from itself.
fn seen(judgment: &Judgment) -> Vec<String> {
    let mut lines = Vec::new();
    let same = judgment.rows_with(BenchmarkAnswer::NotShown).len();
    if let Some([all, half]) = judgment.detectable() {
        let half = match judgment.rows.len() {
            1 => String::new(),
            _ => format!(" (median benchmark {})", bound(half)),
        };
        let same = match same {
            0 => String::new(),
            n => format!("No change shown in {}. ", counted(n, "benchmark")),
        };
        lines.push(format!("{same}Smallest detectable change: {}{half}.", bound(all)));
    }
    if let Some(worst) = judgment.worst_control() {
        let ratio = worst.control.map_or(1.0, |control| control.value);
        let quiet = judgment.rows.iter().filter(|row| row.rule == SlotRule::Medians).count();
        let rule = match judgment.rows.len() - quiet {
            0 => "host quiet: medians compared".to_owned(),
            _ if quiet == 0 => "host noisy: low ends compared".to_owned(),
            noisy => format!("low ends compared in {noisy}, medians in {quiet}"),
        };
        lines.push(format!(
            "Control (base against base): at most {} (`{}`); {rule}.",
            change(ratio.max(1.0 / ratio)).trim_start_matches('+'),
            shortened(&worst.name, NAME)
        ));
    }
    lines
}

/// Whether there are more slow processes, which the low end does not see: the benchmark where it is most so.
fn slow_processes(judgment: &Judgment) -> Option<String> {
    let slower = judgment.rows.iter().filter_map(|row| Some((row, row.tails?)));
    let mut slower: Vec<_> = slower.collect();
    slower.sort_by(|(_, a), (_, b)| (b.head - b.base).total_cmp(&(a.head - a.base)));
    let (row, slow) = slower.first()?;
    let more = match slower.len() - 1 {
        0 => String::new(),
        n => format!("; also in {n} more (--json lists all)"),
    };
    Some(format!(
        "Tails (no verdict by itself): base {}, head {} of processes slower than {} in `{}`{more}.",
        percent(slow.base),
        percent(slow.head),
        time(slow.limit_ns),
        shortened(&row.name, NAME)
    ))
}

/// What was compared, and where.
fn facts(judged: &Judged, judgment: &Judgment, run: &Run) -> String {
    let builds = judged.builds.each_ref().map(|build| match &build.commit {
        Some(commit) if !build.label.starts_with(commit.get(..7).unwrap_or(commit)) => {
            format!("{} ({})", build.label, commit.get(..10).unwrap_or(commit))
        }
        _ => build.label.clone(),
    });
    let [base, head] = builds;
    let rounds = match judgment.rows.iter().map(|row| row.rounds).max() {
        Some(rounds) => format!(
            "up to {rounds} rounds of new processes, shuffled, in {}; ",
            rounded(run.wall_ms)
        ),
        None => String::new(),
    };
    format!(
        "base {base}, head {head}; {rounds}at most {} of unchanged suites alarm; {}",
        limit(judgment.level),
        run.machine.one_line()
    )
}
