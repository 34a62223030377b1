//! A control group of the CPU controller, made for one job below the group that
//! this process is in: `cpu.shares` (version 1) or `cpu.weight` (version 2), and
//! `cpu.idle`. Works as root and where the own group is delegated.

use std::io;
use std::path::Path;

use model::setting::Setting;

use crate::files::{Files, Tree};
use crate::groups::{NoGroup, Version, chain};
use crate::settings::System;

/// Why there is no group with a weight.
#[derive(Debug, thiserror::Error)]
pub enum NoWeight {
    /// No CPU controller.
    #[error(transparent)]
    NoGroup(#[from] NoGroup),
    /// The file system or another user's group.
    #[error("can't make the control group {0}: {1}")]
    NotMade(String, #[source] io::Error),
    /// Version 2, with the controller off for groups below this one.
    #[error(
        "{0} has no cpu.weight: the CPU controller is off in its parent's cgroup.subtree_control"
    )]
    Off(String),
}

/// The group; removed when dropped, if no process is left in it.
#[derive(Debug)]
pub struct WeightGroup {
    tree: Tree,
    directory: String,
    version: Version,
}

/// How the names of all groups begin.
const PREFIX: &str = "latlas-";

/// Shares of a thread with nice 0 and of a group that nothing was set for.
pub const DEFAULT_SHARES: u64 = 1024;

impl WeightGroup {
    /// Makes a group below the own one, with a name of this process, and removes those of
    /// killed ones.
    ///
    /// # Errors
    /// Why it can't.
    pub fn create(name: &str) -> Result<WeightGroup, NoWeight> {
        let name = format!("{PREFIX}{name}-{}", std::process::id());
        WeightGroup::create_in(Tree::system(), &name)
    }

    fn create_in(tree: Tree, name: &str) -> Result<WeightGroup, NoWeight> {
        let text = |path: &str| tree.read(path).unwrap_or_default();
        let chain = chain(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"), "cpu")?;
        let own = chain.levels.first().cloned().unwrap_or_default();
        remove_left_over(&tree, &own);
        let directory = format!("{own}/{name}");
        if let Err(error) = tree.make_directory(&directory) {
            return Err(NoWeight::NotMade(directory, error));
        }
        let group = WeightGroup { tree, directory, version: chain.version };
        match group.tree.exists(&group.file(group.weight_file())) {
            true => Ok(group),
            false => Err(NoWeight::Off(group.directory.clone())),
        }
    }

    /// Its directory, for [`Setting::Group`](model::setting::Setting::Group).
    pub fn directory(&self) -> &Path {
        Path::new(&self.directory)
    }

    fn weight_file(&self) -> &'static str {
        match self.version {
            Version::One => "cpu.shares",
            Version::Two => "cpu.weight",
        }
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    /// The file of a setting, and its value there.
    fn setting_file(&self, setting: &Setting) -> io::Result<(String, u64)> {
        Ok(match (setting, self.version) {
            (Setting::GroupShares(shares), Version::One) => (self.file("cpu.shares"), *shares),
            (Setting::GroupShares(shares), Version::Two) => {
                (self.file("cpu.weight"), weight_of_shares(*shares))
            }
            (Setting::GroupIdle, _) => (self.file("cpu.idle"), 1),
            _ => return Err(io::ErrorKind::Unsupported.into()),
        })
    }
}

impl System for WeightGroup {
    fn set(&self, setting: &Setting) -> io::Result<()> {
        let (file, value) = self.setting_file(setting)?;
        self.tree.write(&file, &value.to_string())
    }

    /// Shares in the unit of the file, if they are not what was asked for.
    fn read(&self, setting: &Setting) -> Option<Setting> {
        let (file, value) = self.setting_file(setting).ok()?;
        let now = self.tree.number(&file)?;
        Some(if now == value { setting.clone() } else { Setting::GroupShares(now) })
    }
}

/// Removes groups of killed processes: their names end with the process's number.
fn remove_left_over(tree: &Tree, own: &str) {
    let names = tree.names(own).into_iter();
    let of_latlas = names.filter(|name| name.starts_with(PREFIX));
    for name in of_latlas {
        let process = name.rsplit('-').next().and_then(|id| id.parse::<u32>().ok());
        if process.is_some_and(|id| !tree.exists(&format!("/proc/{id}"))) {
            // One that is in use stays: the kernel says that it is busy.
            let _ = tree.remove_directory(&format!("{own}/{name}"));
        }
    }
}

impl Drop for WeightGroup {
    fn drop(&mut self) {
        // A killed process leaves its group a little after it was waited for.
        for _ in 0..20 {
            match self.tree.remove_directory(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

/// Version 2 counts weights of 1 to 10000 from 100
/// (`cgroup_weight` in kernel/sched/core.c).
fn weight_of_shares(shares: u64) -> u64 {
    ((shares * 100 + DEFAULT_SHARES / 2) / DEFAULT_SHARES).clamp(1, 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::setting::Outcome;

    #[test]
    fn weights_of_version_2() {
        assert_eq!(weight_of_shares(DEFAULT_SHARES), 100);
        assert_eq!(weight_of_shares(2), 1);
        assert_eq!(weight_of_shares(10 * DEFAULT_SHARES), 1000);
        assert_eq!(weight_of_shares(262_144), 10_000);
    }

    #[test]
    fn a_group_below_the_own_one() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        write("proc/self/cgroup", "0::/a\n");
        write("proc/self/mountinfo", "35 31 0:32 / /cg rw - cgroup2 cgroup rw\n");
        write("cg/a/cgroup.procs", "");
        let create = || WeightGroup::create_in(Tree::new(root.path()), "job");
        // A directory of an ordinary file system has no files of its own.
        assert!(matches!(create(), Err(NoWeight::Off(group)) if group == "/cg/a/job"));
        assert!(!root.path().join("cg/a/job").exists(), "removed again");
        // Of killed processes, and of one that is there.
        for name in ["latlas-knob-77", "latlas-knob-78", "other-77"] {
            std::fs::create_dir_all(root.path().join("cg/a").join(name)).expect("made");
        }
        std::fs::create_dir_all(root.path().join("proc/78")).expect("made");
        assert!(create().is_err());
        let left = ["latlas-knob-77", "latlas-knob-78", "other-77"]
            .map(|name| root.path().join("cg/a").join(name).exists());
        assert_eq!(left, [false, true, true]);
        write("cg/a/job/cpu.weight", "100");
        assert!(matches!(create(), Err(NoWeight::NotMade(_, _))), "not ours");
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[test]
    fn a_real_group_has_its_weight() {
        let group = match WeightGroup::create("test") {
            Ok(group) => group,
            Err(why) => return println!("SKIPPED: {why}"),
        };
        let directory = group.directory().to_owned();
        let shares = Setting::GroupShares(2 * DEFAULT_SHARES);
        assert_eq!(group.put(&shares).expect("in its range"), Outcome::ReadBack);
        let read = std::fs::read_to_string(group.file(group.weight_file())).expect("there");
        assert!(["2048", "200"].contains(&read.trim()), "{read}");
        drop(group);
        assert!(!directory.exists());
    }
}
