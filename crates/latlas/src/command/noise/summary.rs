//! What was set and restored, in lines.

use noise::tune::{Applied, BackOutcome, Restored, SetOutcome};
use std::fmt::Write;

/// Consecutive lines that differ in their file only are joined: a machine has
/// many interrupts.
struct Lines {
    text: String,
    /// Everything of the line but the file, the first file, and how many more.
    open: Option<(String, String, usize)>,
}

impl Lines {
    fn new() -> Lines {
        Lines { text: String::new(), open: None }
    }

    fn add_line(&mut self, said: String, what: &str) {
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

    fn finish(mut self) -> String {
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
        lines.add_line(said, &one.what);
    }
    lines.finish()
}

/// What was restored, and what was not.
pub(super) fn restored(restored: &Restored) -> String {
    if let Some(aside) = &restored.of_another_boot {
        let care = match restored.unchecked {
            true => {
                "; it has no checksum: if this machine has not rebooted since the tune, set its \
                 values by hand"
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
            BackOutcome::Restored => format!("restored  {control:<18} {old}"),
            BackOutcome::ChangedByOthers(now) => format!(
                "kept      {control:<18} another process set it to {now:?}; before the tune it was {old:?}"
            ),
            BackOutcome::Gone => format!("gone      {control:<18} the file no longer exists"),
            BackOutcome::Failed(why) => format!("NOT RESTORED {control:<15} {old}: {why}"),
        };
        lines.add_line(said, &one.what);
    }
    let mut text = lines.finish();
    if restored.torn {
        text += "the last record of the journal was incomplete: its step is restored as an \
                 interrupted one\n";
    }
    if restored.unchecked {
        text += "the journal of an earlier latlas has no checksums: check the values above\n";
    }
    for remark in &restored.remarks {
        text += remark;
        text.push('\n');
    }
    if restored.pending {
        text += "values not restored stay in the journal: run latlas noise restore again\n";
    }
    text
}

/// A journal that an earlier boot left.
pub(super) fn of_another_boot(aside: &str) -> String {
    format!(
        "a journal of an earlier boot was set aside as {aside}: the kernel started with its own \
         values"
    )
}
