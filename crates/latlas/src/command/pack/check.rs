//! `latlas pack check`: each probe tried in a child, and what is wrong with it.

use crate::packs::{self, Failure};
use crate::{GATE_CROSSED, output};
use anyhow::Context;
use meter::pack::{Listed, Listing, TrialError, add_pack};
use model::figure::time;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// What came of a probe.
#[derive(Serialize, Debug, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Finding {
    Ok,
    NotAvailable,
    Fault,
}

/// A probe as printed.
#[derive(Serialize)]
struct Checked {
    id: String,
    finding: Finding,
    /// The fault, the reason, or what is missing.
    text: String,
    /// What an operation took in the trial, ns.
    about_ns: Option<f64>,
}

pub(super) fn check_pack(file: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let file = packs::absolute(file)?;
    let listing = packs::listing_named(&file)?;
    let mut catalogue = probes::catalogue();
    let refused = add_pack(&mut catalogue, &file, &listing);
    let own = |id: &str| {
        catalogue
            .iter()
            .any(|probe| probe.of_pack().is_some() && probe.row_ids().iter().any(|row| row == id))
    };
    let directory = tempfile::tempdir().context("can't create a temporary directory")?;
    let mut seen: Vec<&str> = Vec::new();
    let mut checked = Vec::new();
    for probe in &listing.probes {
        let is_twice = seen.contains(&&*probe.id);
        seen.push(&probe.id);
        checked.push(match is_twice || !own(&probe.id) {
            false => tried(&file, probe, directory.path()),
            true => {
                let why = refused.iter().find(|refused| refused.id() == probe.id);
                let why = why.map_or("its id is not unique".to_owned(), ToString::to_string);
                fault(probe, why)
            }
        });
    }
    let value = serde_json::json!({ "pack": listing.name, "built_with": listing.built_with, "probes": checked });
    output::print_json_or(json, &value, || pack_text(&listing, &checked))?;
    Ok(match checked.iter().any(|one| one.finding == Finding::Fault) {
        true => ExitCode::from(GATE_CROSSED),
        false => ExitCode::SUCCESS,
    })
}

fn fault(probe: &Listed, text: String) -> Checked {
    Checked { id: output::harmless(&probe.id), finding: Finding::Fault, text, about_ns: None }
}

fn tried(file: &Path, probe: &Listed, directory: &Path) -> Checked {
    let reason = |text: String| Checked { finding: Finding::NotAvailable, ..fault(probe, text) };
    match &probe.unavailable {
        Some(why) if probe.is_fault => return fault(probe, why.clone()),
        Some(why) => return reason(why.clone()),
        None => {}
    }
    let trial = match packs::tried(file, &probe.id, directory) {
        Err(Failure::NotStarted(why)) => return reason(why.to_string()),
        Err(lost) => return fault(probe, lost.to_string()),
        Ok(Err(TrialError::Unavailable(why))) => return reason(why),
        Ok(Err(TrialError::Fault(why))) => return fault(probe, why),
        Ok(Ok(trial)) => trial,
    };
    // A row of the catalogue has its own.
    let needs_texts = !probes::catalogue().iter().any(|known| known.row_ids().contains(&probe.id));
    let lacks = [("operation", &probe.operation), ("title", &probe.title)];
    let lacks = lacks.iter().filter(|(_, text)| needs_texts && text.is_empty());
    let lacks: Vec<&str> = lacks.map(|(name, _)| *name).collect();
    let remark = match &lacks[..] {
        [] => String::new(),
        lacks => format!("; has no {}", lacks.join(" and no ")),
    };
    Checked {
        id: probe.id.clone(),
        finding: Finding::Ok,
        text: format!("about {}{remark}", time(trial.about_ns)),
        about_ns: Some(trial.about_ns),
    }
}

fn pack_text(listing: &Listing, checked: &[Checked]) -> String {
    let built_with = match &*listing.built_with {
        "" => String::new(),
        with => format!(", built with {with}"),
    };
    let probes = model::phrases::counted(checked.len(), "probe");
    let mut text = format!("pack {}: {probes}{built_with}\n", listing.name);
    let width = checked.iter().map(|one| one.id.chars().count()).max().unwrap_or(0);
    for one in checked {
        let finding = match one.finding {
            Finding::Ok => "ok",
            Finding::NotAvailable => "not available",
            Finding::Fault => "FAULT",
        };
        text.push_str(&format!("  {:width$}  {finding:<13}  {}\n", one.id, one.text));
    }
    text
}
