//! `latlas fleet collect`: stores the documents of a campaign.

use super::{named, status};
use crate::command::atlas;
use crate::output;
use ::fleet::standing::belongs;
use ::fleet::submit;
use anyhow::Context;
use model::text::counted;
use std::process::ExitCode;
use store::StoreError;

/// Stores each document that belongs to the campaign, one at a time.
pub(super) fn collect(name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let (directory, submission) = named::submitted(name)?;
    let index = atlas::open()?;
    let (mut stored, mut known) = (0, 0);
    let standing = submit::look_with(&directory, &submission, |document, run| {
        if belongs(&submission, document).is_err() {
            return Ok(());
        }
        match index.keep(run) {
            Ok(_) => stored += 1,
            Err(StoreError::Io { cause, .. })
                if cause.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                known += 1;
            }
            Err(other) => return Err(anyhow::Error::from(other)).context("can't store a result"),
        }
        Ok(())
    })?;
    atlas::print_messages(&index.messages());
    if json {
        let mut value = serde_json::to_value(&standing)?;
        value["stored"] = stored.into();
        value["stored_before"] = known.into();
        output::print_json_or(true, &value, String::new)?;
    } else {
        status::show(&standing, false)?;
        let before = match known {
            0 => String::new(),
            _ => format!("; {known} stored before"),
        };
        output::message(format_args!("stored {}{before}", counted(stored, "run")));
    }
    Ok(status::exit_code(&standing))
}
