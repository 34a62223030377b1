//! The commands of `latlas fleet`, a file for each. `named.rs` finds a campaign by file, directory or name,
//! `expected.rs` says which hosts lack runs. They print; the library of this package does the work.

mod collect;
mod compare;
mod expected;
mod job;
mod measure;
mod named;
mod plan;
mod report;
mod status;
mod submit;

use crate::arguments::{Arguments, FleetCommand, Only};
use std::process::ExitCode;

pub(crate) fn perform(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let Only::Fleet(what) = &arguments.command;
    let catalogue = &probes::catalogue()[..];
    match what {
        FleetCommand::Run(options) => measure::measure_hosts(catalogue, options),
        FleetCommand::Report(options) => report::report(options),
        FleetCommand::Compare(options) => compare::compare(options),
        FleetCommand::Plan { campaign, json } => plan::plan(catalogue, campaign, *json),
        FleetCommand::Submit(options) => submit::submit(catalogue, options),
        FleetCommand::Status { campaign, json, watch } => {
            status::status(&campaign.name, *json, *watch)
        }
        FleetCommand::Collect { campaign, json } => collect::collect(&campaign.name, *json),
        FleetCommand::Job(options) => job::job(catalogue, options),
    }
}
