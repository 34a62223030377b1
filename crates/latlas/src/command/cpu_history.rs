//! `latlas history --cpus`: what each CPU does over time. `live.rs` draws it as it happens.

mod live;

use super::recorded::{Destination, about};
use crate::arguments::history::HistoryOptions;
use crate::arguments::run_json::RunJsonOptions;
use crate::ending::{self, Ending};
use crate::output;
use ::trace::record::ended_as;
use anyhow::{Context, bail};
use meter::cpu_history::CpuRecording;
use model::figure::time;
use model::recording::Recording;
use model::run::Run;
use model::trace::Ended;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use sys::attached::{Held, Started};
use view::render::Options;

/// Without a limit and a command.
const USUAL: Duration = Duration::from_secs(10);

/// Length of the intervals that are recorded.
const EVERY: Duration = Duration::from_millis(100);

/// Of these a recording is written.
const WRITTEN: [Ending; 6] =
    [Ending::Html, Ending::Svg, Ending::Png, Ending::Pdf, Ending::Json, Ending::Zst];

/// Records all CPUs, prints and writes what they did.
pub(super) fn cpu_history(options: &HistoryOptions) -> anyhow::Result<ExitCode> {
    let recording = &options.recording;
    if options.live {
        return live::live_cpus(recording);
    }
    // What a name leaves open may have been meant as a picture.
    recording.out.iter().try_for_each(|path| ending::one_of(path, &WRITTEN).map(|_| ()))?;
    let json = RunJsonOptions { json: options.json, document: options.document }.form();
    let how = (json, options.color, Options::default());
    let destination = Destination::check_outputs(&recording.out, &WRITTEN, false, how)?;
    let machine = sys::machine_facts(Path::new("/"));
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let every = recording.every.unwrap_or(EVERY);
    // From here on a key or a signal waits until the recording is written.
    let held = sys::attached::hold().context("can't hold signals back")?;
    let started = CpuRecording::start_recording(every, machine.core_kinds.clone());
    let started = started.with_context(|| format!("can't record {}", sys::cpu_times::SOURCE))?;
    let ended = match recording.words.is_empty() {
        true => waited(&held, recording.limit.unwrap_or(USUAL)),
        false => ran(&held, &recording.words, recording.limit, json.is_some())?,
    };
    let mut history = started.stop()?;
    history.ended = ended;
    let words = recording.words.iter().map(|word| word.to_string_lossy().into_owned());
    history.command = Some(words.collect()).filter(|words: &Vec<String>| !words.is_empty());
    // Standard output is the command's.
    let how = (history.command.is_none(), !history.is_empty());
    let about = about(machine, started_unix_ms, began_ns);
    destination.finish(&Run::recorded(about, Recording::CpuHistory(history), None), how)
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
    let started = held.start_command(&mut command, &[]);
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
