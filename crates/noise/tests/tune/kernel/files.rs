//! The kernel's files: what is read, and what a write makes of them.

use super::{CPU, EBUSY, EINVAL, EIO, EROFS, Groups, Kernel, KernelState, cpu_ranges, error, mask};
use std::collections::BTreeSet;
use std::io;
use sys::files::{Files, bracketed, cpu_list};

impl Kernel {
    fn store(&self, state: &mut KernelState, path: &str, text: &str) -> io::Result<()> {
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
                cpu_ranges(&cpus)
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
                state.values.insert(effective, cpu_ranges(&left));
                // A task's set may hold CPUs that are offline now.
                let mut left = Kernel::possible(state);
                left.retain(|cpu| !own.contains(cpu));
                Kernel::confine(state, "/", &left);
                Kernel::confine(state, "/user", &left);
                text.into()
            }
            _ if old.trim().parse::<i64>().is_ok() => {
                text.trim().parse::<i64>().map_err(|_| invalid())?.to_string()
            }
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
                "status" => format!("Name:\ta\nCpus_allowed_list:\t{}\n", cpu_ranges(&task.cpus)),
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
        state.values.keys().any(|file| file == path || file.starts_with(&below))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let state = self.state.borrow();
        if path == "/proc" {
            return state.tasks.keys().map(u32::to_string).collect();
        }
        if let Some(id) = path.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/task")) {
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
            Groups::Two => {
                &[("cpuset.cpus", ""), ("cpuset.cpus.partition", "member"), ("cgroup.procs", "")]
            }
            Groups::None => return Err(error(EROFS)),
        };
        if self.groups == Groups::Two
            && !state.values["/cg/cgroup.subtree_control"].contains("cpuset")
        {
            return Err(error(EINVAL));
        }
        state.directories.insert(path.into());
        for (file, text) in files {
            state.values.insert(format!("{path}/{file}"), (*text).into());
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
        let has_groups = state
            .values
            .keys()
            .any(|file| file.strip_prefix(&below).is_some_and(|rest| rest.contains('/')));
        if has_groups || state.tasks.values().any(|t| t.group == group && t.dead.is_none()) {
            return Err(error(EBUSY));
        }
        state.values.retain(|file, _| !file.starts_with(&below));
        if self.groups == Groups::Two {
            let online = cpu_ranges(&Kernel::online(&state));
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
        let granted: Vec<u32> = cpus.iter().copied().filter(|c| online.contains(c)).collect();
        if granted.is_empty() {
            return Err(error(EINVAL));
        }
        let living = state.tasks.get_mut(&task).filter(|t| t.dead.is_none());
        living.ok_or_else(|| error(3))?.cpus = granted;
        Ok(())
    }
}
