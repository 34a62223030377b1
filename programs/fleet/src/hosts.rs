//! Names of hosts: given, in a file, or those of a partition.

use crate::campaign::{Campaign, Engine};
use crate::{FleetError, slurm};
use model::limits::CAMPAIGN;
use model::phrases::cut;
use std::collections::BTreeSet;
use std::path::Path;

const MAX_BYTES: u64 = 4 << 20;

const MOST: usize = CAMPAIGN.entries;

/// Longest name: with what follows it in the name of a file, it must stay below 255 bytes.
const LONGEST: usize = 128;

/// What is wrong with a list of hosts, if anything is. A name becomes an argument of ssh and sbatch,
/// and part of file names.
pub(crate) fn fault(hosts: &[String]) -> Option<String> {
    if hosts.len() > MOST {
        return Some(format!("more than {MOST} hosts"));
    }
    let mut known = BTreeSet::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.@:%".contains(c);
    hosts.iter().find_map(|host| {
        let is_name = !host.is_empty()
            && host.len() <= LONGEST
            && host.chars().all(is_part)
            && !host.starts_with(['-', '.']);
        if !is_name {
            return Some(format!("host {:?} is not the name of a host", cut(host)));
        }
        (!known.insert(host)).then(|| format!("host {host:?} is named twice"))
    })
}

/// The name of a host, if it can be one.
pub fn checked(host: &str) -> Result<String, FleetError> {
    match fault(&[host.to_owned()]) {
        Some(reason) => Err(FleetError::in_file(Path::new("--host"), reason)),
        None => Ok(host.to_owned()),
    }
}

/// The hosts of a file: one a line; `#` begins a comment.
///
/// # Errors
/// A file that can't be read, or a line that is not the name of a host.
pub fn of_file(path: &Path) -> Result<Vec<String>, FleetError> {
    let text = sys::input::read_text(path, MAX_BYTES).map_err(FleetError::io("read", path))?;
    let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let hosts: Vec<String> =
        names.filter(|name| !name.is_empty()).take(MOST + 1).map(str::to_owned).collect();
    if hosts.is_empty() {
        return Err(FleetError::in_file(path, "it names no host"));
    }
    match fault(&hosts) {
        Some(reason) => Err(FleetError::in_file(path, reason)),
        None => Ok(hosts),
    }
}

/// The hosts of a campaign.
///
/// # Errors
/// As [`of_file`]; what sinfo says, and that no host of the partition has the features.
pub fn campaign_hosts(campaign: &Campaign, file: &Path) -> Result<Vec<String>, FleetError> {
    if !campaign.hosts.is_empty() {
        return Ok(campaign.hosts.clone());
    }
    let of_slurm = campaign.partition.as_deref().filter(|_| campaign.engine == Engine::Slurm);
    let Some(partition) = of_slurm else {
        let reason = "no hosts: give hosts, hosts_file or, for Slurm, partition (or --hosts FILE)";
        return Err(FleetError::in_file(file, reason));
    };
    let hosts = slurm::hosts(partition, campaign.constraint.as_deref())?;
    if hosts.is_empty() {
        let with = campaign.constraint.as_deref().map(|features| format!(" with {features}"));
        let reason = format!("partition {partition} has no host{}", with.unwrap_or_default());
        return Err(FleetError::in_file(file, reason));
    }
    match fault(&hosts) {
        Some(reason) => Err(FleetError::in_file(file, reason)),
        None => Ok(hosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_not_printed_whole() {
        let error = checked(&"x".repeat(200_000)).expect_err("no name").to_string();
        let shown = "x".repeat(60);
        assert!(
            error.ends_with(&format!("host \"{shown}...\" is not the name of a host")),
            "{error}"
        );
    }

    #[test]
    fn long_lists_of_hosts_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("hosts");
        let refused = |text: String| {
            std::fs::write(&path, text).expect("written");
            of_file(&path).expect_err("too many").to_string()
        };
        let error = refused("n\n".repeat(MOST + 1));
        assert!(error.ends_with(": more than 1048576 hosts"), "{error}");
        let error = refused("n1\n".repeat((10 << 20) / 3));
        assert!(error.ends_with("it is larger than 4096 KiB"), "{error}");
    }
}
