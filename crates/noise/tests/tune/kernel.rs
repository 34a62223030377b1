//! A kernel in memory: files that understand what is written into them, with
//! the side effects of the real ones, as far as tune meets them.

mod cpusets;
mod files;
mod hotplug;

use noise::machines::MachineFiles;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use sys::files::Files;
use sys::files::cpu_list;

const CPU: &str = "/sys/devices/system/cpu";
const EIO: i32 = 5;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const PF_NO_SETAFFINITY: u64 = 0x0400_0000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SimulatedTask {
    pub(crate) start: u64,
    pub(crate) flags: u64,
    pub(crate) cpus: Vec<u32>,
    /// Below the mount of cpusets: `/`, `/docker`.
    pub(crate) group: String,
    /// `Z` or `X` of one that is dead: it can't be moved, and is in no group's
    /// way.
    pub(crate) dead: Option<&'static str>,
}

impl SimulatedTask {
    fn new(start: u64, cpus: Vec<u32>, group: &str) -> SimulatedTask {
        SimulatedTask { start, flags: 0, cpus, group: group.into(), dead: None }
    }
}

/// Everything that can be seen from outside: values and tasks.
pub(crate) type Snapshot = (BTreeMap<String, String>, BTreeMap<u32, SimulatedTask>);

/// How version 1 and 2 differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    None,
    One,
    Two,
}

#[derive(Clone, Debug)]
struct KernelState {
    values: BTreeMap<String, String>,
    directories: BTreeSet<String>,
    tasks: BTreeMap<u32, SimulatedTask>,
    /// The next task's number.
    next: u32,
    /// CPUs that went, and not all has happened yet.
    going: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Quirks {
    /// EROFS for every write.
    pub(crate) read_only: bool,
    /// EIO: the kernel's own.
    pub(crate) managed: BTreeSet<String>,
    /// Writes that are taken and do nothing.
    pub(crate) ignored: BTreeSet<String>,
    /// Writes of which something else is made.
    pub(crate) clamped: BTreeMap<String, String>,
    /// EACCES.
    pub(crate) fixed: BTreeSet<String>,
    /// A task that makes a child whenever anybody is moved.
    pub(crate) forking: bool,
    /// What happens to cpusets and tasks when a CPU goes comes later
    /// ([`Kernel::settle`]).
    pub(crate) late: bool,
}

pub(crate) struct Kernel {
    state: RefCell<KernelState>,
    quirks: RefCell<Quirks>,
    groups: Groups,
    mount: String,
}

fn error(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

/// Files of bits, which come back as this kernel writes them.
pub(crate) fn is_mask(path: &str) -> bool {
    path.ends_with("affinity") || path.ends_with("/cpumask")
}

fn cpu_ranges(cpus: &[u32]) -> String {
    noise::cpus::cpu_ranges(cpus)
}

fn mask(text: &str) -> Option<u64> {
    u64::from_str_radix(&text.trim().replace(',', ""), 16).ok()
}

impl Kernel {
    pub(crate) fn new(machine: &MachineFiles, groups: Groups) -> Kernel {
        let mount = match groups {
            Groups::One => "/cg/cpuset",
            _ => "/cg",
        };
        let online = machine.files.get(&format!("{CPU}/online"));
        let online = online.map_or("0", String::as_str);
        let all = cpu_list(online).expect("a list");
        let (first, last) = (all[0], *all.last().expect("a CPU"));
        // Groups are ours to simulate.
        let machine = machine.clone().without("/sys/fs/cgroup").with_lines(&format!(
            "/proc/sys/kernel/random/boot_id = boot-1\n\
             ~/online = {online}\n\
             ~/possible = {online}"
        ));
        let group = |name: &str, cpus: &str| {
            let group = format!("{mount}{name}");
            format!(
                "{group}/cpuset.cpus = {cpus}\n{group}/cpuset.mems = 0\n\
                 {group}/cpuset.cpu_exclusive = 0\n{group}/tasks =\n"
            )
        };
        let machine = machine.with_lines(&match groups {
            Groups::None => "/proc/self/cgroup = 0::/\n\
                             /proc/self/mountinfo = 22 1 0:21 / /proc rw - proc proc rw"
                .into(),
            Groups::One => [
                "/proc/self/cgroup = 3:cpuset:/|0::/\n\
                 /proc/self/cpuset = /\n\
                 /proc/self/mountinfo = 30 23 0:26 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n",
                &group("", online),
                &group("/docker", online),
                &group("/docker/inner", &last.to_string()),
            ]
            .concat(),
            Groups::Two => format!(
                "/proc/self/cgroup = 0::/user\n\
                 /proc/self/mountinfo = 30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n\
                 /cg/cgroup.controllers = cpuset cpu memory\n\
                 /cg/cgroup.subtree_control = cpu memory\n\
                 /cg/cpuset.cpus.effective = {online}\n\
                 /cg/cgroup.procs =\n\
                 /cg/user/cgroup.procs ="
            ),
        });
        let mut values = machine.files;
        for (path, text) in &mut values {
            if let (true, Some(bits)) = (is_mask(path), mask(text)) {
                *text = format!("{bits:08x}");
            }
        }
        let deep = match groups {
            Groups::One => "/docker",
            Groups::Two => "/user",
            Groups::None => "/",
        };
        let inner = (groups == Groups::One).then(|| (44, 0, vec![last], "/docker/inner"));
        let tasks = [
            (1, 0, all.clone(), "/"),
            (2, 0, all.clone(), "/"),
            (3, PF_NO_SETAFFINITY, vec![last], "/"),
            (40, 0, vec![last], "/"),
            (41, 0, vec![first], "/"),
            (42, 0, all, deep),
            (43, 0, vec![last], deep),
        ];
        let task = |(id, flags, cpus, group): (u32, u64, Vec<u32>, &str)| {
            let task =
                SimulatedTask { flags, ..SimulatedTask::new(u64::from(id) * 10, cpus, group) };
            (id, task)
        };
        Kernel {
            state: RefCell::new(KernelState {
                values,
                directories: BTreeSet::new(),
                tasks: tasks.into_iter().chain(inner).map(task).collect(),
                next: 500,
                going: Vec::new(),
            }),
            quirks: RefCell::new(Quirks::default()),
            groups,
            mount: mount.into(),
        }
    }

    pub(crate) fn quirks(&self, change: impl FnOnce(&mut Quirks)) {
        change(&mut self.quirks.borrow_mut());
    }

    /// Another has written this, whatever that takes.
    pub(crate) fn force(&self, path: &str, text: &str) {
        self.state.borrow_mut().values.insert(path.into(), text.into());
    }

    pub(crate) fn value(&self, path: &str) -> String {
        self.read(path).expect("a value")
    }

    pub(crate) fn end_task(&self, id: u32) {
        self.state.borrow_mut().tasks.remove(&id);
    }

    /// It ends, and its parent does not wait for it: as proc_pid_stat(5) has it.
    pub(crate) fn die(&self, id: u32, as_what: &'static str) {
        let mut state = self.state.borrow_mut();
        state.tasks.get_mut(&id).expect("a task").dead = Some(as_what);
    }

    /// Its number is another's now, elsewhere and with other CPUs.
    pub(crate) fn reuse_task(&self, id: u32, group: &str) -> SimulatedTask {
        let task = SimulatedTask::new(99_999, vec![0], group);
        self.state.borrow_mut().tasks.insert(id, task.clone());
        task
    }

    /// Another program puts it into another group.
    pub(crate) fn move_by_force(&self, id: u32, group: &str) {
        let mut state = self.state.borrow_mut();
        state.tasks.get_mut(&id).expect("a task").group = group.into();
    }

    pub(crate) fn task(&self, id: u32) -> Option<SimulatedTask> {
        self.state.borrow().tasks.get(&id).cloned()
    }

    /// A new task in a group, with its CPUs.
    pub(crate) fn fork_in(&self, group: &str) -> u32 {
        let cpus = cpu_list(&self.value(&format!("{CPU}/online"))).expect("a list");
        let mut state = self.state.borrow_mut();
        let id = state.next;
        state.next += 1;
        state.tasks.insert(id, SimulatedTask::new(7777, cpus, group));
        id
    }

    /// How it is now, without processes made since.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let state = self.state.borrow();
        let tasks = state.tasks.clone().into_iter().filter(|(id, _)| *id < 500);
        (state.values.clone(), tasks.collect())
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.state.borrow().values.keys().cloned().collect()
    }

    fn online(state: &KernelState) -> Vec<u32> {
        cpu_list(&state.values[&format!("{CPU}/online")]).expect("a list")
    }

    fn possible(state: &KernelState) -> Vec<u32> {
        match state.values.get(&format!("{CPU}/possible")) {
            Some(list) => cpu_list(list).expect("a list"),
            None => Kernel::online(state),
        }
    }

    fn policy_files(state: &KernelState, name: &str) -> Vec<String> {
        state
            .values
            .keys()
            .filter(|path| path.contains("/cpufreq/policy") && path.ends_with(name))
            .cloned()
            .collect()
    }
}
