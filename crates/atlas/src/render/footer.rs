//! What a reader must know beside the figures, how much of them is to be
//! relied on, and where they are kept.

use super::layout::wrap;
use super::{COLUMNS, Options, tally};
use model::estimate::Estimate;
use model::run::{Outcome, Row, Run};

/// Row names given with a note before it says how many more.
const NAMED: usize = 2;

/// The lines below the table.
pub(super) fn footer(run: &Run, options: &Options) -> String {
    let mut lines = Vec::new();
    let mut say = |lead: &str, text: &str| lines.extend(wrap(lead, text, COLUMNS));
    for (note, rows) in notes(run) {
        say(
            "note: ",
            &format!("{note} ({})", named(&rows, run.rows.len())),
        );
    }
    say("rows: ", &counts(run));
    if let Some(place) = &options.kept {
        say("kept: ", place);
    }
    if let Some(more) = &options.full_adds {
        say("more: ", &format!("--full adds {more}"));
    }
    say("", LEGEND);
    if run.rows.iter().any(is_stamped) {
        say("", STAMPED);
    }
    if options.human {
        say("", "1ns=1s: the time if a nanosecond were a second.");
    }
    if options.frames {
        say("", "frame: how many fit into one frame at 60 Hz, 16.67 ms.");
    }
    lines.join("\n") + "\n"
}

const LEGEND: &str = "quiet ±: cost on the undisturbed machine, half of its 95 % interval; ns hold for \
    this run's clock, so compare runs in cycles. typical: median [10-90 %]. Beside a published \
    figure: ours over theirs (~ same job through other code, ? doubtful). `latlas explain ROW` says \
    more.";

const STAMPED: &str = "Single operations: the modes that they ran in (same CPU, other CPU), each with \
    its median and share. p99 ±: 99 % of them take less, half of its 95 % interval (its ends where \
    it lies unevenly); longest: of so many in that time.";

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

fn counts(run: &Run) -> String {
    let tally = tally::tally(run);
    let mut parts = Vec::new();
    if tally.rows.total() > 0 {
        parts.push(tally.rows.text());
    }
    if tally.unavailable > 0 {
        parts.push(format!("{} not available here", tally.unavailable));
    }
    if tally.points.total() > 0 {
        parts.push(format!("points of curves: {}", tally.points.text()));
    }
    match parts.is_empty() {
        true => "none".into(),
        false => parts.join("; "),
    }
}

/// Each note once, with the rows it stands in.
fn notes(run: &Run) -> Vec<(&str, Vec<&str>)> {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &run.rows {
        for note in &row.notes {
            match notes.iter_mut().find(|(text, _)| text == note) {
                Some((_, rows)) if rows.last() == Some(&row.id.as_str()) => {}
                Some((_, rows)) => rows.push(&row.id),
                None => notes.push((note, vec![&row.id])),
            }
        }
    }
    notes
}

fn named(rows: &[&str], all: usize) -> String {
    if rows.len() == all && all > NAMED {
        return "all rows".into();
    }
    let first = rows[..rows.len().min(NAMED)].join(", ");
    match rows.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::synthetic;

    #[test]
    fn modes_and_tails_are_explained_where_there_are_any() {
        let mut run = synthetic::run();
        let said = |run: &Run| footer(run, &Options::default()).contains("Single operations");
        assert!(said(&run));
        run.rows.retain(|row| !is_stamped(row));
        assert!(!said(&run));
    }

    #[test]
    fn a_note_of_many_rows_stands_once() {
        let mut run = synthetic::run();
        for row in &mut run.rows {
            row.notes = vec!["Measured on base pages.".into()];
        }
        run.rows[0].notes.push("Only here.".into());
        let text = footer(&run, &Options::default());
        assert_eq!(text.matches("Measured on base pages.").count(), 1, "{text}");
        assert!(text.contains("(all rows)"), "{text}");
        assert!(
            text.contains(&format!("Only here. ({})", run.rows[0].id)),
            "{text}"
        );
    }
}
