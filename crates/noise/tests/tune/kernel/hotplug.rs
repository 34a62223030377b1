//! CPUs that go and come, and what goes and comes with them.

use super::{CPU, Groups, Kernel, KernelState, PF_NO_SETAFFINITY, cpu_ranges, mask};
use sys::files::cpu_list;

impl Kernel {
    pub(super) fn set_online(&self, state: &mut KernelState, cpu: u32, on: bool) {
        let mut online = Kernel::online(state);
        online.retain(|&c| c != cpu);
        if on {
            online.push(cpu);
            online.sort_unstable();
        }
        let set = |state: &mut KernelState, path: String, text: String| {
            state.values.insert(path, text);
        };
        set(state, format!("{CPU}/online"), cpu_ranges(&online));
        if self.groups == Groups::Two {
            set(state, "/cg/cpuset.cpus.effective".into(), cpu_ranges(&online));
        }
        let file = format!("{CPU}/cpu{cpu}/online");
        if state.values.contains_key(&file) {
            set(state, file, u32::from(on).to_string());
        }
        let policies: Vec<String> = state
            .values
            .keys()
            .filter(|path| path.starts_with(&format!("{CPU}/cpufreq/policy{cpu}/")))
            .cloned()
            .collect();
        for path in policies {
            // A policy that comes back begins with the kernel's own values.
            if on && path.ends_with("/scaling_governor") {
                set(state, path, "ondemand".into());
            } else if on && path.ends_with("/scaling_max_freq") {
                set(state, path, "9999999".into());
            }
        }
        if on {
            state.going.retain(|&c| c != cpu);
            if self.groups == Groups::One {
                set(state, format!("{}/cpuset.cpus", self.mount), cpu_ranges(&online));
            }
            return;
        }
        let reachable = online.iter().fold(0_u64, |bits, cpu| bits | 1 << cpu);
        let irqs: Vec<String> = state
            .values
            .keys()
            .filter(|path| path.ends_with("/smp_affinity"))
            // The kernel's own stop, and begin again with their CPU.
            .filter(|path| !self.quirks.borrow().managed.contains(*path))
            .cloned()
            .collect();
        for path in irqs {
            if mask(&state.values[&path]).unwrap_or(0) & reachable == 0 {
                set(state, path, format!("{reachable:02x}"));
            }
        }
        match self.quirks.borrow().late {
            true => state.going.push(cpu),
            false => self.take_from_all(state, cpu),
        }
    }

    /// Time passes: what was to happen has happened.
    pub(crate) fn settle(&self) {
        let mut state = self.state.borrow_mut();
        for cpu in std::mem::take(&mut state.going) {
            self.take_from_all(&mut state, cpu);
        }
    }

    /// Cpusets and tasks lose a CPU that is offline.
    pub(super) fn take_from_all(&self, state: &mut KernelState, cpu: u32) {
        let online = Kernel::online(state);
        let set = |state: &mut KernelState, path: String, text: String| {
            state.values.insert(path, text);
        };
        let mut groups: Vec<String> = state
            .values
            .keys()
            .filter_map(|path| path.strip_suffix("/cpuset.cpus").map(str::to_owned))
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for group in groups {
            let path = format!("{group}/cpuset.cpus");
            let mut cpus = cpu_list(&state.values[&path]).unwrap_or_default();
            cpus.retain(|&c| c != cpu);
            if cpus.is_empty() {
                let own = self.name_of_group(&group);
                let parent = self.name_of_group(group.rsplit_once('/').expect("a parent").0);
                for task in state.tasks.values_mut().filter(|task| task.group == own) {
                    task.group.clone_from(&parent);
                }
            }
            set(state, path, cpu_ranges(&cpus));
            let own = self.name_of_group(&group);
            if own != "/" && !cpus.is_empty() {
                Kernel::confine(state, &own, &cpus);
            }
        }
        // Only a task without another CPU gets others.
        for task in state.tasks.values_mut() {
            if task.cpus == [cpu] && task.flags & PF_NO_SETAFFINITY == 0 {
                task.cpus.clone_from(&online);
            }
        }
    }
}
