//! `latlas-fleet`, which `latlas fleet` runs: one campaign over many hosts.
#![forbid(unsafe_code)]

mod arguments;
mod command;
mod compare_options;
mod report_options;

fn main() -> std::process::ExitCode {
    latlas::program_beside(latlas::measuring_role, command::perform)
}
