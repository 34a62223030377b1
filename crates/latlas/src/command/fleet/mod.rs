//! `latlas fleet`: one campaign over many hosts.

mod collect;
mod expected;
mod job;
mod named;
mod plan;
mod report;
mod status;
mod submit;

use crate::arguments::fleet::FleetCommand;
use meter::probe::Probe;
use std::process::ExitCode;

pub(crate) fn fleet(catalogue: &[Probe], what: &FleetCommand) -> anyhow::Result<ExitCode> {
    match what {
        FleetCommand::Report(options) => report::report(options),
        FleetCommand::Plan { campaign, json } => plan::plan(catalogue, campaign, *json),
        FleetCommand::Submit(options) => submit::submit(catalogue, options),
        FleetCommand::Status { campaign, json, watch } => {
            status::status(&campaign.name, *json, *watch)
        }
        FleetCommand::Collect { campaign, json } => collect::collect(&campaign.name, *json),
        FleetCommand::Job(options) => job::job(catalogue, options),
    }
}
