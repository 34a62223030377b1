//! Results to stdout.

use crate::arguments::Color;
use crate::{REFUSED, refused};
use anyhow::Context;
use model::run::Run;
use model::story::Block;
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::time::Duration;
use view::terminal::Screen;

/// The reader of standard output ended (`latlas list | head`): exit code 2, without a message.
#[derive(thiserror::Error, Debug)]
#[error("the reader of standard output ended")]
pub(crate) struct ReaderLeft;

/// Prints a result.
///
/// # Errors
/// [`ReaderLeft`]; that standard output can't be written.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints a value as JSON, or else this text.
pub(crate) fn print_json_or(
    json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    match json {
        true => written(|out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            out.write_all(b"\n")
        }),
        false => print(&text()),
    }
}

/// Prints blocks as wide as stdout is.
pub(crate) fn show(blocks: &[Block], color: Color) -> anyhow::Result<()> {
    print(&view::terminal::text(blocks, screen(color)))
}

/// Blocks as text without colors.
pub(crate) fn plain(blocks: &[Block]) -> String {
    view::terminal::text(blocks, screen(Color::Never))
}

/// Prints a value as JSON, or else these blocks.
pub(crate) fn show_json_or(
    json: bool,
    value: &impl Serialize,
    color: Color,
    blocks: impl FnOnce() -> Vec<Block>,
) -> anyhow::Result<()> {
    print_json_or(json, value, || view::terminal::text(&blocks(), screen(color)))
}

fn screen(color: Color) -> Screen {
    Screen { columns: columns(), color: colored(color) }
}

pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    written(|out| out.write_all(bytes))
}

fn written(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Err(ReaderLeft.into()),
        other => other.context("can't write to standard output"),
    }
}

/// Prints what clap answers to a command line (help or the version, or what is wrong with it), and
/// ends.
pub(crate) fn end_with(answer: &clap::Error) -> ! {
    let text = answer.render().to_string();
    let code = match answer.use_stderr() {
        true => {
            print_error(&text);
            REFUSED
        }
        false => print(&text).map_or_else(|error| refused(&error), |()| 0),
    };
    std::process::exit(code.into())
}

/// Ends where an allocation fails. Nothing may be allocated, and no lock be waited for.
pub(crate) fn out_of_memory(bytes: usize) -> ! {
    let mut text = [0; 96];
    let mut left = &mut text[..];
    let _ = writeln!(left, "latlas: out of memory: can't allocate {bytes} bytes");
    let length = 96 - left.len();
    sys::process::end_with(&text[..length], REFUSED)
}

/// Prints a message on stderr, a line that begins with the program's name.
pub(crate) fn message(text: impl std::fmt::Display) {
    print_error(&format!("latlas: {text}\n"));
}

/// A measurement that takes longer says so before it begins.
const LONG: Duration = Duration::from_secs(10);

/// Says how long a measurement takes, if that is long; `more` stands after the time.
pub(crate) fn announce(takes: Duration, more: impl std::fmt::Display) {
    if takes > LONG {
        let seconds = takes.as_secs_f64().round();
        message(format_args!(
            "takes about {seconds} s{more}; press Ctrl-C to stop and print results so far"
        ));
    }
}

/// Prints text on stderr. Errors (a closed pipe, a full disk) are no reason to stop.
pub(crate) fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The Run document as a line of JSON.
pub(crate) fn document(run: &Run) -> anyhow::Result<String> {
    Ok(String::from_utf8(store::to_json(run)?)? + "\n")
}

/// A text of a document with control characters escaped.
pub(crate) fn harmless(text: &str) -> String {
    model::text::visible(text)
}

/// Columns of a page where neither COLUMNS nor a terminal sets them.
const COLUMNS: usize = 80;
/// No page is narrower or wider.
const LEAST_AND_MOST: (usize, usize) = (40, 250);

/// Columns of a page on stdout: what COLUMNS says, else the terminal's.
pub(crate) fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.trim().parse::<usize>().ok());
    let terminal = || Some(usize::from(console::Term::stdout().size_checked()?.1));
    let (least, most) = LEAST_AND_MOST;
    asked.or_else(terminal).unwrap_or(COLUMNS).clamp(least, most)
}

/// Whether stdout gets colors (<https://no-color.org>).
fn colored(color: Color) -> bool {
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
