//! `latlas history --cpus`: what each CPU does over time.

use super::picture::{Paint, painted};
use crate::arguments::history::HistoryOptions;
use crate::ending::{self, Ending};
use crate::{UNRELIABLE, output};
use ::trace::record::ended_as;
use anyhow::{Context, bail};
use meter::cpu_history::CpuRecording;
use model::cpu_history::CpuHistory;
use model::figure::time;
use model::trace::Ended;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use store::Output;
use sys::attached::{Held, Started};
use view::render;

/// Without a limit and a command.
const USUAL: Duration = Duration::from_secs(10);

/// What a file is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Html,
    Json,
    Picture(Paint),
}

/// Of these a recording is written.
const WRITTEN: [Ending; 5] = [Ending::Html, Ending::Svg, Ending::Png, Ending::Pdf, Ending::Json];

/// Records all CPUs, prints and writes what they did.
pub(super) fn cpu_history(options: &HistoryOptions) -> anyhow::Result<ExitCode> {
    let recording = &options.recording;
    let mut files = Vec::new();
    for path in &recording.out {
        files.push((format(path)?, Output::open(path)?));
    }
    let machine = sys::machine(Path::new("/"));
    // From here on a key or a signal waits until the recording is written.
    let held = sys::attached::hold().context("can't hold signals back")?;
    let started = CpuRecording::start(recording.every, machine.core_kinds);
    let started = started.with_context(|| format!("can't record {}", sys::cpu_times::SOURCE))?;
    let ended = match recording.words.is_empty() {
        true => waited(&held, recording.limit.unwrap_or(USUAL)),
        false => ran(&held, &recording.words, recording.limit, options.json)?,
    };
    let mut history = started.stop()?;
    history.ended = ended;
    let words = recording.words.iter().map(|word| word.to_string_lossy().into_owned());
    history.command = Some(words.collect()).filter(|words: &Vec<String>| !words.is_empty());
    print(&history, options)?;
    for (format, file) in files {
        file.write(&bytes(&history, format)?)?;
    }
    Ok(match history.is_empty() {
        true => ExitCode::from(UNRELIABLE),
        false => ExitCode::SUCCESS,
    })
}

fn format(path: &Path) -> anyhow::Result<Format> {
    let ending = ending::one_of(path, &WRITTEN)?;
    Ok(match Paint::of(ending) {
        Some(paint) => Format::Picture(paint),
        None if ending == Ending::Html => Format::Html,
        None => Format::Json,
    })
}

/// Waits for the end of the time, or a request to end.
fn waited(held: &Held, limit: Duration) -> Ended {
    output::message(format_args!(
        "recording all CPUs for {}; Ctrl-C stops and prints",
        time(limit.as_nanos() as f64)
    ));
    let end = sys::later(Instant::now(), limit);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ended::Time;
        }
        if held.is_requested_within(left.min(Duration::from_millis(250))) {
            return Ended::Requested;
        }
    }
}

/// Runs the command to its end, or that of the time.
fn ran(
    held: &Held,
    words: &[OsString],
    limit: Option<Duration>,
    json: bool,
) -> anyhow::Result<Ended> {
    let Some((program, arguments)) = words.split_first() else {
        bail!("no command");
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if json {
        // Standard output is the document's.
        command.stdout(Stdio::from(std::io::stderr()));
    }
    let started = held.start(&mut command, &[]);
    let started = started.with_context(|| format!("can't start {}", program.to_string_lossy()))?;
    let Started::Running(mut running) = started else {
        bail!("interrupted before the command started");
    };
    let end = sys::later(Instant::now(), limit.unwrap_or(Duration::MAX));
    if let Some(status) = running.wait_until(end)? {
        return Ok(ended_as(status));
    }
    running.terminate();
    running.wait()?;
    Ok(Ended::Time)
}

fn print(history: &CpuHistory, options: &HistoryOptions) -> anyhow::Result<()> {
    let blocks = || render::cpu_history(history);
    if options.json || history.command.is_none() {
        return output::show_json_or(options.json, history, options.color, blocks);
    }
    // Standard output is the command's.
    output::print_error(&output::plain(&blocks()));
    Ok(())
}

fn bytes(history: &CpuHistory, format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Html => view::recorded::of_cpu_history(history).into_bytes(),
        Format::Json => serde_json::to_vec(history)?,
        Format::Picture(paint) => painted(&view::chart::of_cpu_history(history), paint)?,
    })
}
