//! Campaigns by their file, directory or name.

use anyhow::Context;
use fleet::FleetError;
use fleet::campaign::Campaign;
use fleet::directory::Directory;
use fleet::submission::Submission;
use std::path::{Path, PathBuf};

/// A campaign that was submitted.
///
/// # Errors
/// If it was not, or its file has changed since.
pub(super) fn submitted(name: &str) -> anyhow::Result<(Directory, Submission)> {
    let path = Path::new(name);
    let (directory, of_file) = if path.is_dir() {
        (Directory::at(&std::path::absolute(path)?), None)
    } else if path.exists() {
        let campaign = Campaign::read_file(path)?;
        let directory = Directory::at(&campaign.directory(path));
        (directory, Some(campaign))
    } else {
        let noted = note(name)?;
        let text = sys::input::read_text(&noted, 1 << 16)
            .map_err(|_| FleetError::NotSubmitted(name.to_owned()))?;
        let path = PathBuf::from(text.trim_end());
        if !path.is_dir() {
            let reason =
                format!("the directory of campaign {name:?} does not exist: is it mounted?");
            return Err(FleetError::InFile { path, reason }.into());
        }
        (Directory::at(&path), None)
    };
    let submission = directory.submitted()?;
    let submission = submission.ok_or_else(|| {
        let of_file = of_file.as_ref().map(|campaign| campaign.name.as_str());
        FleetError::NotSubmitted(of_file.unwrap_or(name).to_owned())
    })?;
    if let Some(mut campaign) = of_file {
        let now = campaign.digest();
        // With --hosts, these took the place of the file's.
        campaign.over_ssh(submission.hosts.clone());
        if ![now.clone(), campaign.digest()].contains(&submission.digest) {
            return Err(FleetError::Changed {
                path: directory.path().to_owned(),
                known: submission.digest,
                now,
            }
            .into());
        }
    }
    Ok((directory, submission))
}

/// Where the directory of a campaign is noted by its name.
fn note(name: &str) -> anyhow::Result<PathBuf> {
    let plain: String = name.chars().map(|c| if c == '/' { '_' } else { c }).collect();
    Ok(store::data_dir()?.join("campaigns").join(plain))
}

pub(super) fn remember(name: &str, directory: &Directory) -> anyhow::Result<()> {
    let path = note(name)?;
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)
            .with_context(|| format!("can't create {}", above.display()))?;
    }
    let text = format!("{}\n", directory.path().display());
    Ok(store::replace(text.as_bytes(), &path)?)
}
