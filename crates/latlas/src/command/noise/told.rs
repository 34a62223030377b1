//! What was set and put back, in lines.

use noise::tune::{Applied, BackOutcome, Restored, SetOutcome};
use std::fmt::Write;

/// Lines alike, one after the other, become one: a machine has many
/// interrupts.
struct Lines {
    text: String,
    /// Everything of the line but the file, the first file, and how many more.
    open: Option<(String, String, usize)>,
}

impl Lines {
    fn new() -> Lines {
        Lines {
            text: String::new(),
            open: None,
        }
    }

    fn add(&mut self, said: String, what: &str) {
        match &mut self.open {
            Some((before, _, more)) if *before == said => *more += 1,
            _ => {
                self.close();
                self.open = Some((said, what.to_owned(), 0));
            }
        }
    }

    fn close(&mut self) {
        let Some((said, what, more)) = self.open.take() else {
            return;
        };
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        // Writing to a text can't fail.
        let _ = writeln!(self.text, "{said} ({what}{more})");
    }

    fn end(mut self) -> String {
        self.close();
        self.text
    }
}

/// What was set, and what was not.
pub(super) fn applied(applied: &[Applied]) -> String {
    let mut lines = Lines::new();
    for one in applied {
        let (control, wanted) = (&one.control, &one.wanted);
        let change = match &one.old {
            Some(old) => format!("{old} -> {wanted}"),
            None => wanted.clone(),
        };
        let said = match &one.outcome {
            SetOutcome::Set => format!("set       {control:<18} {change}"),
            SetOutcome::Already => format!("unchanged {control:<18} {wanted}"),
            SetOutcome::Failed(why) => format!("not set   {control:<18} {change}: {why}"),
        };
        lines.add(said, &one.what);
    }
    lines.end()
}

/// What was put back, and what was not.
pub(super) fn restored(restored: &Restored) -> String {
    if let Some(aside) = &restored.of_another_boot {
        let care = match restored.unchecked {
            true => {
                "; it has no checksum: if this machine has not been started anew since the tune, \
                 look at it and set its values by hand"
            }
            false => "",
        };
        return of_another_boot(aside) + care + "\n";
    }
    let mut lines = Lines::new();
    for one in &restored.values {
        let control = &one.control;
        let old = one.old.as_deref().unwrap_or("removed");
        let said = match &one.outcome {
            BackOutcome::Restored => format!("put back  {control:<18} {old}"),
            BackOutcome::ChangedByOthers(now) => format!(
                "left      {control:<18} somebody else set it to {now:?} meanwhile; before the tune it was {old:?}"
            ),
            BackOutcome::Gone => format!("gone      {control:<18} it is not there any more"),
            BackOutcome::Failed(why) => format!("NOT BACK  {control:<18} {old}: {why}"),
        };
        lines.add(said, &one.what);
    }
    let mut text = lines.end();
    if restored.torn {
        text += "the last record of the journal was half-written and is cut off: its step is put back \
                 as one that was broken off\n";
    }
    if restored.unchecked {
        text += "the journal was written by an earlier latlas and has no checksum: compare the values \
                 above with what you expect\n";
    }
    for remark in &restored.remarks {
        text += remark;
        text.push('\n');
    }
    if restored.pending {
        text += "what is not back stays in the journal: see why, then run latlas noise restore\n";
    }
    text
}

/// A journal that an earlier boot left.
pub(super) fn of_another_boot(aside: &str) -> String {
    format!(
        "the journal that was there is of an earlier boot: the kernel began with its own values, \
         nothing of it is applied; it is kept as {aside}"
    )
}
