//! What stands below a published table: why figures are missing or doubtful,
//! what the publication says beside them, how to read it, what to do next.

use super::PublishedOptions;
use compare::references::Form;
use compare::tables::{Here, Measured, PublishedTable, TableRow};
use model::story::Block;

/// Ids in one advice, above which it names the table instead.
const NAMED: usize = 6;

/// Reasons with their numbers, and what was drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    reasons: Vec<String>,
    medians: Vec<String>,
    likes: bool,
    gnustep: bool,
    /// Rows that have their lines below them.
    explained: Vec<String>,
}

impl Notes {
    /// Number of the note that says why the row itself has no figure.
    pub(super) fn why(&mut self, row: &TableRow) -> Option<String> {
        match &row.reference_only {
            Some(why) => {
                Some(self.note_number(format!("one machine alone can't measure it: {why}")))
            }
            None => self.number_for(&row.here),
        }
    }

    /// Number of the note that says why there is no figure.
    pub(super) fn number_for(&mut self, here: &Here) -> Option<String> {
        match here {
            Here::Measured(_) => None,
            Here::Unavailable { reason } => {
                Some(self.note_number(format!("not available here: {reason}")))
            }
            Here::Invalid { reason } => Some(self.note_number(invalid(reason))),
            Here::NotMeasured { reason, .. } => Some(self.note_number(reason.clone())),
        }
    }

    fn note_number(&mut self, reason: String) -> String {
        let at = self.reasons.iter().position(|known| *known == reason);
        let at = at.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        format!("[{}]", at + 1)
    }

    /// Whether what is to know of a row does not stand in a table above. Ash's two have rows in
    /// common.
    pub(super) fn is_new(&mut self, row: &TableRow) -> bool {
        let is_new = !self.explained.contains(&row.id);
        if is_new {
            self.explained.push(row.id.clone());
        }
        is_new
    }

    /// Remembers a figure that was drawn.
    pub(super) fn remember_figure(&mut self, row: &TableRow, measured: &Measured) {
        if measured.figure == "typical" && !self.medians.contains(&row.name) {
            self.medians.push(row.name.clone());
        }
        self.likes |= !row.likes.is_empty();
        self.gnustep |= row.library.is_some();
    }

    /// The lines below the table.
    pub(super) fn below(&self, table: &PublishedTable, options: &PublishedOptions) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut say = |label: &str, text: &str| blocks.push(Block::labelled(label, text));
        for (at, reason) in self.reasons.iter().enumerate() {
            say(&format!("[{}] ", at + 1), reason);
        }
        for note in of_figures(table) {
            let about = format!("{}, {}", note.column, note.rows.join("; "));
            match note.doubt {
                true => say("? ", &format!("{about}: no ratio: {}", note.text)),
                false => say("note: ", &format!("{about}: {}", note.text)),
            }
        }
        if !self.medians.is_empty() {
            say("median: ", &self.medians.join("; "));
        }
        if let Some(advice) = again(table, options) {
            say("invalid: ", &advice);
        }
        if let Some(advice) = advice(table, options) {
            say("more: ", &advice);
        }
        say("", &legend(table, self));
        for (label, text) in sources(table) {
            say(label, &text);
        }
        blocks
    }
}

/// What a publication says of some rows of one column.
struct Note<'t> {
    column: &'t str,
    rows: Vec<&'t str>,
    text: &'t str,
    doubt: bool,
}

/// Doubts, and what the publications say beside their figures, each once.
fn of_figures(table: &PublishedTable) -> Vec<Note<'_>> {
    let mut notes: Vec<Note> = Vec::new();
    for row in table.rows() {
        for (column, published) in table.columns.iter().zip(&row.published) {
            let Some(published) = published else { continue };
            let column = super::column_name(&column.key);
            let texts = [(&published.doubtful, true), (&published.note, false)];
            for (text, doubt) in texts {
                let Some(text) = text else { continue };
                let same = |n: &&mut Note| n.column == column && n.text == text && n.doubt == doubt;
                match notes.iter_mut().find(same) {
                    // Ash's two tables have rows in common.
                    Some(known) if known.rows.contains(&row.name.as_str()) => {}
                    Some(known) => known.rows.push(&row.name),
                    None => notes.push(Note { column, rows: vec![&row.name], text, doubt }),
                }
            }
        }
    }
    notes
}

/// Why an invalid row has no figure.
pub(super) fn invalid(reason: &str) -> String {
    match reason {
        "" => "invalid in this run".into(),
        reason => format!("invalid in this run: {reason}"),
    }
}

/// How to measure again what is invalid.
fn again(table: &PublishedTable, options: &PublishedOptions) -> Option<String> {
    let invalid = known(table.invalid(), options);
    let key = &table.key;
    match invalid.as_slice() {
        [] => None,
        few if few.len() <= NAMED => Some(format!("measure again: latlas run {}", few.join(" "))),
        many => {
            Some(format!("{} rows; latlas table {key} --measure measures all again", many.len()))
        }
    }
}

/// Those that this program can measure.
fn known<'t>(mut ids: Vec<&'t str>, options: &PublishedOptions) -> Vec<&'t str> {
    if let Some(known) = options.measurable {
        ids.retain(|id| known.iter().any(|row| row == id));
    }
    ids
}

/// How to get the figures that are missing.
fn advice(table: &PublishedTable, options: &PublishedOptions) -> Option<String> {
    let missing = known(table.missing_rows(), options);
    let key = &table.key;
    match missing.as_slice() {
        [] => None,
        few if few.len() <= NAMED => Some(format!(
            "not measured yet: latlas table {key} --measure, or latlas run {}",
            few.join(" ")
        )),
        many => Some(format!(
            "{} rows are not measured yet: latlas table {key} --measure measures what the table \
             needs",
            many.len()
        )),
    }
}

fn legend(table: &PublishedTable, notes: &Notes) -> String {
    let figure = match table.form {
        Form::Costs => "each",
        Form::Columns | Form::Qos => "here",
    };
    let medians = match notes.medians.is_empty() {
        true => "",
        false => ", or the median of all operations for the rows listed after \"median\"",
    };
    let mut published = table.rows().flat_map(|row| row.published.iter().flatten());
    let doubt = match published.any(|published| published.doubtful.is_some()) {
        true => "; ? doubtful, no ratio",
        false => "",
    };
    let mut text = format!(
        "{figure} ±: cost on the undisturbed machine (quiet){medians}; half of its 95 % interval. \
         After a published figure: this machine / published{doubt}."
    );
    if table.form == Form::Costs {
        text.push_str(
            " iterations, total s: timed operations and their time, loops included, from the run's \
             samples.",
        );
    }
    if notes.likes {
        text.push_str(
            " ~: figure of the row named below, which does the same job through other code; no ratio.",
        );
    }
    if notes.gnustep {
        text.push_str(
            " (GNUstep): by GNUstep's code where the publication called Apple's, ~ before its ratio.",
        );
    }
    text
}

/// Who published the columns and how they were measured, each said once.
fn sources(table: &PublishedTable) -> Vec<(&'static str, String)> {
    let mut known: Vec<(&'static str, String)> = Vec::new();
    for column in &table.columns {
        let method = column.method.clone().map(|method| ("measured: ", method));
        let source = ("source: ", column.source.clone());
        for line in method.into_iter().chain([source]) {
            if !known.contains(&line) {
                known.push(line);
            }
        }
    }
    known
}
