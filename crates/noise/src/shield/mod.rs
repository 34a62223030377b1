//! A cpuset shield: CPUs that only those may use who are put there.
//!
//! With control groups of version 1 everybody who may be moved leaves the root
//! group for one that has the other CPUs (cpusets(7)); with version 2 a
//! partition takes its CPUs away from all others, and nobody is moved
//! (Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition").

mod plan;
pub(crate) mod tasks;

pub(crate) use plan::{Part, movers, parts};

use crate::files::Files;
pub(crate) use sys::groups::Version;
use sys::groups::chain;

/// The group of those who are shielded.
pub(crate) const SHIELD: &str = "latlas-shield";

/// Where everybody else goes (version 1).
pub(crate) const SYSTEM: &str = "latlas-system";

/// The groups that latlas makes, right below the root.
pub(crate) const OURS: [&str; 2] = [SHIELD, SYSTEM];

/// The hierarchy with the cpuset controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    /// Where it is mounted.
    pub(crate) mount: String,
    /// Directory of the group that this process is in.
    pub(crate) home: String,
}

/// Finds it.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn hierarchy(files: &dyn Files) -> Result<Hierarchy, String> {
    let text = |path: &str| files.read(path).map_err(|e| format!("{path}: {e}"));
    let (groups, mounts) = (text("/proc/self/cgroup")?, text("/proc/self/mountinfo")?);
    let chain = chain(&groups, &mounts, "cpuset")?;
    let (Some(home), Some(mount)) = (chain.levels.first(), chain.levels.last()) else {
        return Err("the groups of cpusets are not mounted here".into());
    };
    if chain.version == Version::Two {
        let controllers = text(&format!("{mount}/cgroup.controllers"))?;
        if !controllers.split_whitespace().any(|name| name == "cpuset") {
            return Err(format!(
                "the control groups at {mount} have no cpuset controller"
            ));
        }
    }
    Ok(Hierarchy {
        version: chain.version,
        mount: mount.clone(),
        home: home.clone(),
    })
}

impl Hierarchy {
    /// Directories of all groups below the root, parents before children.
    pub(crate) fn groups(&self, files: &dyn Files) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.mount.clone()];
        while let Some(group) = open.pop() {
            let below: Vec<String> = files
                .names(&group)
                .into_iter()
                .map(|name| format!("{group}/{name}"))
                .filter(|path| files.exists(&format!("{path}/cpuset.cpus")))
                .collect();
            found.extend(below.iter().cloned());
            open.extend(below);
        }
        found.sort_by_key(|group| group.matches('/').count());
        found
    }

    /// The file of a group that lists and takes its members.
    pub(crate) fn list(&self) -> &'static str {
        match self.version {
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        }
    }
}
