//! `latlas`: what does each common operation cost on this machine?
#![forbid(unsafe_code)]
// They panic where they can't print: `output` does not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod catalogue;
mod command;
mod config;
mod echo;
mod ending;
mod output;
mod packs;
mod program;
mod progress;
mod selection;

use anyhow::{anyhow, bail};
use arguments::Command;
use meter::probe::Probe;
use std::process::ExitCode;
use sys::role::Role;

/// A row crossed the gate set with --fail-above.
const GATE_CROSSED: u8 = 1;
/// `latlas fit`: the machine is not the one expected.
const DIFFERS: u8 = 1;
/// Done, but the result is unreliable.
const UNRELIABLE: u8 = 3;
/// The request can't be carried out.
const REFUSED: u8 = 2;

/// Stack of what runs in the first thread.
const STACK_BYTES: usize = 8 << 20;

#[global_allocator]
static ALLOCATOR: sys::allocator::Allocator = sys::allocator::Allocator(output::out_of_memory);

/// With less address space an allocation may fail, which would abort without a message.
const LEAST_MEMORY: u64 = 32 << 20;

fn main() -> ExitCode {
    let done = sys::thread::with_stack(STACK_BYTES, begin);
    done.unwrap_or_else(|error| refused(&anyhow!("can't start a thread: {error}")).into())
}

fn begin() -> ExitCode {
    prepare()
        .and_then(|()| {
            if command::completions::answered()? {
                return Ok(ExitCode::SUCCESS);
            }
            let catalogue = probes::catalogue();
            match role(&catalogue) {
                Some(code) => Ok(code),
                None => command(catalogue),
            }
        })
        .unwrap_or_else(|error| refused(&error).into())
}

/// Makes limits of the system errors, not aborts; without standard output nothing begins.
fn prepare() -> anyhow::Result<()> {
    if sys::standard_output::was_closed() {
        bail!("standard output is closed and can't be written: redirect it to a file or /dev/null");
    }
    // A limit on the size of files (ulimit -f) fails the write, not the program.
    let _ = sys::stop::survive_file_limit();
    match sys::limits::address_space_left() {
        Some(left) if left < LEAST_MEMORY => bail!(
            "only {} of address space left (ulimit -v): latlas needs {}",
            model::size::about(left),
            model::size::about(LEAST_MEMORY)
        ),
        _ => Ok(()),
    }
}

/// Runs the command of the command line.
fn command(mut catalogue: Vec<Probe>) -> anyhow::Result<ExitCode> {
    store::index::watch_reading(progress::reading);
    let arguments = config::arguments()?;
    config::use_store(arguments.config.store.as_deref());
    if let Some(named) = arguments.packs() {
        packs::add_to(&mut catalogue, named)?;
    }
    let catalogue = &catalogue[..];
    match arguments.command {
        None => command::run::first_screen(catalogue, &arguments.run),
        Some(Command::Run { rows, options }) => command::run::run(catalogue, &rows, &options),
        Some(Command::List { pattern, json, .. }) => {
            command::list::list(catalogue, pattern.as_deref(), json)
        }
        Some(Command::Explain { row, json, .. }) => {
            command::explain::explain(catalogue, &row, json)
        }
        Some(Command::Machine { json }) => command::machine::machine(json),
        Some(Command::Show { run, json, look }) => command::show::show(&run, json, &look),
        Some(Command::Table(options)) => command::table::table(catalogue, &options),
        Some(Command::Compare(options)) => command::compare::compare(&options),
        Some(Command::Selftest(options)) => command::selftest::selftest(catalogue, &options),
        Some(Command::Fit(options)) => command::fit::fit(catalogue, &options),
        Some(Command::Exec(options)) => command::exec::exec(&options),
        Some(Command::Ci(options)) => command::ci::ci(&options),
        Some(Command::Trace(options)) => command::trace::trace(catalogue, &options),
        Some(Command::Qos(options)) => command::qos::qos(&options),
        Some(Command::Echo(options)) => command::echo::echo(&options),
        Some(Command::Noise(what)) => command::noise::noise(&what),
        Some(Command::Fleet(what)) => command::fleet::fleet(catalogue, &what),
        Some(Command::Atlas(what)) => command::atlas::atlas(&what),
        Some(Command::History(options)) => command::history::history(catalogue, &options),
        Some(Command::Report(options)) => command::report::report(catalogue, &options),
        Some(Command::Plot(options)) => command::plot::plot(&options),
        #[cfg(feature = "serve")]
        Some(Command::Serve(options)) => command::serve::serve(catalogue, &options),
        #[cfg(not(feature = "serve"))]
        Some(Command::Serve(_)) => {
            bail!("this build of latlas has no server (feature `serve` is off)")
        }
        Some(Command::Export(options)) => command::export::export(&options),
        Some(Command::Import(options)) => command::import::import(&options),
        Some(Command::Pack(what)) => command::pack::pack(&what),
        Some(Command::Config(what)) => command::config::config(&what, &arguments.config),
        Some(Command::Completions(options)) => command::completions::completions(&options),
        Some(Command::Man(options)) => command::man::man(&options),
    }
}

/// Serves in the role in which latlas started itself: `latlas __worker ARGUMENT`.
fn role(catalogue: &[Probe]) -> Option<ExitCode> {
    let task = sys::role::subcommand()?;
    let done = match task.role {
        Role::Worker => meter::worker::serve(catalogue, &task),
        Role::Osnoise => meter::osnoise::brief::serve(&task),
        Role::Job => noise::ab::job::serve(&task),
        Role::QosJob => ::qos::job::serve(&task),
        Role::Knob => ::qos::knobs::job::serve(&task),
        Role::Pack => packs::serve(&task),
        Role::TracedRow => command::trace::row::serve(catalogue, &task),
        Role::Watchdog => noise::tune::watchdog::serve(&task),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            output::message(format_args!("{}: {why}", task.role.name()));
            ExitCode::FAILURE
        }
    })
}

/// Prints the error, except where the reader of standard output has left.
fn refused(error: &anyhow::Error) -> u8 {
    if error.is::<output::ReaderLeft>() {
        return REFUSED;
    }
    // It may quote a document, whose control characters must not reach the terminal.
    let text = format!("latlas: {error:#}");
    for line in text.lines() {
        output::print_error(&(output::harmless(line) + "\n"));
    }
    REFUSED
}
