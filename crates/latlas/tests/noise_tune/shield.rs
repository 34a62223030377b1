//! A shield on this machine, as root: every process leaves the CPU, and comes back.

use crate::bench::{Bench, alone, can_tune, wait_for_end};
use crate::support::processes::{is_root, wait_until};
use crate::support::{Done, Home, has, skip};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Where the cpusets of version 1 are, with no shield in them; where this
/// machine can have none, says why.
fn free_cpusets() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let cpusets = mounts
        .lines()
        .find(|line| line.contains(" cgroup ") && line.contains("cpuset"))
        .and_then(|line| line.split(' ').nth(1))
        .map(PathBuf::from);
    let two = std::fs::read_to_string("/sys/devices/system/cpu/online")
        .is_ok_and(|online| online.trim() != "0");
    let Some(cpusets) = cpusets.filter(|_| can_tune() && two) else {
        skip("needs root, cpusets of version 1 and two CPUs");
        return None;
    };
    // Another's shield, as of a test of another checkout, ends soon.
    wait_until("others' shields", || !cpusets.join("latlas-shield").exists());
    Some(cpusets)
}

/// Where a process is, by what the kernel says of it.
fn whereabouts(pid: u32) -> Option<(String, String)> {
    let cpuset = std::fs::read_to_string(format!("/proc/{pid}/cpuset")).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let cpus =
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned();
    Some((cpuset.trim().to_owned(), cpus))
}

/// A bystander that ends with the test.
struct Bystander(Child);

impl Bystander {
    fn new(words: &[&str]) -> Bystander {
        Bystander(Command::new(words[0]).args(&words[1..]).spawn().expect("it runs"))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_shield_here_moves_all_processes_and_brings_each_back() {
    let _alone = alone();
    let Some(cpusets) = free_cpusets() else {
        return;
    };
    let bench = Bench::new();
    let free = Bystander::new(&["sleep", "600"]);
    let pinned = Bystander::new(&["taskset", "-c", "1", "sleep", "600"]);
    wait_until("taskset", || whereabouts(pinned.0.id()).is_some_and(|(_, cpus)| cpus == "1"));
    let before = [&free, &pinned].map(|one| whereabouts(one.0.id()).expect("it lives"));
    let look = format!(
        "cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status; cat /proc/{}/cpuset",
        free.0.id()
    );
    for kill in [false, true] {
        let script = match kill {
            false => look.clone(),
            true => format!("{look}; sleep 600"),
        };
        let mut child =
            bench.home.start(format!("noise tune --only shield --cpus 1 -- sh -c '{script}'"));
        if kill {
            wait_until("the shield", || {
                whereabouts(free.0.id()).is_some_and(|(set, _)| set == "/latlas-system")
            });
            child.kill().expect("killed");
            child.wait().expect("gone");
        } else {
            let in_shield = "/latlas-shield\nCpus_allowed_list:\t1\n/latlas-system\n";
            assert_eq!(Done::after(child).ok().out, in_shield);
        }
        wait_until("the end of the shield", || {
            !bench.pending() && !cpusets.join("latlas-shield").exists()
        });
        assert!(!cpusets.join("latlas-system").exists());
        let after = [&free, &pinned].map(|one| whereabouts(one.0.id()).expect("it lives"));
        assert_eq!(before, after);
    }
}

/// A cpuset of version 1 that goes with the test.
struct Elsewhere(PathBuf);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_shield_that_could_not_bring_every_process_back_ends_with_3() {
    let _alone = alone();
    let Some(cpusets) = free_cpusets() else {
        return;
    };
    let bench = Bench::new();
    let elsewhere = Elsewhere(cpusets.join(format!("latlas-test-{}", std::process::id())));
    std::fs::create_dir(&elsewhere.0).expect("a group");
    for file in ["cpuset.cpus", "cpuset.mems"] {
        std::fs::write(elsewhere.0.join(file), "0").expect("written");
    }
    // Dies before the group goes.
    let bystander = Bystander::new(&["sleep", "600"]);
    let tasks = elsewhere.0.join("tasks").display().to_string();
    let rows = "cpu.add_i32 cpu.memcpy/1MiB call.virtual";
    let child = bench.home.start(format!("run --quick --shield 1 {rows}"));
    // A process is in it: all is set.
    wait_until("the shield", || {
        std::fs::read_to_string(cpusets.join("latlas-shield/tasks"))
            .is_ok_and(|members| !members.is_empty())
    });
    // As another program would, while it measures.
    std::fs::write(&tasks, bystander.0.id().to_string()).expect("moved");
    has(&wait_for_end(child).ended_with(3).err, ["by another process"]);
    assert!(!bench.pending());
    assert!(!cpusets.join("latlas-shield").exists());
}

/// Why there can be no shield here, as far as that is no failure of ours: found without
/// latlas. Everything else must work.
fn no_shield() -> Option<&'static str> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let cpuset = |mount: &str| -> Option<String> {
        let fields: Vec<&str> = mount.split(' ').collect();
        let [_, path, kind, options, ..] = fields[..] else {
            return None;
        };
        let controllers = std::fs::read_to_string(format!("{path}/cgroup.controllers"));
        let two = controllers.is_ok_and(|all| all.split_whitespace().any(|one| one == "cpuset"));
        let one = options.split(',').any(|option| option == "cpuset");
        (kind == "cgroup" && one || kind == "cgroup2" && two).then(|| path.to_owned())
    };
    let cpusets: Vec<_> = mounts.lines().filter_map(cpuset).collect();
    if cpusets.is_empty() {
        return Some("no cpuset hierarchy is mounted");
    }
    // As in many containers: no group may be made in any of them.
    let refused = |path: &String| {
        let group = Path::new(path).join(format!("a-test-of-latlas-{}", std::process::id()));
        let made = std::fs::create_dir(&group);
        let _ = std::fs::remove_dir(&group);
        made.is_err()
    };
    let refused = cpusets.iter().all(refused);
    refused.then_some("no control group can be made in the cpuset hierarchy")
}

#[test]
fn a_shield_is_joined_only_by_what_is_measured_and_gone_afterwards() {
    let cpus = sys::allowed_cpus().expect("known");
    if !is_root() || cpus.len() < 2 {
        return skip("a shield needs root and a second CPU");
    }
    let _alone = alone();
    let (home, before) = (Home::new(), sys::controls::granted());
    let cpu = cpus[cpus.len() - 1];
    // Long enough for a look at the noise.
    let look = "sh -c 'cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status; sleep 0.4'";
    let done = home.run(format!("exec -r 6 --shield {cpu} --output printed --document -- {look}"));
    if let Some(why) = no_shield() {
        done.ended_with(2);
        return skip(why);
    }
    let done = done.measured();
    assert_eq!(done.err, "", "nothing that was not put back");
    has(&home.read_file("printed"), ["latlas-shield", &format!("Cpus_allowed_list:\t{cpu}\n")]);
    let run = done.document();
    let granted = &run.conditions.applied.as_ref().expect("since schema 4").granted;
    assert_eq!(granted.cpus, [cpu]);
    has(granted.cpuset.as_deref().unwrap_or_default(), ["latlas-shield"]);
    // osnoise is looked for within, where latlas itself is not.
    let rows = home.measure(format!("run cpu.add_i32 --quick --document --shield {cpu}"));
    for run in [run, rows] {
        let osnoise = run.conditions.osnoise.as_ref();
        let osnoise = osnoise.unwrap_or_else(|| panic!("{:?}", run.conditions.remarks));
        assert_eq!((osnoise.before.cpu, osnoise.after.is_some()), (Some(cpu), true));
    }
    assert_eq!(sys::controls::granted(), before);
    assert_eq!(sys::allowed_cpus().expect("known"), cpus);
}
