//! `latlas`: what does each common operation cost on this machine?
#![forbid(unsafe_code)]

mod arguments;
mod catalogue;
mod command;
mod config;
mod echo;
mod output;
mod program;
mod progress;
mod selection;

use arguments::Command;
use std::process::ExitCode;

/// Done, and a gate that the user set was crossed.
const GATE_CROSSED: u8 = 1;
/// Done, but the result as a whole should not be relied on.
const UNRELIABLE: u8 = 3;
/// The request can't be carried out.
const REFUSED: u8 = 2;

/// With less to allocate from, the first allocation that fails would abort the
/// program without a reason.
const LEAST_MEMORY: u64 = 32 << 20;

fn main() -> ExitCode {
    // A limit on the size of files (ulimit -f) fails the write, not the program.
    let _ = sys::stop::survive_file_limit();
    if let Some(left) = sys::limits::address_space_left().filter(|&left| left < LEAST_MEMORY) {
        return refused(&anyhow::anyhow!(
            "only {} of address space are left to latlas (ulimit -v): too little, it needs {}",
            model::size::about(left),
            model::size::about(LEAST_MEMORY)
        ));
    }
    // The same program, started again, is the jobs of an experiment.
    noise::ab::job::enter_if_job();
    let catalogue = probes::catalogue();
    // The same program, started again, is what puts values of the system back,
    noise::tune::watchdog::enter_if_watchdog();
    // and what measures.
    meter::worker::enter_if_worker(&catalogue);
    meter::gaps::apart::enter_if_looker();

    atlas::index::watch_reading(progress::reading);
    let arguments = match config::arguments() {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error.into()),
    };
    let done = match arguments.command {
        None => command::run::run(&catalogue, &[], &arguments.run),
        Some(Command::Run { rows, options }) => command::run::run(&catalogue, &rows, &options),
        Some(Command::List { pattern, json }) => {
            command::list::list(&catalogue, pattern.as_deref(), json)
        }
        Some(Command::Explain { row, json }) => command::explain::explain(&catalogue, &row, json),
        Some(Command::Machine { json }) => command::machine::machine(json),
        Some(Command::Show { run, json, look }) => command::show::show(&run, json, &look),
        Some(Command::Table(options)) => command::table::table(&catalogue, &options),
        Some(Command::Compare(options)) => command::compare::compare(&options),
        Some(Command::Selftest(options)) => command::selftest::selftest(&catalogue, &options),
        Some(Command::Exec(options)) => command::exec::exec(&options),
        Some(Command::Echo(options)) => command::echo::echo(&options),
        Some(Command::Noise(what)) => command::noise::noise(&what),
        Some(Command::Atlas(what)) => command::atlas::atlas(&what),
        Some(Command::History(options)) => command::history::history(&catalogue, &options),
        Some(Command::Report(options)) => command::report::report(&catalogue, &options),
        Some(Command::Plot(options)) => command::plot::plot(&options),
        Some(Command::Serve(options)) => command::serve::serve(&catalogue, &options),
        Some(Command::Export(options)) => command::export::export(&options),
        Some(Command::Import(options)) => command::import::import(&options),
        Some(Command::Config(what)) => command::config::config(&what, &arguments.config),
        Some(Command::Completions(options)) => {
            command::completions::completions(&catalogue, &options)
        }
        Some(Command::Man(options)) => command::man::man(&options),
    };
    match done {
        Ok(code) => code,
        Err(error) => refused(&error),
    }
}

fn refused(error: &anyhow::Error) -> ExitCode {
    // It may quote a stranger's document, which must not drive the terminal.
    let text = format!("latlas: {error:#}");
    for line in text.lines() {
        output::tell(&(output::harmless(line) + "\n"));
    }
    ExitCode::from(REFUSED)
}
