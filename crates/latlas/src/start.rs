//! From the first instruction to a command, of `latlas` and of the programs beside it.

use crate::arguments::{Arguments, Command};
use crate::config::CommandLine;
use crate::{command, config, output, packs, programs, progress};
use anyhow::{Context, anyhow, bail};
use std::cell::LazyCell;
use std::ffi::OsString;
use std::process::ExitCode;
use sys::role::Role;

/// Stack of what runs in the first thread.
const STACK_BYTES: usize = 8 << 20;

#[global_allocator]
static ALLOCATOR: sys::allocator::Allocator = sys::allocator::Allocator(output::out_of_memory);

/// With less address space an allocation may fail, which would abort without a message.
const LEAST_MEMORY: u64 = 32 << 20;

/// The program `latlas`.
pub fn latlas() -> ExitCode {
    in_frame(|| {
        if command::completions::answered(Arguments::command)? {
            return Ok(ExitCode::SUCCESS);
        }
        match measuring_role() {
            Some(code) => Ok(code),
            None => commanded(),
        }
    })
}

/// A program beside `latlas`, which that runs as `latlas NAME`. Its command line has one command, of this name, so
/// that help, configuration and completions are those of `latlas NAME`. `role` serves in the roles in which the
/// program starts itself ([`measuring_role`], where it measures); `perform` does what the command line asks.
pub fn program_beside<A: CommandLine + 'static>(
    role: fn() -> Option<ExitCode>,
    perform: fn(A) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    in_frame(move || {
        if command::completions::answered(A::command)? {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(code) = role() {
            return Ok(code);
        }
        programs::check_caller(A::PROGRAM)?;
        let words = programs::with_name(A::PROGRAM, std::env::args_os());
        match programs::manual_asked(&words) {
            Some(directory) => command::man::write_pages(A::command(), directory),
            None => perform(begun(words)?),
        }
    })
}

fn in_frame(begin: impl FnOnce() -> anyhow::Result<ExitCode> + Send + 'static) -> ExitCode {
    let begin = || {
        let done = prepare().and_then(|()| begin());
        done.unwrap_or_else(|error| output::refused(&error).into())
    };
    let done = sys::thread::with_stack(STACK_BYTES, begin);
    done.unwrap_or_else(|error| output::refused(&anyhow!("can't start a thread: {error}")).into())
}

/// Parses the command line, with the configuration, and chooses the store that it names.
fn begun<A: CommandLine>(words: Vec<OsString>) -> anyhow::Result<A> {
    store::index::watch_reading(progress::reading);
    let arguments: A = config::arguments(words)?;
    config::use_store(arguments.configuration().store.as_deref());
    Ok(arguments)
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
fn commanded() -> anyhow::Result<ExitCode> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // As other tools have it.
    if words.len() == 2 && (words[1] == "-v" || words[1] == "version") {
        words[1] = "--version".into();
    }
    let arguments: Arguments = begun(words)?;
    let with_packs = arguments.packs().map(|named| {
        let mut catalogue = probes::catalogue();
        packs::add_to(&mut catalogue, named).map(|()| catalogue)
    });
    let with_packs = with_packs.transpose()?;
    // Most other commands do without.
    let catalogue = &LazyCell::new(|| with_packs.unwrap_or_else(probes::catalogue));
    match arguments.command {
        None => command::run::first_screen(catalogue, &arguments.run),
        Some(Command::Run { rows, options }) => command::run::run(catalogue, &rows, &options),
        Some(Command::List { pattern, json, .. }) => {
            command::list::list(catalogue, pattern.as_deref(), json)
        }
        Some(Command::Explain { row, json, .. }) => {
            command::explain::explain(catalogue, &row, json)
        }
        Some(Command::Help(options)) => command::help::help(catalogue, &options, &arguments.config),
        Some(Command::Machine { json }) => command::machine::machine(json),
        Some(Command::Show { runs, json, look }) => command::show::show(&runs, json.form(), &look),
        Some(Command::Table(options)) => command::table::table(catalogue, &options),
        Some(Command::Compare(options)) => command::compare::compare(&options),
        Some(Command::Selftest(options)) => command::selftest::selftest(catalogue, &options),
        Some(Command::Fit(options)) => command::fit::fit(catalogue, &options),
        Some(Command::Exec(options)) => command::exec::exec(&options),
        Some(Command::Ci(options)) => command::ci::ci(&options),
        Some(Command::Judge(options)) => command::judge::judge(&options),
        Some(Command::Trace(options)) => command::trace::trace(catalogue, &options),
        Some(Command::Qos(options)) => command::qos::qos(&options),
        Some(Command::Echo(options)) => command::echo::echo(&options),
        Some(Command::Noise(what)) => command::noise::noise(&what),
        Some(Command::Atlas(what)) => command::atlas::atlas(&what),
        Some(Command::History(options)) => command::history::history(catalogue, &options),
        Some(Command::Report(options)) => command::report::report(catalogue, &options),
        Some(Command::Plot(options)) => command::plot::plot(&options),
        Some(Command::Export(options)) => command::export::export(&options),
        Some(Command::Import(options)) => command::import::import(&options),
        Some(Command::Pack(what)) => command::pack::pack(&what),
        Some(Command::Config(what)) => command::config::config(&what, &arguments.config),
        Some(Command::Completions(options)) => command::completions::completions(&options),
        Some(Command::Man(options)) => command::man::man(&options),
        Some(Command::Beside(words)) => {
            let (name, rest) = words.split_first().context("no command")?;
            programs::run(name, rest, &arguments.config)?;
            bail!("{}", config::unknown_command(&name.to_string_lossy()))
        }
    }
}

/// Serves in the role in which the program started itself to measure: `latlas __worker ARGUMENT`.
pub fn measuring_role() -> Option<ExitCode> {
    let task = sys::role::subcommand()?;
    let catalogue = probes::catalogue();
    let done = match task.role {
        Role::Worker => meter::worker::serve(&catalogue, &task),
        Role::Osnoise => meter::osnoise::brief::serve(&task),
        Role::Job => noise::ab::job::serve(&task),
        Role::QosJob => ::qos::job::serve(&task),
        Role::Knob => ::qos::knobs::job::serve(&task),
        Role::Pack => packs::serve(&task),
        Role::TracedRow => command::trace::row::serve(&catalogue, &task),
        Role::Watchdog => noise::tune::watchdog::serve(&task),
        Role::TraceWatchdog => ::trace::record::serve_watchdog(&task),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            output::message(format_args!("{}: {why}", task.role.name()));
            ExitCode::FAILURE
        }
    })
}
