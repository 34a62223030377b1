//! `latlas trace`: records what the threads of a command or process do, and shows, compares and exports
//! traces. `row.rs` traces one visit to a row in a child process (also for `run --trace-tails`), `export.rs`
//! writes other formats. Recording and decoding are in `crates/trace`.

mod export;
mod foreign;
pub(crate) mod row;
mod why;

use super::{measured, run_path_named, show};
use crate::arguments::run_json::RunJson;
use crate::arguments::trace::{TraceCommand, TraceOptions};
use crate::program::about;
use crate::progress::Bar;
use crate::{UNRELIABLE, ending, output};
use ::trace::record::{self, HeapRequest, RecordRequest, Usdt};
use anyhow::{Context, anyhow, bail};
use meter::plan;
use meter::probe::Probe;
use model::figure::time;
use model::recording::Recording;
use model::run::Run;
use model::trace::{Ended, Target, Trace};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{LastOf, Output, Store};
use sys::programs::NotFound;
use view::render;

pub(super) use foreign::foreign_document;

/// From when to when, in ns.
type Span = (u64, u64);

pub(crate) fn trace(catalogue: &[Probe], options: &TraceOptions) -> anyhow::Result<ExitCode> {
    match &options.what {
        None => recorded(catalogue, options),
        Some(TraceCommand::Show { file, json, tails, look }) => {
            let (run, stretch) = match foreign::read_foreign(file, look.stretch.ns())? {
                Some(foreign) => (foreign.run, foreign.part),
                // A pipe gives its bytes once.
                None => {
                    let form = json.form().unwrap_or(RunJson::Rows);
                    (show::read_for(form, &found(file)?)?, look.stretch.ns())
                }
            };
            let trace = trace_of(&run, file)?;
            check_stretch(stretch, Some(trace.duration_ns))?;
            let columns = output::columns();
            match (json.form(), tails) {
                (Some(form), _) => output::print(&output::run_json(&run, form)?)?,
                (None, true) => {
                    let columns = Some(columns).filter(|_| !look.all);
                    output::show(&render::slow_spans(trace, columns), look.color)?;
                }
                (None, false) => output::show(&blocks(trace, look.all, stretch), look.color)?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(TraceCommand::Why { file, span, over, stretch, color }) => {
            let (run, part) = read_run(file, stretch.ns())?;
            let trace = trace_of(&run, file)?;
            check_stretch(part, Some(trace.duration_ns))?;
            output::show(&why::blocks(trace, file, (span, part), over)?, *color)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(TraceCommand::Diff { a, b, json, all, color }) => {
            let runs = [read_run(a, None)?.0, read_run(b, None)?.0];
            let [a, b] = [trace_of(&runs[0], a)?, trace_of(&runs[1], b)?];
            let difference = compare::traces::trace_difference(a, b);
            output::show_json_or(*json, &difference, *color, || {
                render::trace_difference(&difference, [a, b], *all)
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Some(TraceCommand::Export { file, out, stretch }) => {
            export::format(out, stretch.ns())?;
            let (run, part) = read_run(file, stretch.ns())?;
            let trace = trace_of(&run, file)?;
            check_stretch(part, Some(trace.duration_ns))?;
            let bytes = export::converted(trace, export::format(out, part)?)?;
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
        if options.malloc.is_some() && options.words.is_empty() {
            bail!("--malloc needs a command, such as: latlas trace --malloc -- ./program");
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
    let machine = sys::machine_facts(Path::new("/"));
    let asked = (options.operations, options.tails);
    let asked_for = plan::Request::default();
    let order = options.row.as_deref();
    let order = order.map(|name| row::order(catalogue, name, &asked_for, asked, &machine));
    let order = order.transpose()?;
    let request = RecordRequest {
        tier: options.tier.map(Into::into),
        scheduler_only: options.scheduler_only,
        interrupts: options.tails,
        stacks: options.stacks.map(Into::into),
        usdt: options.usdt.as_ref().map(|pattern| Usdt {
            program: options.words.first().and_then(|name| sys::command::find_program(name)),
            pattern: pattern.clone(),
        }),
        heap: options.malloc.map(heap_request).transpose()?,
        limit: options.limit,
        last: options.last,
        limit_bytes: options.buffer,
        ..row::request(&machine)?
    };
    let format = out.as_ref().and_then(|(format, _)| *format);
    check_tier(format, order.is_some(), options.pid, &request)?;
    let lock = order.as_ref().map(|order| {
        let measures = format!("latlas trace {}", order.traced_name());
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
            recorded.with_context(|| order.traced_name().to_owned())?
        }
        (None, Some(id)) => record::process(id, &held, &request)?,
        (None, None) => record::record_command(&options.words, &held, &request)?,
    };
    // Other formats hold all of it.
    if out.as_ref().is_some_and(|(format, _)| format.is_none()) {
        keep_what_fits(&mut trace, options.last.is_some());
    }
    let about = about(machine, started_unix_ms, began_ns);
    let run = Run::recorded(about, Recording::Trace(Box::new(trace)), None);
    let trace = trace_of(&run, Path::new(""))?;
    let written = out.map(|(format, file)| write_trace(&run, trace, format, &file));
    let drawable = check_stretch(stretch, Some(trace.duration_ns));
    if drawable.is_ok() {
        let blocks = blocks(trace, options.look.all, stretch);
        match (&order, options.pid) {
            // Standard output is the command's.
            (None, None) => output::show_error(&blocks, options.look.color),
            _ => output::show(&blocks, options.look.color)?,
        }
    }
    let unexplained = options.tails && !matches!(trace.target, Target::Row(_));
    if unexplained {
        output::message("the row's operations did not finish: the slowest are not explained");
    }
    written.transpose()?;
    drawable?;
    let lost = trace.losses.matter() || trace.ended == Ended::Full;
    let whole = !trace.threads.is_empty() && !lost && !unexplained;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(UNRELIABLE) })
}

/// Leaves out of a trace what a document can't hold, and says so.
fn keep_what_fits(trace: &mut Trace, asks_for_end: bool) {
    let whole_ns = trace.duration_ns;
    trace.keep_what_fits(asks_for_end);
    if trace.duration_ns < whole_ns {
        let [kept, whole] = [trace.duration_ns, whole_ns].map(|ns| time(ns as f64));
        output::message(format_args!(
            "more was recorded than a trace can hold: {kept} of {whole} are kept"
        ));
    }
}

/// What records calls of an allocator about so many bytes or more.
fn heap_request(least_bytes: u64) -> anyhow::Result<HeapRequest> {
    const NAME: &str = "liblatlas_malloc.so";
    let library = sys::programs::find_library(NAME).map_err(|error| match error {
        NotFound::Missing(_) => anyhow!(
            "no {NAME} next to latlas or in ../lib/latlas: the .deb and the .tar.gz bring it, and \
             libraries/signpost/malloc/latlas_malloc.c says how to build it"
        ),
        untrusted => untrusted.into(),
    })?;
    let has_separator = |byte: &u8| b": \t\n".contains(byte);
    if library.as_os_str().as_encoded_bytes().iter().any(has_separator) {
        bail!("can't load {}: LD_PRELOAD takes no path with blanks or colons", library.display());
    }
    Ok(HeapRequest { library, least_bytes })
}

/// Refuses, before anything waits or is recorded, a tier that is not possible here, and a file that
/// would hold nothing of it.
fn check_tier(
    format: Option<export::TraceFormat>,
    is_row: bool,
    process: Option<u32>,
    request: &RecordRequest,
) -> anyhow::Result<()> {
    let format = format.filter(|&format| format == export::TraceFormat::Perfetto);
    if format.is_none() && !(is_row && request.tier.is_some()) {
        return Ok(());
    }
    let tier = record::tier(process, request)?;
    // Only a command may set signposts.
    let may_have_signposts = !is_row && process.is_none();
    match format {
        Some(format) => export::check_format(format, tier, may_have_signposts),
        None => Ok(()),
    }
}

/// Refuses a stretch of which nothing can be drawn; the length of a trace is known once it is
/// recorded.
fn check_stretch(stretch: Option<Span>, duration_ns: Option<u64>) -> anyhow::Result<()> {
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

fn blocks(trace: &Trace, all: bool, stretch: Option<Span>) -> Vec<model::story::Block> {
    let options = render::TraceOptions { all, columns: output::columns(), stretch };
    render::trace_page(trace, options)
}

/// Writes a recording: the run, or the trace in this format.
fn write_trace(
    run: &Run,
    trace: &Trace,
    format: Option<export::TraceFormat>,
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
    Ok(run_path_named(&name.to_string_lossy(), &Store::of_user(), LastOf::All)?)
}

/// A run with a trace, or what stands for a file of another recorder, and what is left of the part that was asked
/// for.
fn read_run(name: &Path, part: Option<Span>) -> anyhow::Result<(Run, Option<Span>)> {
    match foreign::read_foreign(name, part)? {
        Some(foreign) => Ok((foreign.run, foreign.part)),
        None => Ok((store::read_run(&found(name)?)?, part)),
    }
}

fn trace_of<'r>(run: &'r Run, name: &Path) -> anyhow::Result<&'r Trace> {
    let trace = run.recordings.iter().find_map(Recording::trace);
    trace.with_context(|| format!("{} is a run without a trace", name.display()))
}
