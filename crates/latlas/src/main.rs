//! `latlas`: what does each common operation cost on this machine?
#![forbid(unsafe_code)]

mod arguments;
mod catalogue;
mod command;
mod echo;
mod output;
mod program;
mod progress;
mod selection;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// Done, and a gate that the user set was crossed.
const GATE_CROSSED: u8 = 1;
/// Done, but the result as a whole should not be relied on.
const UNRELIABLE: u8 = 3;
/// The request can't be carried out.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let catalogue = probes::catalogue();
    // The same program, started again, is what measures.
    meter::worker::enter_if_worker(&catalogue);

    let arguments = Arguments::parse();
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
        Some(Command::Export(options)) => command::export::export(&options),
        Some(Command::Import(options)) => command::import::import(&options),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("latlas: {error:#}");
            ExitCode::from(REFUSED)
        }
    }
}
