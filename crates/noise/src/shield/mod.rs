//! A cpuset shield: CPUs reserved for one group.
//!
//! With cgroups of version 1 all tasks that can be moved leave the root group
//! for one with the other CPUs (cpusets(7)); with version 2 a partition takes
//! its CPUs from all others, and no task moves
//! (Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition").

mod plan;
pub(crate) mod tasks;

pub(crate) use plan::{ShieldStep, movers, steps};

use std::io;
use sys::files::Files;
pub(crate) use sys::groups::Version;
use sys::groups::chain;

/// The shielded group.
pub(crate) const SHIELD: &str = "latlas-shield";

/// The group of all other tasks (version 1).
pub(crate) const SYSTEM: &str = "latlas-system";

/// The groups that latlas makes, right below the root.
pub(crate) const OURS: [&str; 2] = [SHIELD, SYSTEM];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    pub(crate) version: Version,
    pub(crate) mount: String,
    /// Directory of the group that this process is in.
    pub(crate) home: String,
}

#[derive(thiserror::Error, Debug)]
pub(crate) enum ShieldError {
    #[error(transparent)]
    NoGroups(#[from] sys::groups::NoGroup),
    #[error("cpusets are not mounted here")]
    NotMounted,
    #[error("{path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error("the cgroups at {0} have no cpuset controller")]
    NoController(String),
    #[error("{0:?} is not a list of CPUs")]
    NoList(String),
    #[error("its CPUs must be some of {0}")]
    NoSuchCpus(String),
    #[error("no CPU would be left for other tasks: choose fewer than {0}")]
    NoCpuLeft(String),
    #[error("the group {0} exists and is not of this run: remove it (rmdir)")]
    GroupExists(String),
    #[error("cpusets at {mount} are not those that processes are in ({own}): a container")]
    Container { mount: String, own: String },
}

pub(crate) fn hierarchy(files: &dyn Files) -> Result<Hierarchy, ShieldError> {
    let (groups, mounts) =
        (read_text(files, "/proc/self/cgroup")?, read_text(files, "/proc/self/mountinfo")?);
    let chain = chain(&groups, &mounts, "cpuset")?;
    let (Some(home), Some(mount)) = (chain.levels.first(), chain.levels.last()) else {
        return Err(ShieldError::NotMounted);
    };
    if chain.version == Version::Two {
        let controllers = read_text(files, &format!("{mount}/cgroup.controllers"))?;
        if !controllers.split_whitespace().any(|name| name == "cpuset") {
            return Err(ShieldError::NoController(mount.clone()));
        }
    }
    Ok(Hierarchy { version: chain.version, mount: mount.clone(), home: home.clone() })
}

fn read_text(files: &dyn Files, path: &str) -> Result<String, ShieldError> {
    files.read(path).map_err(|error| ShieldError::Unreadable { path: path.to_owned(), error })
}

impl Hierarchy {
    /// Directories of all groups below the root, parents before children.
    pub(crate) fn groups(&self, files: &dyn Files) -> Vec<String> {
        groups_below(files, &self.mount, "cpuset.cpus")
    }

    /// The file of a group that lists and takes its members.
    pub(crate) fn members_file(&self) -> &'static str {
        match self.version {
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        }
    }
}

/// Directories below a group that hold such a file, parents before children.
pub(crate) fn groups_below(files: &dyn Files, group: &str, file: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![group.to_owned()];
    while let Some(group) = open.pop() {
        let below = files.names(&group).into_iter();
        let below: Vec<String> = below
            .map(|name| format!("{group}/{name}"))
            .filter(|path| files.exists(&format!("{path}/{file}")))
            .collect();
        found.extend(below.iter().cloned());
        open.extend(below);
    }
    found.sort_by_key(|group| group.matches('/').count());
    found
}
