//! One value that a step changes or may change by the way: where it is, how
//! it is read, written and compared.

use super::meaning;
use super::whitelist;
use crate::cpus::parse;
use crate::shield::tasks::{self, Task};
use serde::{Deserialize, Serialize};
use std::io;
use sys::files::Files;

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    File(String),
    /// The CPUs that a task may run on.
    Affinity(Task),
    /// The group of a task in the hierarchy of cpusets (version 1), as
    /// `/proc/TASK/cpuset` tells it: `/docker/x`.
    Cpuset {
        task: Task,
        /// Where the hierarchy is mounted.
        mount: String,
    },
}

/// One value as the journal keeps it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) place: Place,
    /// What was there before.
    pub(crate) old: String,
    /// What is to be there; nothing for what changes by the way.
    pub(crate) wanted: Option<String>,
}

impl Place {
    /// # Errors
    /// What reading says; `NotFound` for a task that has ended.
    pub(crate) fn read(&self, files: &dyn Files) -> io::Result<String> {
        match self {
            Place::File(path) => files.read(path),
            Place::Affinity(task) => {
                tasks::check(files, *task)?;
                tasks::affinity(files, task.id)
            }
            Place::Cpuset { task, .. } => {
                tasks::check(files, *task)?;
                files.read(&format!("/proc/{}/cpuset", task.id))
            }
        }
    }

    /// # Errors
    /// What writing says; `InvalidInput` for what no CPU list is.
    pub(crate) fn write(&self, files: &dyn Files, text: &str) -> io::Result<()> {
        match self {
            Place::File(path) => files.write(path, &meaning::writable(path, text)),
            Place::Affinity(task) => {
                let cpus = parse(text).ok_or(io::ErrorKind::InvalidInput)?;
                files.set_affinity(task.id, &cpus)
            }
            Place::Cpuset { task, mount } => {
                files.write(&format!("{}/tasks", tasks::group(mount, text)), &task.id.to_string())
            }
        }
    }

    /// Whether two texts of it mean the same.
    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        match self {
            Place::File(path) => meaning::same(path, a, b),
            Place::Affinity(_) => meaning::same_cpus(a, b),
            Place::Cpuset { .. } => a.trim() == b.trim(),
        }
    }

    /// Whether it may be written at all; `cpuset` is where the controller is
    /// mounted now.
    pub(crate) fn allowed(&self, cpuset: Option<&str>) -> bool {
        match self {
            Place::File(path) => whitelist::allows(path, cpuset),
            Place::Affinity(task) => task.id > 0,
            Place::Cpuset { mount, .. } => cpuset == Some(mount.as_str()),
        }
    }

    /// How it is called in a report.
    pub(crate) fn title(&self) -> String {
        match self {
            Place::File(path) => path.clone(),
            Place::Affinity(task) => format!("CPUs of task {}", task.id),
            Place::Cpuset { task, .. } => format!("cpuset of task {}", task.id),
        }
    }
}

impl Item {
    /// Whether its values are such as this program writes: a group's name must
    /// not lead out of the hierarchy.
    pub(crate) fn allowed(&self, cpuset: Option<&str>) -> bool {
        let texts = [Some(&self.old), self.wanted.as_ref()];
        self.place.allowed(cpuset)
            && match self.place {
                Place::Cpuset { .. } => texts
                    .into_iter()
                    .flatten()
                    .all(|text| text.starts_with('/') && !text.split('/').any(|part| part == "..")),
                _ => true,
            }
    }
}
