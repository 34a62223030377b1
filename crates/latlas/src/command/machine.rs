//! `latlas machine`: this machine's hardware, kernel and settings.

use crate::arguments::Color;
use crate::output;
use model::filesystem::Filesystem;
use model::machine::{Fact, Machine};
use references::machine::{GroupSummary, IdentityDoubt, MachineIdentity, find_records};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The machine, and the file system of file rows.
#[derive(Serialize)]
struct Facts {
    #[serde(flatten)]
    machine: Machine,
    files_on: Fact<Filesystem>,
    published: PublishedOfMachine,
}

/// What is published of this machine.
#[derive(Serialize)]
struct PublishedOfMachine {
    records: Vec<GroupSummary>,
    doubts: Vec<IdentityDoubt>,
    /// Why the records can't be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
}

/// Prints the facts, or why they are unknown.
pub(crate) fn machine(json: bool) -> anyhow::Result<ExitCode> {
    let machine = sys::machine_facts(Path::new("/"));
    let found = find_records(&MachineIdentity::shown_by(&machine));
    let records = found.as_ref().ok().cloned().unwrap_or_default();
    let facts = Facts {
        machine,
        published: PublishedOfMachine {
            records: records.summaries(),
            doubts: records.doubts,
            damaged: found.as_ref().err().map(ToString::to_string),
        },
        files_on: match meter::scratch::by_default() {
            Ok(scratch) => Fact::known(scratch.filesystem),
            Err(why) => Fact::unknown(why.to_string()),
        },
    };
    output::show_json_or(json, &facts, Color::Never, || {
        let mut page = view::render::machine_page(&facts.machine, &facts.files_on);
        page.extend(view::render::records_of_machine(&found));
        page
    })?;
    Ok(ExitCode::SUCCESS)
}
