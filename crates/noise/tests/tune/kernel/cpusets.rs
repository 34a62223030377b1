//! Control groups with cpusets, and the processes in them.

use super::{EINVAL, ENOSPC, Groups, Kernel, KernelState, PF_NO_SETAFFINITY, error};
use std::io;
use sys::files::cpu_list;

impl Kernel {
    pub(super) fn is_group(state: &KernelState, directory: &str) -> bool {
        state.values.contains_key(&format!("{directory}/cpuset.cpus"))
            || state.values.contains_key(&format!("{directory}/cgroup.procs"))
    }

    pub(super) fn name_of_group(&self, directory: &str) -> String {
        match directory.strip_prefix(&self.mount) {
            Some("") | None => "/".into(),
            Some(rest) => rest.into(),
        }
    }

    /// Of a kernel before 6.2: a task that gets another set forgets its own.
    pub(super) fn confine(state: &mut KernelState, group: &str, cpus: &[u32]) {
        for task in state.tasks.values_mut() {
            if task.group == group && task.flags & PF_NO_SETAFFINITY == 0 {
                task.cpus = cpus.to_vec();
            }
        }
    }

    pub(super) fn move_task(
        &self,
        state: &mut KernelState,
        id: u32,
        directory: &str,
    ) -> io::Result<()> {
        let group = self.name_of_group(directory);
        let cpus = match self.groups {
            Groups::One => {
                let cpus = cpu_list(&state.values[&format!("{directory}/cpuset.cpus")]);
                let cpus = cpus.unwrap_or_default();
                if cpus.is_empty() || state.values[&format!("{directory}/cpuset.mems")].is_empty() {
                    return Err(error(ENOSPC));
                }
                // The root's tasks may have CPUs that are offline now.
                Some(match group.as_str() {
                    "/" => Kernel::possible(state),
                    _ => cpus,
                })
            }
            _ => None,
        };
        let living = state.tasks.get_mut(&id).filter(|t| t.dead.is_none());
        let task = living.ok_or_else(|| error(3))?;
        if id == 2 || task.flags & PF_NO_SETAFFINITY != 0 {
            return Err(error(EINVAL));
        }
        task.group = group;
        if let Some(cpus) = cpus {
            task.cpus = cpus;
        }
        if self.quirks.borrow().forking && state.next < 520 {
            let child = state.tasks[&1].clone();
            let next = state.next;
            state.next += 1;
            state.tasks.insert(next, child);
        }
        Ok(())
    }

    /// Whether no sibling (`all`, or only exclusive ones) has one of the CPUs.
    pub(super) fn none_overlaps(
        &self,
        state: &KernelState,
        directory: &str,
        cpus: &[u32],
        all: bool,
    ) -> bool {
        let (above, _) = directory.rsplit_once('/').expect("a parent");
        state.values.iter().all(|(path, text)| {
            let Some(sibling) = path.strip_suffix("/cpuset.cpus") else {
                return true;
            };
            let Some(exclusive) = state.values.get(&format!("{sibling}/cpuset.cpu_exclusive"))
            else {
                return true;
            };
            sibling == directory
                || sibling.rsplit_once('/').map(|parts| parts.0) != Some(above)
                || (!all && exclusive != "1")
                || !cpu_list(text).unwrap_or_default().iter().any(|cpu| cpus.contains(cpu))
        })
    }
}
