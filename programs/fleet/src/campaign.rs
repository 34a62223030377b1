//! The file of a campaign: rows, hosts, repetitions, engine, deadlines. `parse.rs` reads it and names the
//! line of a mistake, `controls.rs` has the options for `latlas run`. What was submitted of it is in
//! `submission.rs`.

mod controls;
mod parse;
#[cfg(test)]
mod tests;

pub use crate::file_values::{Percent, Time};
pub use controls::Controls;
use model::phrases::hexadecimal;
use model::run::Scale;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What runs the jobs.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// `sbatch`, one array of jobs for each host.
    #[default]
    Slurm,
    /// `ssh`, from the submitting machine.
    Ssh,
}

/// A campaign as its file describes it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Its name, part of the names of files and jobs.
    pub name: String,
    /// Rows, as for `latlas run`; without any, all of the scale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// How much is measured.
    #[serde(default)]
    pub scale: Scale,
    /// Time limit of measuring, as `run --budget`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Time>,
    /// Controls, as options of `latlas run`.
    #[serde(default, skip_serializing_if = "Controls::is_default")]
    pub controls: Controls,
    /// Runs on each host.
    #[serde(default = "one")]
    pub repetitions: u32,
    /// The hosts by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// A file with a host on each line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts_file: Option<PathBuf>,
    /// Slurm: the partition; without hosts, all of its hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Slurm: features that a host must have, such as `epyc&ib`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// What runs the jobs.
    #[serde(default)]
    pub engine: Engine,
    /// Time after its submission when a job without a result is lost.
    pub deadline: Time,
    /// Time that one job may take at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Time>,
    /// Refuse a host whose CPU use before the run exceeds this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_busy: Option<Percent>,
    /// Where the campaign is kept: for Slurm, a directory that all hosts share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The program to run on the hosts; without it, this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Further options of sbatch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sbatch: Vec<String>,
    /// Further options of ssh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ssh: Vec<String>,
}

fn one() -> u32 {
    1
}

/// When a job over ssh without a result is lost, unless the file says so: it runs while `submit` waits for it.
const USUAL_DEADLINE: Duration = Duration::from_secs(24 * 3600);

impl Campaign {
    /// Of these rows on these hosts over ssh, once each.
    pub fn over_hosts(
        name: String,
        rows: &[String],
        hosts: &[String],
        budget: Option<Time>,
    ) -> Campaign {
        Campaign {
            name,
            rows: rows.to_vec(),
            scale: Scale::default(),
            budget,
            controls: Controls::default(),
            repetitions: one(),
            hosts: hosts.to_vec(),
            hosts_file: None,
            partition: None,
            constraint: None,
            engine: Engine::Ssh,
            deadline: Time(USUAL_DEADLINE),
            time_limit: None,
            max_busy: None,
            directory: None,
            program: None,
            sbatch: Vec::new(),
            ssh: Vec::new(),
        }
    }

    /// The arguments of `latlas run`.
    pub fn arguments(&self) -> Vec<String> {
        let scale = match self.scale {
            Scale::Quick => Some("--quick".to_owned()),
            Scale::Default => None,
            Scale::Full => Some("--full".to_owned()),
        };
        let budget = self.budget.map(|time| format!("--budget={}", String::from(time)));
        let options = scale.into_iter().chain(budget).chain(self.controls.arguments());
        let rows = std::iter::once("--".to_owned()).chain(self.rows.iter().cloned());
        if self.rows.is_empty() { options.collect() } else { options.chain(rows).collect() }
    }

    /// The same without controls that depend on the machine: only the hosts can check these.
    pub fn arguments_of_any_machine(&self) -> Vec<String> {
        let Controls { seed, peer, cold, in_process, no_controls, .. } = self.controls.clone();
        let controls =
            Controls { seed, peer, cold, in_process, no_controls, ..Controls::default() };
        Campaign { controls, ..self.clone() }.arguments()
    }

    /// Digest of the content: comments, order and form of the file don't matter, nor where the
    /// campaign is kept.
    pub fn digest(&self) -> String {
        let content = Campaign { directory: None, ..self.clone() };
        let bytes = serde_json::to_vec(&content).unwrap_or_default();
        hexadecimal(&Sha256::digest(bytes))[..16].to_owned()
    }

    /// Replaces what the file says of hosts: over ssh, to these.
    pub fn over_ssh(&mut self, hosts: Vec<String>) {
        self.engine = Engine::Ssh;
        self.hosts = hosts;
        self.hosts_file = None;
        self.partition = None;
        self.constraint = None;
    }

    /// Where the campaign is kept: its `directory`, else its name with `.fleet`, both from the
    /// directory of its file.
    pub fn directory(&self, file: &Path) -> PathBuf {
        let default = || PathBuf::from(format!("{}.fleet", self.name));
        beside(file, &self.directory.clone().unwrap_or_else(default))
    }
}

/// A path that a file names, from the directory of that file.
pub(crate) fn beside(file: &Path, path: &Path) -> PathBuf {
    let joined = file.parent().unwrap_or(Path::new("")).join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}
