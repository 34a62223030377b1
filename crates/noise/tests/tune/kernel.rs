//! A kernel in memory: files that understand what is written into them, with
//! the side effects of the real ones, as far as tune meets them.

mod cpusets;
mod hotplug;

use noise::machines::Machine;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use sys::files::Files;
use sys::files::{bracketed, cpu_list};

const CPU: &str = "/sys/devices/system/cpu";
const EIO: i32 = 5;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const PF_NO_SETAFFINITY: u64 = 0x0400_0000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) start: u64,
    pub(crate) flags: u64,
    pub(crate) cpus: Vec<u32>,
    /// Below the mount of cpusets: `/`, `/docker`.
    pub(crate) group: String,
    /// `Z` or `X` of one that is dead: it can't be moved, and is in no group's
    /// way.
    pub(crate) dead: Option<&'static str>,
}

impl Task {
    fn new(start: u64, cpus: Vec<u32>, group: &str) -> Task {
        Task {
            start,
            flags: 0,
            cpus,
            group: group.into(),
            dead: None,
        }
    }
}

/// Everything that can be told from outside: values and tasks.
pub(crate) type Snapshot = (BTreeMap<String, String>, BTreeMap<u32, Task>);

/// How version 1 and 2 differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    None,
    One,
    Two,
}

#[derive(Clone, Debug)]
struct State {
    values: BTreeMap<String, String>,
    directories: BTreeSet<String>,
    tasks: BTreeMap<u32, Task>,
    /// The next task's number.
    next: u32,
    /// CPUs that went, and not all has happened yet.
    going: Vec<u32>,
}

/// What goes wrong.
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
    state: RefCell<State>,
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

fn list(cpus: &[u32]) -> String {
    noise::cpus::list(cpus)
}

fn mask(text: &str) -> Option<u64> {
    u64::from_str_radix(&text.trim().replace(',', ""), 16).ok()
}

impl Kernel {
    pub(crate) fn new(machine: &Machine, groups: Groups) -> Kernel {
        let mount = match groups {
            Groups::One => "/cg/cpuset",
            _ => "/cg",
        };
        let online = machine.files.get(&format!("{CPU}/online"));
        let online = online.map_or("0", String::as_str);
        let all = cpu_list(online).expect("a list");
        let (first, last) = (all[0], *all.last().expect("a CPU"));
        // Groups are ours to simulate.
        let machine = machine.clone().without("/sys/fs/cgroup").read(&format!(
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
        let machine = machine.read(&match groups {
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
            let task = Task {
                flags,
                ..Task::new(u64::from(id) * 10, cpus, group)
            };
            (id, task)
        };
        Kernel {
            state: RefCell::new(State {
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
        self.state
            .borrow_mut()
            .values
            .insert(path.into(), text.into());
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
    pub(crate) fn reuse_task(&self, id: u32, group: &str) -> Task {
        let task = Task::new(99_999, vec![0], group);
        self.state.borrow_mut().tasks.insert(id, task.clone());
        task
    }

    /// Somebody puts it into another group.
    pub(crate) fn move_by_force(&self, id: u32, group: &str) {
        let mut state = self.state.borrow_mut();
        state.tasks.get_mut(&id).expect("a task").group = group.into();
    }

    pub(crate) fn task(&self, id: u32) -> Option<Task> {
        self.state.borrow().tasks.get(&id).cloned()
    }

    /// A new task in a group, with its CPUs.
    pub(crate) fn fork_in(&self, group: &str) -> u32 {
        let cpus = cpu_list(&self.value(&format!("{CPU}/online"))).expect("a list");
        let mut state = self.state.borrow_mut();
        let id = state.next;
        state.next += 1;
        state.tasks.insert(id, Task::new(7777, cpus, group));
        id
    }

    /// How it is now; who was made meanwhile aside.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let state = self.state.borrow();
        let tasks = state.tasks.clone().into_iter().filter(|(id, _)| *id < 500);
        (state.values.clone(), tasks.collect())
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.state.borrow().values.keys().cloned().collect()
    }

    fn online(state: &State) -> Vec<u32> {
        cpu_list(&state.values[&format!("{CPU}/online")]).expect("a list")
    }

    fn possible(state: &State) -> Vec<u32> {
        match state.values.get(&format!("{CPU}/possible")) {
            Some(list) => cpu_list(list).expect("a list"),
            None => Kernel::online(state),
        }
    }

    fn policy_files(state: &State, name: &str) -> Vec<String> {
        state
            .values
            .keys()
            .filter(|path| path.contains("/cpufreq/policy") && path.ends_with(name))
            .cloned()
            .collect()
    }

    fn store(&self, state: &mut State, path: &str, text: &str) -> io::Result<()> {
        let old = state.values[path].clone();
        let (directory, name) = path.rsplit_once('/').expect("a directory");
        let invalid = || error(EINVAL);
        let value = match name {
            "smp_affinity" | "default_smp_affinity" | "cpumask" => {
                let online = Kernel::online(state);
                let bits = mask(text).ok_or_else(invalid)?;
                if !online.iter().any(|cpu| bits >> cpu & 1 == 1) {
                    return Err(invalid());
                }
                format!("{bits:08x}")
            }
            _ if bracketed(&old).is_some() => {
                let words: Vec<String> = old
                    .split_whitespace()
                    .map(|word| word.trim_matches(['[', ']']).to_owned())
                    .collect();
                if !words.iter().any(|word| word == text) {
                    return Err(invalid());
                }
                let marked = words.iter().map(|word| match word == text {
                    true => format!("[{word}]"),
                    false => word.clone(),
                });
                marked.collect::<Vec<_>>().join(" ")
            }
            "scaling_governor" => {
                if text.is_empty() || text.contains(' ') {
                    return Err(invalid());
                }
                let preference = format!("{directory}/energy_performance_preference");
                if state.values.contains_key(&preference) {
                    let becomes = match text {
                        "performance" => "performance",
                        _ => "default",
                    };
                    state.values.insert(preference, becomes.into());
                }
                text.into()
            }
            "energy_performance_preference" => {
                let governor = state.values.get(&format!("{directory}/scaling_governor"));
                if governor.is_some_and(|governor| governor == "performance") && text != old {
                    return Err(error(EBUSY));
                }
                text.into()
            }
            "no_turbo" | "boost" => {
                let whole = !directory.contains("/cpufreq/policy");
                if whole && name == "boost" {
                    for path in Kernel::policy_files(state, "/boost") {
                        state.values.insert(path, text.into());
                    }
                }
                for path in Kernel::policy_files(state, "/scaling_max_freq") {
                    if whole || path.starts_with(&format!("{directory}/")) {
                        state.values.insert(path, "1234567".into());
                    }
                }
                text.parse::<u32>().map_err(|_| invalid())?.to_string()
            }
            "online" if directory != CPU => {
                let digits = directory.rsplit_once("cpu").expect("a CPU").1;
                let cpu: u32 = digits.parse().expect("its number");
                match text {
                    "0" if Kernel::online(state) == [cpu] => return Err(error(EBUSY)),
                    "0" => self.set_online(state, cpu, false),
                    "1" => self.set_online(state, cpu, true),
                    _ => return Err(invalid()),
                }
                text.into()
            }
            "control" => {
                let on = match text {
                    "on" => true,
                    "off" => false,
                    _ => return Err(invalid()),
                };
                let possible = cpu_list(&state.values[&format!("{CPU}/possible")]).expect("a list");
                for cpu in possible {
                    let path = format!("{CPU}/cpu{cpu}/topology/thread_siblings_list");
                    let siblings = state.values.get(&path).and_then(|list| cpu_list(list));
                    if siblings.is_some_and(|siblings| siblings[0] != cpu) {
                        self.set_online(state, cpu, on);
                    }
                }
                text.into()
            }
            "tasks" | "cgroup.procs" => {
                let id = text.parse().map_err(|_| invalid())?;
                return self.move_task(state, id, directory);
            }
            "cgroup.subtree_control" => {
                let mut has: Vec<&str> = old.split_whitespace().collect();
                match text.split_at(1) {
                    ("+", name) => has.push(name),
                    ("-", name) => has.retain(|other| *other != name),
                    _ => return Err(invalid()),
                }
                has.join(" ")
            }
            "cpuset.cpus" => {
                let cpus = cpu_list(text).ok_or_else(invalid)?;
                let (above, _) = directory.rsplit_once('/').expect("a parent");
                if let Some(parent) = state.values.get(&format!("{above}/cpuset.cpus")) {
                    let parent = cpu_list(parent).unwrap_or_default();
                    if cpus.iter().any(|cpu| !parent.contains(cpu)) {
                        return Err(error(13));
                    }
                }
                let below = format!("{directory}/");
                let held = state.values.iter().any(|(other, list)| {
                    other != path
                        && other.starts_with(&below)
                        && other.ends_with("/cpuset.cpus")
                        && cpu_list(list).is_some_and(|list| list.iter().any(|c| !cpus.contains(c)))
                });
                if held {
                    return Err(error(EBUSY));
                }
                if !self.none_overlaps(state, directory, &cpus, false) {
                    return Err(invalid());
                }
                let group = self.name_of_group(directory);
                Kernel::confine(state, &group, &cpus);
                list(&cpus)
            }
            "cpuset.cpu_exclusive" => {
                let cpus = state.values[&format!("{directory}/cpuset.cpus")].clone();
                let cpus = cpu_list(&cpus).unwrap_or_default();
                if text == "1" && !self.none_overlaps(state, directory, &cpus, true) {
                    return Err(invalid());
                }
                text.into()
            }
            "cpuset.cpus.partition" => {
                let cpus = state.values[&format!("{directory}/cpuset.cpus")].clone();
                let own = cpu_list(&cpus).unwrap_or_default();
                let mut left = Kernel::online(state);
                left.retain(|cpu| !own.contains(cpu));
                let effective = format!("{}/cpuset.cpus.effective", self.mount);
                state.values.insert(effective, list(&left));
                // A task's set may hold CPUs that are offline now.
                let mut left = Kernel::possible(state);
                left.retain(|cpu| !own.contains(cpu));
                Kernel::confine(state, "/", &left);
                Kernel::confine(state, "/user", &left);
                text.into()
            }
            _ if old.trim().parse::<i64>().is_ok() => text
                .trim()
                .parse::<i64>()
                .map_err(|_| invalid())?
                .to_string(),
            _ => text.into(),
        };
        state.values.insert(path.into(), value);
        Ok(())
    }
}

impl Files for Kernel {
    fn read(&self, path: &str) -> io::Result<String> {
        let state = self.state.borrow();
        let parts: Vec<&str> = path.split('/').collect();
        if let ["", "proc", id, file] = parts[..]
            && let Ok(id) = id.parse::<u32>()
            && let Some(task) = state.tasks.get(&id)
        {
            return Ok(match file {
                "stat" => format!(
                    "{id} (a) b) {} 1 1 1 0 -1 {} 0 0 0 0 0 0 0 0 20 0 1 0 {} 0",
                    task.dead.unwrap_or("S"),
                    task.flags,
                    task.start
                ),
                "status" => format!("Name:\ta\nCpus_allowed_list:\t{}\n", list(&task.cpus)),
                "cpuset" => task.group.clone(),
                _ => return Err(io::ErrorKind::NotFound.into()),
            });
        }
        let text = state.values.get(path).ok_or(io::ErrorKind::NotFound)?;
        if let Some((directory, "tasks" | "cgroup.procs")) = path.rsplit_once('/') {
            let group = self.name_of_group(directory);
            let members: Vec<String> = state
                .tasks
                .iter()
                .filter(|(_, task)| task.group == group)
                .map(|(id, _)| id.to_string())
                .collect();
            return Ok(members.join("\n"));
        }
        Ok(text.trim().to_owned())
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        if !state.values.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let quirks = self.quirks.borrow().clone();
        if quirks.read_only {
            return Err(error(EROFS));
        }
        if quirks.managed.contains(path) {
            return Err(error(EIO));
        }
        if quirks.fixed.contains(path) {
            return Err(error(13));
        }
        if quirks.ignored.contains(path) {
            return Ok(());
        }
        // Only of what is new: what was there once is taken again.
        let text = match quirks.clamped.get(path) {
            Some(other) if text.trim() != "1000000" => other,
            _ => text.trim(),
        };
        self.store(&mut state, path, text)
    }

    fn exists(&self, path: &str) -> bool {
        let state = self.state.borrow();
        let below = format!("{path}/");
        state
            .values
            .keys()
            .any(|file| file == path || file.starts_with(&below))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let state = self.state.borrow();
        if path == "/proc" {
            return state.tasks.keys().map(u32::to_string).collect();
        }
        if let Some(id) = path
            .strip_prefix("/proc/")
            .and_then(|rest| rest.strip_suffix("/task"))
        {
            return vec![id.to_owned()];
        }
        let below = format!("{path}/");
        let names: BTreeSet<String> = state
            .values
            .keys()
            .filter_map(|file| file.strip_prefix(&below))
            .map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
            .collect();
        names.into_iter().collect()
    }

    fn make_directory(&self, path: &str) -> io::Result<()> {
        if self.quirks.borrow().read_only {
            return Err(error(EROFS));
        }
        if self.exists(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut state = self.state.borrow_mut();
        let files: &[(&str, &str)] = match self.groups {
            Groups::One => &[
                ("cpuset.cpus", ""),
                ("cpuset.mems", ""),
                ("cpuset.cpu_exclusive", "0"),
                ("tasks", ""),
            ],
            Groups::Two => &[
                ("cpuset.cpus", ""),
                ("cpuset.cpus.partition", "member"),
                ("cgroup.procs", ""),
            ],
            Groups::None => return Err(error(EROFS)),
        };
        if self.groups == Groups::Two
            && !state.values["/cg/cgroup.subtree_control"].contains("cpuset")
        {
            return Err(error(EINVAL));
        }
        state.directories.insert(path.into());
        for (file, text) in files {
            state
                .values
                .insert(format!("{path}/{file}"), (*text).into());
        }
        Ok(())
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        if !Kernel::is_group(&state, path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let group = self.name_of_group(path);
        let below = format!("{path}/");
        let has_groups = state.values.keys().any(|file| {
            file.strip_prefix(&below)
                .is_some_and(|rest| rest.contains('/'))
        });
        if has_groups
            || state
                .tasks
                .values()
                .any(|t| t.group == group && t.dead.is_none())
        {
            return Err(error(EBUSY));
        }
        state.values.retain(|file, _| !file.starts_with(&below));
        if self.groups == Groups::Two {
            let online = list(&Kernel::online(&state));
            let effective = format!("{}/cpuset.cpus.effective", self.mount);
            state.values.insert(effective, online);
            let all = Kernel::possible(&state);
            Kernel::confine(&mut state, "/", &all);
            Kernel::confine(&mut state, "/user", &all);
        }
        Ok(())
    }

    fn set_affinity(&self, task: u32, cpus: &[u32]) -> io::Result<()> {
        let mut state = self.state.borrow_mut();
        let online = Kernel::online(&state);
        let granted: Vec<u32> = cpus
            .iter()
            .copied()
            .filter(|c| online.contains(c))
            .collect();
        if granted.is_empty() {
            return Err(error(EINVAL));
        }
        let living = state.tasks.get_mut(&task).filter(|t| t.dead.is_none());
        living.ok_or_else(|| error(3))?.cpus = granted;
        Ok(())
    }
}
