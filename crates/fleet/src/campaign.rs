//! The campaign's file.

use crate::FleetError;
use crate::hosts;
pub use crate::text::{Percent, Time};
use model::run::Scale;
use model::text::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Largest campaign file.
const MAX_BYTES: u64 = 1 << 20;

/// Most repetitions on a host: the tasks that an array of Slurm may have by default.
const MAX_REPETITIONS: u32 = 1000;

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

/// Controls of the measured processes: options of `latlas run` of the same names.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
#[allow(
    missing_docs,
    reason = "they are documented as options of `latlas run`"
)]
pub struct Controls {
    pub pin: Option<u32>,
    pub nice: Option<i32>,
    pub autogroup: Option<i32>,
    pub fifo: Option<u8>,
    pub shield: Option<String>,
    pub core_kind: Option<String>,
    pub dir: Option<PathBuf>,
    pub seed: Option<u64>,
    pub peer: Option<String>,
    pub cold: bool,
    pub in_process: bool,
    pub no_controls: bool,
}

impl Controls {
    fn is_default(&self) -> bool {
        *self == Controls::default()
    }

    fn arguments(&self) -> Vec<String> {
        fn given(name: &str, value: Option<impl ToString>) -> Option<String> {
            value.map(|value| format!("--{name}={}", value.to_string()))
        }
        let flag = |name: &str, on: bool| on.then(|| format!("--{name}"));
        let dir = self.dir.as_ref().map(|dir| dir.display());
        [
            given("pin", self.pin),
            given("nice", self.nice),
            given("autogroup", self.autogroup),
            given("fifo", self.fifo),
            given("shield", self.shield.as_ref()),
            given("core-kind", self.core_kind.as_ref()),
            given("dir", dir),
            given("seed", self.seed),
            given("peer", self.peer.as_ref()),
            flag("cold", self.cold),
            flag("in-process", self.in_process),
            flag("no-controls", self.no_controls),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Campaign {
    /// Reads a campaign's file, and its file of hosts.
    ///
    /// # Errors
    /// A file that can't be read, an unknown key, a bad value.
    pub fn read(path: &Path) -> Result<Campaign, FleetError> {
        let text =
            store::input::read_text(path, MAX_BYTES).map_err(FleetError::io("read", path))?;
        let mut campaign = Campaign::parse(path, &text)?;
        // The names are content, the file's name is not.
        if let Some(named) = campaign.hosts_file.take() {
            campaign.hosts = hosts::of_file(&beside(path, &named))?;
        }
        Ok(campaign)
    }

    /// Parses the text of a campaign's file.
    ///
    /// # Errors
    /// An unknown key or a bad value, with its line.
    pub fn parse(path: &Path, text: &str) -> Result<Campaign, FleetError> {
        let campaign: Campaign = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.as_bytes().iter().take(start);
            FleetError::InLine {
                path: path.to_owned(),
                line: 1 + before.filter(|&&byte| byte == b'\n').count(),
                reason: error
                    .message()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
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
            Some(at) => FleetError::InLine {
                path: path.to_owned(),
                line: at + 1,
                reason,
            },
            None => FleetError::in_file(path, reason),
        })
    }

    /// What is wrong with values that parse, and with which key.
    fn fault(&self) -> Option<(&'static str, String)> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
        let (name, repetitions) = (&self.name, self.repetitions);
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
            let reason = format!("name {name:?}: a name has 1 to 64 letters, digits, -, _ and +");
            return Some(("name", reason));
        }
        if !(1..=MAX_REPETITIONS).contains(&repetitions) {
            let reason = format!("repetitions = {repetitions}: give 1 to {MAX_REPETITIONS}");
            return Some(("repetitions", reason));
        }
        if !self.hosts.is_empty() && self.hosts_file.is_some() {
            let reason = "give hosts or hosts_file, not both".into();
            return Some(("hosts_file", reason));
        }
        hosts::fault(&self.hosts).map(|reason| ("hosts", reason))
    }

    /// The arguments of `latlas run`.
    pub fn arguments(&self) -> Vec<String> {
        let scale = match self.scale {
            Scale::Quick => Some("--quick".to_owned()),
            Scale::Default => None,
            Scale::Full => Some("--full".to_owned()),
        };
        let budget = self
            .budget
            .map(|time| format!("--budget={}", String::from(time)));
        let options = scale
            .into_iter()
            .chain(budget)
            .chain(self.controls.arguments());
        let rows = std::iter::once("--".to_owned()).chain(self.rows.iter().cloned());
        match self.rows.is_empty() {
            true => options.collect(),
            false => options.chain(rows).collect(),
        }
    }

    /// The same without controls that depend on the machine: only the hosts can check these.
    pub fn arguments_of_any_machine(&self) -> Vec<String> {
        let Controls {
            seed,
            peer,
            cold,
            in_process,
            no_controls,
            ..
        } = self.controls.clone();
        let controls = Controls {
            seed,
            peer,
            cold,
            in_process,
            no_controls,
            ..Controls::default()
        };
        Campaign {
            controls,
            ..self.clone()
        }
        .arguments()
    }

    /// Digest of the content: comments, order and form of the file don't matter, nor where the
    /// campaign is kept.
    pub fn digest(&self) -> String {
        let content = Campaign {
            directory: None,
            ..self.clone()
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Campaign, String> {
        Campaign::parse(Path::new("lab.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_becomes_the_arguments_of_run() {
        let campaign = parsed(
            "name = 'lab'\nrows = ['cpu.*', 'memory.latency']\nscale = 'quick'\nbudget = '90s'\n\
             hosts = ['n1']\ndeadline = '2h'\n[controls]\nnice = -5\nin_process = true\nfifo = 3",
        );
        let arguments = campaign.expect("a campaign").arguments().join(" ");
        let expected =
            "--quick --budget=1m30s --nice=-5 --fifo=3 --in-process -- cpu.* memory.latency";
        assert_eq!(arguments, expected);
    }

    #[test]
    fn mistakes_are_one_line_that_names_the_place() {
        let base = "name = 'lab'\nhosts = ['n1']\ndeadline = '1h'\n";
        for (added, expected) in [
            ("repetition = 2", "lab.toml:4: unknown field `repetition`"),
            (
                "repetitions = 0",
                "lab.toml:4: repetitions = 0: give 1 to 1000",
            ),
            ("budget = 'soon'", "lab.toml:4: \"soon\" is not a time"),
            ("max_busy = '7'", "lab.toml:4: \"7\" is not a share"),
            ("hosts_file = 'h'", "lab.toml:4: give hosts or hosts_file"),
            (
                "max_busy = 0.1",
                "lab.toml:4: 0.1 is not a share such as \"20%\"",
            ),
            (
                "time_limit = '600000000y'",
                "lab.toml:4: \"600000000y\": give 10 years at most",
            ),
            (
                "budget = '300000000000y'",
                "lab.toml:4: \"300000000000y\": give 10 years at most",
            ),
            ("engine = 'ray'", "lab.toml:4: unknown variant `ray`"),
            ("[controls]\nnicer = 1", "lab.toml:5: unknown field `nicer`"),
        ] {
            let error = parsed(&format!("{base}{added}")).expect_err(added);
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
        let long = format!("'{}'", "n".repeat(129));
        for hosts in [
            "'-oProxyCommand=x'",
            "'a b'",
            "'a/b'",
            "''",
            "'n1','n1'",
            &long,
        ] {
            let error = parsed(&format!("name='l'\nhosts=[{hosts}]\ndeadline='1h'"));
            assert!(error.expect_err(hosts).contains("host"), "{hosts}");
        }
        let without = parsed("name = 'l'\ndeadline = '1h'").expect("hosts may come with --hosts");
        let error = hosts::of(&without, Path::new("lab.toml")).expect_err("no hosts");
        assert!(
            error.to_string().starts_with("lab.toml: no hosts: "),
            "{error}"
        );
        parsed("name = 'a/b'\nhosts = ['n1']\ndeadline = '1h'").expect_err("a path");
    }

    #[test]
    fn names_in_a_file_of_hosts_are_content() {
        let home = tempfile::tempdir().expect("a directory");
        let (file, hosts) = (home.path().join("lab.toml"), home.path().join("h.txt"));
        std::fs::write(&file, "name = 'lab'\nhosts_file = 'h.txt'\ndeadline = '1h'")
            .expect("written");
        let digest = |names: &str| {
            std::fs::write(&hosts, names).expect("written");
            Campaign::read(&file).expect("a campaign").digest()
        };
        let one = digest("n1\n");
        assert_eq!(digest("n1 # the only one\n\n"), one);
        assert_ne!(digest("n1\nn2\n"), one);
        let given = parsed("name = 'lab'\nhosts = ['n1']\ndeadline = '1h'").expect("one");
        assert_eq!(given.digest(), one);
        std::fs::remove_file(&hosts).expect("removed");
        let error = Campaign::read(&file).expect_err("no file").to_string();
        assert_eq!(error.matches("No such file").count(), 1, "{error}");
    }

    #[test]
    fn the_digest_is_of_the_content() {
        let plain = parsed("name = 'lab'\nhosts = ['n1']\ndeadline = '1h'").expect("one");
        let same = parsed(
            "# a comment\ndeadline = '60m'\nhosts = [\n 'n1' ]\nname = 'lab'\ndirectory = '/x'",
        );
        let other = parsed("name = 'lab'\nhosts = ['n2']\ndeadline = '1h'").expect("another");
        assert_eq!(plain.digest(), same.expect("the same").digest());
        assert_ne!(plain.digest(), other.digest());
        assert_eq!(plain.digest().len(), 16);
    }
}
