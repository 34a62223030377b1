//! `latlas-serve`, which `latlas serve` runs: stored runs over HTTP.
#![forbid(unsafe_code)]

mod arguments;
mod command;

fn main() -> std::process::ExitCode {
    latlas::program_beside(|| None, command::perform)
}
