//! `latlas trace`: what the threads of a command or a process did.

mod export;
pub(crate) mod row;

use super::recorded::about;
use super::{measured, named};
use crate::arguments::trace::{TraceCommand, TraceLook, TraceOptions};
use crate::progress::Bar;
use crate::{UNRELIABLE, ending, output};
use ::trace::record::{self, Request, Usdt};
use anyhow::{Context, bail};
use meter::plan;
use meter::probe::Probe;
use model::figure::time;
use model::recording::Recording;
use model::run::Run;
use model::trace::{Ended, Target, Trace};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Output, Store};
use view::render;

pub(crate) fn trace(catalogue: &[Probe], options: &TraceOptions) -> anyhow::Result<ExitCode> {
    match &options.what {
        None => recorded(catalogue, options),
        Some(TraceCommand::Show { file, json, look }) => {
            let path = found(file)?;
            // As JSON every character as it is; a pipe gives its bytes once.
            let run = match json {
                true => store::read_as_it_is(&path)?,
                false => store::read(&path)?,
            };
            let trace = trace_of(&run, file)?;
            check_stretch(look.stretch.ns(), Some(trace.duration_ns))?;
            match json {
                true => output::print(&output::document(&run)?)?,
                false => output::show(&blocks(trace, look), look.color)?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(TraceCommand::Diff { a, b, json, all, color }) => {
            let runs = [read(a)?, read(b)?];
            let [a, b] = [trace_of(&runs[0], a)?, trace_of(&runs[1], b)?];
            let difference = compare::traces::trace_difference(a, b);
            output::show_json_or(*json, &difference, *color, || {
                render::trace_difference(&difference, [a, b], *all)
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Some(TraceCommand::Export { file, out, stretch }) => {
            let format = export::format(out, stretch.ns())?;
            let run = read(file)?;
            let trace = trace_of(&run, file)?;
            check_stretch(stretch.ns(), Some(trace.duration_ns))?;
            let bytes = export::converted(trace, format)?;
            match ending::is_stdout(out) {
                true => output::print_bytes(&bytes)?,
                false => store::write_bytes(&bytes, out)?,
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn recorded(catalogue: &[Probe], options: &TraceOptions) -> anyhow::Result<ExitCode> {
    if options.row.is_none() && options.pid.is_none() && options.words.is_empty() {
        bail!("nothing to trace: name a row, or give a command after --, or --pid PID");
    }
    // `requires` of clap is not checked where the row conflicts with what is given.
    if options.row.is_none() {
        if options.tails {
            bail!("--tails needs a row, such as: latlas trace sched.pool --tails");
        }
        if options.operations.is_some() {
            bail!("--operations needs a row, such as: latlas trace sched.pool --operations 100");
        }
        if options.wait.no_wait {
            bail!("--no-wait needs a row: tracing a command or a process never waits");
        }
        if !options.packs.files.is_empty() {
            bail!("--pack needs a row of the pack to trace");
        }
    }
    let stretch = options.look.stretch.ns();
    check_stretch(stretch, None)?;
    if options.out.as_deref().is_some_and(ending::is_stdout) {
        bail!("--out needs the name of a file: `latlas trace export FILE -o -` prints one");
    }
    let out = options
        .out
        .as_deref()
        .map(|path| anyhow::Ok((export::recorded_format(path, stretch)?, Output::open(path)?)));
    let out = out.transpose()?;
    let machine = sys::machine(Path::new("/"));
    let asked = (options.operations, options.tails);
    let asked_for = plan::Request::default();
    let order = options.row.as_deref();
    let order = order.map(|name| row::order(catalogue, name, &asked_for, asked, &machine));
    let order = order.transpose()?;
    let request = Request {
        tier: options.tier.map(Into::into),
        scheduler_only: options.scheduler_only,
        interrupts: options.tails,
        stacks: options.stacks.map(Into::into),
        usdt: options.usdt.as_ref().map(|pattern| Usdt {
            program: options.words.first().and_then(|name| sys::command::find_program(name)),
            pattern: pattern.clone(),
        }),
        limit: options.limit,
        last: options.last,
        limit_bytes: options.buffer,
        ..row::request(&machine)?
    };
    let format = out.as_ref().and_then(|(format, _)| *format);
    check_tier(format, order.is_some(), options.pid, &request)?;
    let lock = order.as_ref().map(|order| {
        let measures = format!("latlas trace {}", order.name());
        measured::lock(&measures, None, options.wait)
    });
    let _lock = lock.transpose()?;
    // From here on a key or a signal waits until the trace is written.
    let held = sys::attached::hold().context("can't hold signals back")?;
    let (started_unix_ms, began_ns) = (sys::realtime_unix_ms(), sys::monotonic_raw_ns());
    let mut trace = match (&order, options.pid) {
        (Some(order), _) => {
            let bar = Bar::on_stderr();
            bar.message(&format!("tracing {}", order.progress()));
            let recorded = row::recorded(order, &held, &request);
            bar.clear();
            recorded.with_context(|| order.name().to_owned())?
        }
        (None, Some(id)) => record::process(id, &held, &request)?,
        (None, None) => record::command(&options.words, &held, &request)?,
    };
    let whole_ns = trace.duration_ns;
    // Other formats hold all of it.
    if out.as_ref().is_some_and(|(format, _)| format.is_none()) {
        trace.keep_what_fits(options.last.is_some());
    }
    if trace.duration_ns < whole_ns {
        let [kept, whole] = [trace.duration_ns, whole_ns].map(|ns| time(ns as f64));
        output::message(format_args!(
            "more was recorded than a trace can hold: {kept} of {whole} are kept"
        ));
    }
    let about = about(machine, started_unix_ms, began_ns);
    let run = Run::recorded(about, Recording::Trace(Box::new(trace)), None);
    let trace = trace_of(&run, Path::new(""))?;
    let written = out.map(|(format, file)| write(&run, trace, format, &file));
    let drawable = check_stretch(stretch, Some(trace.duration_ns));
    if drawable.is_ok() {
        let blocks = blocks(trace, &options.look);
        match (&order, options.pid) {
            // Standard output is the command's.
            (None, None) => output::print_error(&output::plain(&blocks)),
            _ => output::show(&blocks, options.look.color)?,
        }
    }
    let unexplained = options.tails && !matches!(trace.target, Target::Row(_));
    if unexplained {
        output::message("the visit did not finish: its slowest operations are not explained");
    }
    written.transpose()?;
    drawable?;
    let lost = trace.losses.matter() || trace.ended == Ended::Full;
    let whole = !trace.threads.is_empty() && !lost && !unexplained;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(UNRELIABLE) })
}

/// Refuses, before anything waits or is recorded, a tier that is not possible here, and a file that
/// would hold nothing of it.
fn check_tier(
    format: Option<export::Format>,
    is_row: bool,
    process: Option<u32>,
    request: &Request,
) -> anyhow::Result<()> {
    let format = format.filter(|&format| format == export::Format::Perfetto);
    if format.is_none() && !(is_row && request.tier.is_some()) {
        return Ok(());
    }
    let tier = record::tier(process, request)?;
    // Only a command may set signposts.
    let may_have_signposts = !is_row && process.is_none();
    match format {
        Some(format) => export::check(format, tier, may_have_signposts),
        None => Ok(()),
    }
}

/// Refuses a stretch of which nothing can be drawn; the length of a trace is known once it is
/// recorded.
fn check_stretch(stretch: Option<(u64, u64)>, duration_ns: Option<u64>) -> anyhow::Result<()> {
    let Some((from_ns, to_ns)) = stretch else {
        return Ok(());
    };
    let from = time(from_ns as f64);
    if from_ns >= to_ns {
        let to = time(to_ns as f64);
        bail!("nothing to draw: --from {from} is not before --to {to}");
    }
    if let Some(duration_ns) = duration_ns.filter(|&duration_ns| from_ns >= duration_ns) {
        let end = time(duration_ns as f64);
        bail!("nothing to draw: --from {from} is not before the end of the trace, {end}");
    }
    Ok(())
}

fn blocks(trace: &Trace, look: &TraceLook) -> Vec<model::story::Block> {
    let options = render::TraceOptions {
        all: look.all,
        columns: output::columns(),
        stretch: look.stretch.ns(),
    };
    render::trace(trace, options)
}

/// Writes a recording: the run, or the trace in this format.
fn write(
    run: &Run,
    trace: &Trace,
    format: Option<export::Format>,
    file: &Output,
) -> anyhow::Result<()> {
    match format {
        Some(format) => file.write(&export::converted(trace, format)?)?,
        None => file.write_run(run)?,
    }
    Ok(())
}

/// A file with a run, or a stored one by its name.
fn found(name: &Path) -> anyhow::Result<PathBuf> {
    Ok(named(&name.to_string_lossy(), &Store::of_user())?)
}

fn read(name: &Path) -> anyhow::Result<Run> {
    Ok(store::read(&found(name)?)?)
}

fn trace_of<'r>(run: &'r Run, name: &Path) -> anyhow::Result<&'r Trace> {
    let trace = run.recordings.iter().find_map(Recording::trace);
    trace.with_context(|| format!("{} is a run without a trace", name.display()))
}
