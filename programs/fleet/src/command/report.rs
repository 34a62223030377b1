//! `latlas fleet report`: the rows of a campaign over its hosts.

use super::{expected, named};
use crate::report_options::FleetReportOptions;
use anyhow::bail;
use compare::USUAL_MARGIN;
use fleet::figures::Fleet;
use fleet::{fleet_page, render};
use latlas::command::{atlas, report::check_page};
use latlas::ending::is_stdout;
use latlas::{UNRELIABLE, output};
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

/// Prints the report, or writes its page.
pub(super) fn report(options: &FleetReportOptions) -> anyhow::Result<ExitCode> {
    if let Some(out) = options.out.as_deref().filter(|out| !is_stdout(out)) {
        check_page(out, options.force)?;
    }
    let fleet = fleet(&options.campaign)?;
    match options.out.as_deref() {
        Some(out) if is_stdout(out) => output::print(&fleet_page(&fleet))?,
        Some(out) => {
            store::write_bytes(fleet_page(&fleet).as_bytes(), out)?;
            output::print(&format!("{}\n", out.display()))?;
        }
        None => {
            output::show_json_or(options.json, &fleet, options.color, || render::fleet(&fleet))?
        }
    }
    Ok(exit_code(&fleet))
}

/// The runs of a campaign by its name, file or directory, and what is missing where its directory is known.
fn fleet(name: &str) -> anyhow::Result<Fleet> {
    let submitted = match named::submitted(name) {
        Ok(submitted) => Some(submitted),
        Err(_) if Path::new(name).is_dir() => {
            bail!(
                "{name} is not the directory of a submitted campaign: run `latlas fleet submit FILE`"
            )
        }
        // Its runs may have come from elsewhere.
        Err(_) if !Path::new(name).exists() => None,
        Err(error) => return Err(error),
    };
    let whole = match &submitted {
        Some((_, submission)) => format!("{}#{}", submission.campaign.name, submission.digest),
        None => name.to_owned(),
    };
    let index = atlas::open_index()?;
    let expected = submitted.as_ref().map(|(_, submission)| {
        let hosts = submission.hosts.iter();
        hosts.map(String::as_str).collect::<HashSet<&str>>()
    });
    let fleet = fleet::stored::fleet(&index, &whole, USUAL_MARGIN, expected.as_ref());
    atlas::print_messages(&index.messages());
    let mut fleet = fleet?;
    if let Some((directory, submission)) = &submitted {
        fleet.expected = Some(expected::expected(&fleet, directory, submission));
    }
    Ok(fleet)
}

fn exit_code(fleet: &Fleet) -> ExitCode {
    match fleet.is_complete() {
        Some(true) => ExitCode::SUCCESS,
        Some(false) | None => ExitCode::from(UNRELIABLE),
    }
}
