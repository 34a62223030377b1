//! A shield moves every process of this machine off a CPU, those of other tests too: so
//! its test is alone in its program.
#![cfg(target_os = "linux")]

#[path = "all/support/mod.rs"]
#[allow(dead_code, reason = "the other tests need more of it")]
mod support;

use std::path::Path;
use support::processes::is_root;
use support::{Home, has, skip};

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
    let (home, before) = (Home::new(), sys::controls::granted());
    let cpu = cpus[cpus.len() - 1];
    let look = "sh -c 'cat /proc/self/cpuset; grep Cpus_allowed_list /proc/self/status'";
    let done = home.run(format!(
        "exec -r 6 --shield {cpu} --output printed --json -- {look}"
    ));
    if let Some(why) = no_shield() {
        done.ended_with(2);
        return skip(why);
    }
    let done = done.measured();
    assert_eq!(done.err, "", "nothing that was not put back");
    has(
        &home.read("printed"),
        ["latlas-shield", &format!("Cpus_allowed_list:\t{cpu}\n")],
    );
    let run = done.run();
    let granted = &run
        .conditions
        .applied
        .as_ref()
        .expect("since schema 4")
        .granted;
    assert_eq!(granted.cpus, [cpu]);
    has(
        granted.cpuset.as_deref().unwrap_or_default(),
        ["latlas-shield"],
    );
    // osnoise is looked for within, where latlas itself is not.
    let rows = home.measure(format!("run cpu.add_i32 --quick --json --shield {cpu}"));
    for run in [run, rows] {
        let osnoise = run.conditions.osnoise.as_ref();
        let osnoise = osnoise.unwrap_or_else(|| panic!("{:?}", run.conditions.remarks));
        assert_eq!(
            (osnoise.before.cpu, osnoise.after.is_some()),
            (Some(cpu), true)
        );
    }
    assert_eq!(sys::controls::granted(), before);
    assert_eq!(sys::allowed_cpus().expect("known"), cpus);
}
