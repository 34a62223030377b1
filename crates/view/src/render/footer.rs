//! What a reader must know beside the figures, how much of them is to be
//! relied on, and where they are kept.

use super::{Options, header};
use crate::grouped::grouped;
use model::estimate::Estimate;
use model::gate::GateState;
use model::phrases::{several, short_id};
use model::run::{Outcome, Row, Run};
use model::story::{Block, Note, Tone};
use model::tally::tally;
use std::collections::HashMap;
use store::not_whole;

/// Row names given with a note before it says how many more.
const NAMED: usize = 2;
/// Notes of one subject that are told as one line, unless every column is
/// asked for.
const MANY: usize = 3;

/// The lines below the table.
pub(super) fn footer(run: &Run, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut say = |label: &str, text: &str| blocks.push(Block::labelled(label, text));
    let notes = match options.wide {
        true => notes(run),
        false => gathered(notes(run)),
    };
    for (note, rows) in notes {
        say("note: ", &format!("{note} ({})", rows_named(&rows, run.rows.len())));
    }
    say("rows: ", &tally_line(run));
    blocks.extend(kept_note(run, options));
    let legend = match (&run.commands, run.is_of_recording()) {
        (Some(_), _) => COMMANDS,
        (_, true) => RECORDED,
        (_, false) => LEGEND,
    };
    blocks.extend(keys(run, options, legend));
    if run.rows.iter().any(is_stamped) {
        blocks.push(Block::text(STAMPED));
    }
    if let Some(quiet) = quiet_unknown(run) {
        blocks.push(Block::Note(Note { tone: Tone::Dim, ..Note::new("quiet: ", quiet) }));
    }
    blocks
}

/// Where the run is kept, if it is.
pub(super) fn kept_note(run: &Run, options: &Options) -> Option<Block> {
    let place = options.kept.as_ref()?;
    let id = short_id(&run.id);
    let text = match not_whole(run) {
        None => place.clone(),
        Some(why) => {
            format!("{place} ({why}: show it with `latlas show {id}`)")
        }
    };
    Some(Block::labelled("kept: ", text))
}

/// One line on what to do where the canaries could not be read as usual.
fn quiet_unknown(run: &Run) -> Option<&'static str> {
    match run.gate.state {
        GateState::WithoutCapacity => {
            Some("memory-only load of neighbours goes undetected (L1 capacity can't be read here)")
        }
        GateState::NeverQuiet if header::is_emulated(run) => {
            Some("no quiet figures: interference can't be detected under emulation")
        }
        GateState::NeverQuiet if run.gate.quiet_ratio.is_none() => Some(
            "no reference timings for this CPU: run again on an idle machine, or report this CPU",
        ),
        _ => None,
    }
}

/// What a larger run would add, and what the columns are.
pub(super) fn keys(run: &Run, options: &Options, legend: &str) -> Vec<Block> {
    let more = options.full_adds.as_ref();
    let mut blocks: Vec<Block> = more
        .map(|more| Block::labelled("more: ", format!("--full adds {more}")))
        .into_iter()
        .collect();
    if run.rows.iter().any(|row| row.estimate().is_some()) {
        blocks.push(Block::text(legend));
        blocks.extend(clock_movement(run).map(Block::text));
    }
    if run.program.is_for_apple() && run.rows.iter().any(is_stamped) {
        blocks.push(Block::text(WAITS_UNCOUNTED));
    }
    if options.human {
        blocks.push(Block::text("1ns=1s: the time if a nanosecond were a second."));
    }
    if options.frames {
        blocks.push(Block::text("frame: how many fit into one frame at 60 Hz, 16.67 ms."));
    }
    blocks
}

/// How far the core clock moves between runs, where that is in intervals of the run.
fn clock_movement(run: &Run) -> Option<String> {
    let movement = run.core_clock.as_ref()?.between_runs?;
    let in_interval = |row: &Row| {
        let mut figures = row.figures().into_iter();
        figures.any(|figure| {
            let quiet = figure.estimate.quiet;
            quiet.is_some_and(|quiet| quiet.clock_movement.is_some())
        })
    };
    let stated = run.rows.iter().any(in_interval);
    stated.then(|| format!("* includes the core clock's movement between runs, {movement}."))
}

const LEGEND: &str = "quiet ±: cost on the undisturbed machine, half of its 95 % interval (* in ns at \
    the clock of this run: compare runs in cycles). typical: median [10-90 %]. After a published \
    figure: how this machine compares (~ same job through other code, ? doubtful). Details: `latlas \
    explain ROW`.";

const RECORDED: &str = "typical ±: half of its 95 % interval, [10-90 %] of the samples. Shares of time \
    are parts of 1.";

const COMMANDS: &str = "median ±: half of its 95 % interval, by order statistics and by parts of \
    the run. wall: from before the fork to the exit; start: until the program is loaded. user, \
    system, voluntary, involuntary, peak memory (of the largest process, not the sum): of the \
    command and all waited-for descendants. Other rows: counters from the program's first \
    instruction on, all descendants included. Outliers (beyond 1.5 interquartile ranges) are \
    counted and kept. Details: `latlas help exec`.";

/// What is not known of single operations where the kernel doesn't count run delay.
const WAITS_UNCOUNTED: &str = "Single operations: this system doesn't count how long threads wait for a CPU; \
     a time may be in part such a wait.";

const STAMPED: &str = "Single operations: modes (same CPU, other CPU) with median and share. p99 ±: 99th \
    percentile, half of its 95 % interval (its ends where they lie unevenly); max: of all samples \
    in that time.";

/// Whether a row says something of modes or a tail.
fn is_stamped(row: &Row) -> bool {
    let has = |estimate: &Estimate| estimate.tail.is_some() || estimate.modes.len() > 1;
    match &row.outcome {
        Outcome::Figure(estimate) | Outcome::Level { estimate, .. } => has(estimate),
        Outcome::Curve { points, .. } => points.iter().any(|p| has(&p.estimate)),
        Outcome::Map { points, .. } => points.iter().any(|p| has(&p.estimate)),
        Outcome::Unavailable { .. } => false,
    }
}

fn tally_line(run: &Run) -> String {
    let tally = tally(run);
    let mut parts = Vec::new();
    if tally.rows.total() > 0 {
        parts.push(tally.rows.to_string());
    }
    if tally.unavailable > 0 {
        parts.push(format!("{} not available here", tally.unavailable));
    }
    if tally.points.total() > 0 {
        parts.push(format!("points of curves: {}", tally.points.tally_text()));
    }
    match parts.is_empty() {
        true => "none".into(),
        false => parts.join("; "),
    }
}

/// Each note once, with the rows it stands in.
fn notes(run: &Run) -> Vec<(String, Vec<&str>)> {
    let all = run.rows.iter().flat_map(|row| {
        let notes = row.notes.iter();
        notes.map(|note| (note.clone(), row.id.as_str()))
    });
    let mut notes = grouped(all);
    notes.iter_mut().for_each(|(_, rows)| rows.dedup());
    notes
}

/// What stands before the figure of a note.
fn subject(note: &str) -> &str {
    note.split_once(": ").map_or(note, |(subject, _)| subject)
}

/// Notes of one subject as one, where there are many: it says what the rows
/// are asked about, and that each has an answer of its own.
fn gathered(notes: Vec<(String, Vec<&str>)>) -> Vec<(String, Vec<&str>)> {
    let mut alike: HashMap<&str, usize> = HashMap::new();
    for (note, _) in &notes {
        *alike.entry(subject(note)).or_default() += 1;
    }
    let many = |note: &str| alike.get(subject(note)).is_some_and(|&count| count >= MANY);
    let said = notes.iter().map(|(note, rows)| match many(note) {
        true => (format!("{}: differs by row, see --wide", subject(note)), rows.clone()),
        false => (note.clone(), rows.clone()),
    });
    let said = grouped(said).into_iter();
    said.map(|(note, rows)| (note, rows.concat())).collect()
}

/// All rows are not named.
fn rows_named(rows: &[&str], all: usize) -> String {
    match rows.len() == all && all > NAMED {
        true => "all rows".into(),
        false => several(rows, NAMED),
    }
}

/// What to type next: each command up to its closing quote and what it is.
pub(super) fn next_commands<const N: usize>(options: &Options, commands: [&str; N]) -> Block {
    let commands = |before: &str| commands.map(|words| format!("`{before}{words}")).join(", ");
    Block::text(match &options.program {
        None => format!("Next: {}", commands("latlas ")),
        // A path of its own is long.
        Some(program) => format!("Next, after `{program}`: {}", commands("")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::plain;
    use model::core_clock::{ClockMovement, MovementSource};
    use model::synthetic;

    fn footer_text(run: &Run) -> String {
        plain(&footer(run, &Options::default()))
    }

    #[test]
    fn many_answers_to_one_question_are_one_line() {
        let note = |text: &str, row| (text.to_string(), vec![row]);
        let notes = vec![
            note("switches: 2.00", "a"),
            note("on base pages", "b"),
            note("switches: 1.97", "b"),
            note("path: /x", "b"),
            note("switches: 1.10", "c"),
            note("path: /y", "c"),
        ];
        assert_eq!(
            gathered(notes),
            [
                ("switches: differs by row, see --wide".to_string(), vec!["a", "b", "c"]),
                note("on base pages", "b"),
                note("path: /x", "b"),
                note("path: /y", "c"),
            ]
        );
    }

    #[test]
    fn a_system_that_counts_no_waits_says_so_of_single_operations() {
        let mut run = synthetic::run();
        let said = |run: &Run| footer_text(run).contains("wait for a CPU");
        assert!(!said(&run));
        run.program.target = "aarch64-apple-darwin".into();
        assert!(said(&run));
        run.rows = run.rows.iter().filter(|row| !is_stamped(row)).cloned().collect();
        assert!(!said(&run));
    }

    #[test]
    fn modes_and_tails_are_explained_where_there_are_any() {
        let mut run = synthetic::run();
        let said = |run: &Run| footer_text(run).contains("Single operations");
        assert!(said(&run));
        run.rows.retain(|row| !is_stamped(row));
        assert!(!said(&run));
    }

    #[test]
    fn the_clocks_movement_is_stated_where_intervals_include_it() {
        let mut run = synthetic::run();
        let clock = run.core_clock.as_mut().expect("a clock");
        clock.between_runs = Some(ClockMovement {
            relative: 0.031,
            source: MovementSource::Stored { runs: 12, pairs: 66 },
        });
        let said = "* includes the core clock's movement between runs, ±3.1 % (12 stored runs).";
        assert!(!footer_text(&run).contains("movement"), "no interval includes it");
        let outcomes = run.rows.iter_mut().map(|row| &mut row.outcome);
        for outcome in outcomes {
            if let Outcome::Figure(Estimate { quiet: Some(quiet), .. }) = outcome {
                quiet.clock_movement = Some(0.031);
            }
        }
        let text = footer_text(&run).replace('\n', " ");
        assert!(text.contains(said), "{text}");
    }

    #[test]
    fn one_dim_line_says_what_to_do_where_quiet_is_not_known() {
        let mut run = synthetic::run();
        assert!(!footer_text(&run).contains("quiet: "));
        run.gate.state = GateState::NeverQuiet;
        assert!(!footer_text(&run).contains("quiet: "), "the first line says it");
        run.gate.quiet_ratio = None;
        let last = |run: &Run| footer_text(run).lines().last().unwrap_or_default().to_string();
        assert!(last(&run).starts_with("quiet: no reference timings for this CPU"));
        assert!(header::warnings(&run).is_empty());
        run.program.emulated = Some("qemu-user".into());
        assert!(last(&run).contains("under emulation"));
    }

    #[test]
    fn a_note_of_many_rows_stands_once() {
        let mut run = synthetic::run();
        for row in &mut run.rows {
            row.notes = vec!["Measured on base pages.".into()];
        }
        run.rows[0].notes.push("Only here.".into());
        let text = footer_text(&run);
        assert_eq!(text.matches("Measured on base pages.").count(), 1, "{text}");
        assert!(text.contains("(all rows)"), "{text}");
        assert!(text.contains(&format!("Only here. ({})", run.rows[0].id)), "{text}");
    }
}
