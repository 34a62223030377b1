//! What the kernel does late when a CPU goes offline: after the values were
//! read back. It is its own work, not that of another program.

use super::item::{Item, ItemTarget};
use super::journal::Journal;
use crate::cpus::parse_cpus;
use crate::shield::tasks::{self, TaskIdentity};
use crate::shield::{Version, hierarchy};
use sys::files::Files;

/// The CPUs that are left, if a step of the journal took some away.
pub(crate) struct Late {
    online: Option<Vec<u32>>,
}

impl Late {
    pub(crate) fn find(files: &dyn Files, journal: &Journal) -> Late {
        let takes = journal
            .entries
            .iter()
            .filter(|entry| !entry.done)
            .flat_map(|entry| entry.action.items())
            .any(|item| match &item.place {
                ItemTarget::File(path) => {
                    item.wanted.is_some()
                        && (path.ends_with("/online") || path.ends_with("/smt/control"))
                }
                _ => false,
            });
        let read = || parse_cpus(&files.read("/sys/devices/system/cpu/online").ok()?);
        Late { online: takes.then(read).flatten() }
    }

    /// Whether what is there now is what the kernel makes of the old value, or
    /// of the one that a later step left:
    ///
    /// - a task that has no CPU left gets others when it wakes
    ///   (`select_fallback_rq`, kernel/sched/core.c), or those that its group
    ///   has left;
    /// - a version 1 cpuset loses the CPU in a work of its own, and its tasks
    ///   are moved to an ancestor when it has none left
    ///   (kernel/cgroup/cpuset-v1.c, `hotplug_update_tasks_legacy`).
    pub(crate) fn made(&self, files: &dyn Files, item: &Item, was: &str) -> bool {
        let (Some(online), Ok(now)) = (&self.online, item.place.current_value(files)) else {
            return false;
        };
        let left = |list: &str| -> Option<Vec<u32>> {
            let mut cpus = parse_cpus(list)?;
            cpus.retain(|cpu| online.contains(cpu));
            Some(cpus)
        };
        match &item.place {
            ItemTarget::Affinity(task) => parse_cpus(&now).is_some_and(|now| {
                let lost = left(&item.old).is_some_and(|left| left.is_empty());
                let others = lost && online.iter().all(|cpu| now.contains(cpu));
                others || of_its_group(files, *task).is_some_and(|group| group == now)
            }),
            ItemTarget::File(path) if path.ends_with("/cpuset.cpus") => parse_cpus(&now)
                .is_some_and(|now| {
                    [item.old.as_str(), was]
                        .into_iter()
                        .any(|list| left(list).as_ref() == Some(&now))
                }),
            ItemTarget::Cpuset { mount, .. } => {
                let (old, now) = (item.old.trim(), now.trim());
                let above = old != now && (now == "/" || old.starts_with(&format!("{now}/")));
                let cpus = files.read(&format!("{}/cpuset.cpus", tasks::group(mount, old)));
                above && cpus.is_ok_and(|cpus| left(&cpus).is_some_and(|left| left.is_empty()))
            }
            ItemTarget::File(_) => false,
        }
    }
}

/// The CPUs of a task's version 1 cpuset, if it is not the root's.
fn of_its_group(files: &dyn Files, task: TaskIdentity) -> Option<Vec<u32>> {
    let found = hierarchy(files).ok()?;
    let own = files.read(&format!("/proc/{}/cpuset", task.id)).ok()?;
    if found.version != Version::One || own.trim() == "/" {
        return None;
    }
    let group = tasks::group(&found.mount, &own);
    parse_cpus(&files.read(&format!("{group}/cpuset.cpus")).ok()?)
}
