//! One value that a step changes or may change by the way: where it is, how
//! it is read, written and compared.

use super::meaning;
use super::whitelist;
use crate::cpus::parse_cpus;
use crate::shield::tasks::{self, TaskIdentity};
use serde::{Deserialize, Serialize};
use std::io;
use sys::files::Files;

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemTarget {
    File(String),
    /// The CPUs that a task may run on.
    Affinity(TaskIdentity),
    /// The group of a task in the hierarchy of cpusets (version 1), as
    /// `/proc/TASK/cpuset` tells it: `/docker/x`.
    Cpuset {
        task: TaskIdentity,
        /// Where the hierarchy is mounted.
        mount: String,
    },
}

/// One value as the journal keeps it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) place: ItemTarget,
    /// What was there before.
    pub(crate) old: String,
    /// What is to be there; nothing for what changes by the way.
    pub(crate) wanted: Option<String>,
}

impl ItemTarget {
    /// # Errors
    /// What reading says; `NotFound` for a task that has ended.
    pub(crate) fn current_value(&self, files: &dyn Files) -> io::Result<String> {
        match self {
            ItemTarget::File(path) => files.read(path),
            ItemTarget::Affinity(task) => {
                tasks::check_task(files, *task)?;
                tasks::affinity(files, task.id)
            }
            ItemTarget::Cpuset { task, .. } => {
                tasks::check_task(files, *task)?;
                files.read(&format!("/proc/{}/cpuset", task.id))
            }
        }
    }

    /// # Errors
    /// What writing says; `InvalidInput` for what no CPU list is.
    pub(crate) fn write(&self, files: &dyn Files, text: &str) -> io::Result<()> {
        match self {
            ItemTarget::File(path) => files.write(path, &meaning::writable(path, text)),
            ItemTarget::Affinity(task) => {
                let cpus = parse_cpus(text).ok_or(io::ErrorKind::InvalidInput)?;
                files.set_affinity(task.id, &cpus)
            }
            ItemTarget::Cpuset { task, mount } => {
                files.write(&format!("{}/tasks", tasks::group(mount, text)), &task.id.to_string())
            }
        }
    }

    /// Whether two texts of it mean the same.
    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        match self {
            ItemTarget::File(path) => meaning::same(path, a, b),
            ItemTarget::Affinity(_) => meaning::same_cpus(a, b),
            ItemTarget::Cpuset { .. } => a.trim() == b.trim(),
        }
    }

    /// Whether it may be written at all; `cpuset` is where the controller is
    /// mounted now.
    pub(crate) fn allowed(&self, cpuset: Option<&str>) -> bool {
        match self {
            ItemTarget::File(path) => whitelist::allows(path, cpuset),
            ItemTarget::Affinity(task) => task.id > 0,
            ItemTarget::Cpuset { mount, .. } => cpuset == Some(mount.as_str()),
        }
    }

    /// How it is called in a report.
    pub(crate) fn title(&self) -> String {
        match self {
            ItemTarget::File(path) => path.clone(),
            ItemTarget::Affinity(task) => format!("CPUs of task {}", task.id),
            ItemTarget::Cpuset { task, .. } => format!("cpuset of task {}", task.id),
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
                ItemTarget::Cpuset { .. } => texts
                    .into_iter()
                    .flatten()
                    .all(|text| text.starts_with('/') && !text.split('/').any(|part| part == "..")),
                _ => true,
            }
    }
}
