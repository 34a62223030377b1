//! `latlas fleet status`: how complete a campaign is.

use super::named;
use fleet::standing::{JobState, Standing};
use fleet::story;
use fleet::submit;
use latlas::{UNRELIABLE, output};
use std::process::ExitCode;
use std::time::Duration;

/// Time between two looks of --watch.
const WATCH: Duration = Duration::from_secs(10);

pub(super) fn status(name: &str, json: bool, watch: bool) -> anyhow::Result<ExitCode> {
    let (directory, submission) = named::submitted(name)?;
    loop {
        let standing = submit::look(&directory, &submission)?;
        show(&standing, json)?;
        let is_pending = |state| standing.counts.contains_key(&state);
        let goes_on = [JobState::Running, JobState::Requeued, JobState::Waiting];
        if !watch || !goes_on.into_iter().any(is_pending) {
            return Ok(exit_code(&standing));
        }
        std::thread::sleep(WATCH);
    }
}

/// 0 only if the campaign is complete.
pub(super) fn exit_code(standing: &Standing) -> ExitCode {
    if standing.complete { ExitCode::SUCCESS } else { ExitCode::from(UNRELIABLE) }
}

pub(super) fn show(standing: &Standing, json: bool) -> anyhow::Result<()> {
    output::print_json_or(json, standing, || status_text(standing))
}

pub(super) fn status_text(standing: &Standing) -> String {
    output::plain(&story::blocks(standing))
}
