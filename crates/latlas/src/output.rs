//! Results to stdout.

use crate::arguments::Color;
use anyhow::Context;
use atlas::store;
use model::run::Run;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints a result. A reader that has seen enough (`latlas list | head`) is no
/// failure; a full disk behind stdout is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same with any bytes.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("can't write to standard output"),
    }
}

/// Says something on stderr. Nobody may be there to hear it (a closed pipe, a
/// terminal that hung up, a full disk): no reason to stop.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// A run as it goes to stdout for programs: its document, in one line.
pub(crate) fn document(run: &Run) -> anyhow::Result<String> {
    Ok(String::from_utf8(store::to_json(run)?)? + "\n")
}

/// A text of a stranger's file without anything that a terminal would obey.
pub(crate) fn harmless(text: &str) -> String {
    atlas::text::visible(text)
}

/// Whether stdout gets colours (<https://no-color.org>).
pub(crate) fn colored(color: Color) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
        }
    }
}
