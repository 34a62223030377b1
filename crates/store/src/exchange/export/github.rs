//! Annotations of a GitHub workflow: commands on standard output
//! (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>). One says how many figures hold,
//! then a warning for each that doesn't; GitHub shows the first ten of a step.

use super::line::ExportLine;
use super::{LeftOut, Written};
use model::run::Run;
use std::fmt::Write;

/// The text, and what it has no place for.
pub(super) fn to_github(run: &Run, lines: &[ExportLine]) -> Written {
    let ok = lines.iter().filter(|line| line.is_ok()).count();
    let (warned, left_out): (Vec<&ExportLine>, Vec<LeftOut>) = warnings(lines);
    let mut text = String::new();
    let message = format!("{ok} of {} results can be relied on (run {})", lines.len(), run.id);
    let _ = writeln!(text, "::notice title=latlas::{}", data(&message));
    for line in warned {
        let title = property(&format!("latlas {}", line.unique_name()));
        let message = format!("{}: {}", line.verdict_text(), line.reason());
        let _ = writeln!(text, "::warning title={title}::{}", data(&message));
    }
    Ok((text, left_out))
}

/// Lines that are uncertain. What can't run on this machine is not to be mended by a change.
fn warnings<'l>(lines: &'l [ExportLine<'l>]) -> (Vec<&'l ExportLine<'l>>, Vec<LeftOut>) {
    let (mut warned, mut left_out) = (Vec::new(), Vec::new());
    for line in lines.iter().filter(|line| !line.is_ok()) {
        match line.estimate {
            Ok(_) => warned.push(line),
            Err(_) => left_out.push(line.left_out()),
        }
    }
    (warned, left_out)
}

/// The text behind `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
