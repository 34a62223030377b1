//! `latlas fleet collect`: stores the documents of a campaign.

use super::{named, status};
use anyhow::Context;
use fleet::keep::{Kept, keep};
use fleet::standing::{Foreign, Standing};
use fleet::submit;
use latlas::command::atlas;
use latlas::{UNRELIABLE, output};
use model::phrases::counted;
use serde::Serialize;
use std::collections::HashSet;
use std::process::ExitCode;

/// How complete the campaign is, and what was stored.
#[derive(Serialize)]
struct CollectReport<'a> {
    #[serde(flatten)]
    standing: &'a Standing,
    stored: usize,
    stored_before: usize,
    not_stored: &'a [Foreign],
}

/// Stores each document that belongs to the campaign, one at a time.
pub(super) fn collect(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let (directory, submission) = named::submitted(name)?;
    let index = atlas::open_index()?;
    let (mut stored, mut known, mut not_stored) = (0, 0, Vec::new());
    let looked = submit::look_with(&directory, &submission, |document, run| {
        match keep(&index, run).context("can't store a result")? {
            Kept::New => stored += 1,
            Kept::Before => known += 1,
            Kept::Not(reason) => not_stored.push(Foreign {
                file: document.file.clone(),
                run: run.id.clone(),
                reason,
            }),
        }
        anyhow::Ok(())
    });
    let before = match known {
        0 => String::new(),
        _ => format!("; {known} stored before"),
    };
    let summary = format!("stored {}{before}", counted(stored, "run"));
    let standing = looked.inspect_err(|_| output::message(&summary))?;
    // Of these the campaign itself has another document of the same id.
    let foreign: HashSet<&String> = standing.foreign.iter().map(|one| &one.file).collect();
    not_stored.retain(|one| !foreign.contains(&one.file));
    atlas::print_messages(&index.messages());
    let collected = CollectReport {
        standing: &standing,
        stored,
        stored_before: known,
        not_stored: &not_stored,
    };
    output::print_json_or(json, &collected, || status::status_text(&standing))?;
    if !json {
        output::message(summary);
    }
    for one in &not_stored {
        let reason = output::harmless(&one.reason);
        output::message(format_args!("results/{} is not stored: {reason}", one.file));
    }
    Ok(match not_stored.is_empty() {
        true => status::exit_code(&standing),
        false => ExitCode::from(UNRELIABLE),
    })
}
