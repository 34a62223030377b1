//! Reading a campaign's file: mistakes have the place in it.

use super::{Campaign, beside};
use crate::{FleetError, hosts};
use model::misfit::plain_message;
use model::phrases::cut;
use std::path::Path;

const MAX_BYTES: u64 = 1 << 20;

/// Most repetitions on a host: the tasks that an array of Slurm may have by default.
const MAX_REPETITIONS: u32 = 1000;

/// Most rows, or options of sbatch or ssh: together they are one command line.
const MOST_ENTRIES: usize = 4096;

impl Campaign {
    /// Reads a campaign's file, and its file of hosts.
    ///
    /// # Errors
    /// A file that can't be read, an unknown key, a bad value.
    pub fn read_file(path: &Path) -> Result<Campaign, FleetError> {
        let text = sys::input::read_text(path, MAX_BYTES).map_err(FleetError::io("read", path))?;
        let mut campaign = Campaign::parse(path, &text)?;
        // The names are content, the file's name is not.
        if let Some(named) = campaign.hosts_file.take() {
            campaign.hosts = hosts::of_file(&beside(path, &named))?;
        }
        Ok(campaign)
    }

    /// Parses the text of a campaign's file.
    pub fn parse(path: &Path, text: &str) -> Result<Campaign, FleetError> {
        let campaign: Campaign = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.as_bytes().iter().take(start);
            FleetError::InLine {
                path: path.to_owned(),
                line: 1 + before.filter(|&&byte| byte == b'\n').count(),
                reason: plain_message(
                    &error.message().split_whitespace().collect::<Vec<_>>().join(" "),
                ),
            }
        })?;
        let Some((key, reason)) = campaign.fault() else {
            return Ok(campaign);
        };
        let is_key = |line: &str| {
            let after = line.trim_start().strip_prefix(key);
            after.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        Err(match text.lines().position(is_key) {
            Some(at) => FleetError::InLine { path: path.to_owned(), line: at + 1, reason },
            None => FleetError::in_file(path, reason),
        })
    }

    /// What is wrong with values that parse, and with which key.
    fn fault(&self) -> Option<(&'static str, String)> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
        let (name, repetitions) = (&self.name, self.repetitions);
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
            let reason =
                format!("name {:?}: a name has 1 to 64 letters, digits, -, _ and +", cut(name));
            return Some(("name", reason));
        }
        if !(1..=MAX_REPETITIONS).contains(&repetitions) {
            let reason = format!("repetitions = {repetitions}: give 1 to {MAX_REPETITIONS}");
            return Some(("repetitions", reason));
        }
        let lists = [("rows", &self.rows), ("sbatch", &self.sbatch), ("ssh", &self.ssh)];
        if let Some((key, list)) = lists.iter().find(|(_, list)| list.len() > MOST_ENTRIES) {
            let reason = format!("{} entries: at most {MOST_ENTRIES}", list.len());
            return Some((key, reason));
        }
        if !self.hosts.is_empty() && self.hosts_file.is_some() {
            let reason = "give hosts or hosts_file, not both".into();
            return Some(("hosts_file", reason));
        }
        hosts::fault(&self.hosts).map(|reason| ("hosts", reason))
    }
}
