//! Results to stdout.

use crate::REFUSED;
use crate::arguments::run_json::RunJson;
use crate::arguments::{Color, Look};
use anyhow::Context;
use model::json::to_indented_json;
use model::run::Run;
use model::story::Block;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::time::Duration;
use store::exchange::export;
use view::render;
use view::terminal::Screen;

/// The reader of standard output ended (`latlas list | head`): exit code 2, without a message.
#[derive(thiserror::Error, Debug)]
#[error("the reader of standard output ended")]
pub struct ReaderLeft;

/// Prints a result.
///
/// # Errors
/// [`ReaderLeft`]; that standard output can't be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints a value as JSON, or else this text.
pub fn print_json_or(
    json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    match json {
        true => print(&(to_indented_json(value)? + "\n")),
        false => print(&text()),
    }
}

/// Prints values as JSON, a line each.
pub fn print_lines<T: Serialize>(values: impl Iterator<Item = T>) -> anyhow::Result<()> {
    let line = |value| Ok(serde_json::to_string(&value)? + "\n");
    print(&values.map(line).collect::<anyhow::Result<String>>()?)
}

/// Prints blocks as wide as stdout is.
pub fn show(blocks: &[Block], color: Color) -> anyhow::Result<()> {
    print(&view::terminal::blocks_text(blocks, screen(color)))
}

/// The same, through a pager where that is longer than the terminal.
pub fn show_paged(blocks: &[Block], look: &Look) -> anyhow::Result<()> {
    let text = view::terminal::blocks_text(blocks, screen(look.color));
    match !look.no_pager && crate::pager::paged(&text) {
        true => Ok(()),
        false => print(&text),
    }
}

/// Blocks as text without colors.
pub fn plain(blocks: &[Block]) -> String {
    view::terminal::blocks_text(blocks, screen(Color::Never))
}

/// Prints blocks to stderr, as wide as stdout is.
pub fn show_error(blocks: &[Block], color: Color) {
    let color = colored(color, std::io::stderr().is_terminal());
    print_error(&view::terminal::blocks_text(blocks, Screen { columns: columns(), color }));
}

/// Prints a value as JSON, or else these blocks.
pub fn show_json_or(
    json: bool,
    value: &impl Serialize,
    color: Color,
    blocks: impl FnOnce() -> Vec<Block>,
) -> anyhow::Result<()> {
    print_json_or(json, value, || view::terminal::blocks_text(&blocks(), screen(color)))
}

fn screen(color: Color) -> Screen {
    Screen { columns: columns(), color: colored(color, std::io::stdout().is_terminal()) }
}

pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
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
pub fn end_with(answer: &clap::Error) -> ! {
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

/// Prints why a request can't be carried out, except where the reader of standard output has left; the exit code.
pub fn refused(error: &anyhow::Error) -> u8 {
    if error.is::<ReaderLeft>() {
        return REFUSED;
    }
    // It may quote a document, whose control characters must not reach the terminal.
    let text = format!("latlas: {error:#}");
    for line in text.lines() {
        print_error(&(harmless(line) + "\n"));
    }
    REFUSED
}

/// Ends where an allocation fails. Nothing may be allocated, and no lock be waited for.
pub fn out_of_memory(bytes: usize) -> ! {
    let mut text = [0; 96];
    let mut left = &mut text[..];
    let _ = writeln!(left, "latlas: out of memory: can't allocate {bytes} bytes");
    let length = 96 - left.len();
    sys::process::end_with(&text[..length], REFUSED)
}

/// Prints a message on stderr, a line that begins with the program's name.
pub fn message(text: impl std::fmt::Display) {
    print_error(&format!("latlas: {text}\n"));
}

/// A measurement that takes longer says so before it begins.
const LONG: Duration = Duration::from_secs(10);

/// Says how long a measurement takes, if that is long; `more` stands after the time.
pub fn announce(takes: Duration, more: impl std::fmt::Display) {
    if takes > LONG {
        let seconds = takes.as_secs_f64().round();
        message(format_args!(
            "takes about {seconds} s{more}; press Ctrl-C to stop and print results so far"
        ));
    }
}

/// Prints text on stderr. Errors (a closed pipe, a full disk) are no reason to stop.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The Run document as a line of JSON.
pub fn document(run: &Run) -> anyhow::Result<String> {
    Ok(String::from_utf8(store::to_json(run)?)? + "\n")
}

/// The run as JSON of this form.
pub fn run_json(run: &Run, form: RunJson) -> anyhow::Result<String> {
    match form {
        RunJson::Document => document(run),
        RunJson::Rows => Ok(export::row_objects(run, published_members(run))?),
    }
}

/// What is published of a row, as members of its JSON object, by its id; a damaged reference is a message.
pub fn published_members(run: &Run) -> impl Fn(&str) -> Map<String, Value> + use<> {
    let published = render::published_fields(run).unwrap_or_else(|damaged| {
        message(format_args!("{damaged}"));
        Vec::new()
    });
    move |id| {
        let of_row = published.iter().find(|(row, _)| row == id);
        match of_row.map(|(_, of)| serde_json::to_value(of)) {
            Some(Ok(Value::Object(members))) => members,
            _ => Map::new(),
        }
    }
}

/// A text of a document with control characters escaped.
pub fn harmless(text: &str) -> String {
    model::printable::visible(text)
}

/// Columns of a page where neither COLUMNS nor a terminal sets them.
const COLUMNS: usize = 80;
/// No page is narrower or wider.
const LEAST_AND_MOST: (usize, usize) = (40, 250);

/// Columns of a page on stdout: what COLUMNS says, else the terminal's.
pub fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok();
    let asked = asked.and_then(|text| text.trim().parse::<usize>().ok());
    let terminal = || Some(usize::from(console::Term::stdout().size_checked()?.1));
    let (least, most) = LEAST_AND_MOST;
    asked.or_else(terminal).unwrap_or(COLUMNS).clamp(least, most)
}

/// Whether stdout is a terminal with the columns that a page usually has.
pub fn is_roomy_terminal() -> bool {
    std::io::stdout().is_terminal() && columns() >= COLUMNS
}

/// Whether stdout gets colors (<https://no-color.org>).
fn colored(color: Color, is_terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !set("NO_COLOR") && !dumb
        }
    }
}
