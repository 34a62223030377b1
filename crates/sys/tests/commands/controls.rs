//! Controls of single processes, read back from inside a program and from
//! outside.

use std::io::ErrorKind;
use std::path::PathBuf;

use model::noise::applied::Settings;
use model::setting::Policy;
use sys::controls::{Above, granted, try_out};
use sys::settings::{HERE, System};

use super::*;

fn said(line: &str, controls: &[Setting]) -> String {
    output(&["sh", "-c", line], controls)
}

#[test]
fn controls_are_the_commands_own() {
    let cpu = *sys::allowed_cpus().expect("known").last().expect("one");
    let controls = [Setting::Cpus(vec![cpu]), Setting::Nice(7)];
    let text = said("nice; grep Cpus_allowed_list /proc/self/status", &controls);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["7", "Cpus_allowed_list:", &cpu.to_string()]);
    // And not ours.
    assert!(sys::allowed_cpus().expect("known").contains(&cpu));
    assert_ne!(said("nice", NONE).trim(), "7");
}

fn is_root() -> bool {
    sys::filesystem::user() == 0
}

/// Whether real-time priorities can be had: not without a right, and not in
/// each control group.
fn may_fifo() -> bool {
    try_out(&[Setting::Policy(Policy::Fifo(1))])
        .map_err(|refused| println!("SKIPPED: {refused}"))
        .is_ok()
}

fn has_autogroups() -> bool {
    let there = Path::new("/proc/self/autogroup").exists();
    if !there {
        println!("SKIPPED: this kernel has no autogroups");
    }
    there
}

/// Policy and priority in `/proc/PID/stat` (fields 41 and 40), and the session
/// (field 6): what a shell can print without any other program.
const STAT: &str = "read -r stat </proc/self/stat; set -- ${stat##*) }; echo $4 ${38} ${39}";

#[test]
fn a_command_has_each_control_and_so_have_its_children() {
    if !(is_root() && may_fifo() && has_autogroups()) {
        println!("SKIPPED: lower nice values and SCHED_FIFO need root");
        return;
    }
    let own = granted();
    let cpu = *sys::allowed_cpus().expect("known").last().expect("one");
    let controls = [
        Setting::Cpus(vec![cpu]),
        Setting::OwnSession(true),
        Setting::Nice(-4),
        Setting::Autogroup(-6),
        Setting::Policy(Policy::Fifo(3)),
        Setting::TransparentHugePages(false),
    ];
    let look =
        "cat /proc/self/autogroup; nice; grep -E \"Cpus_allowed_list|THP\" /proc/self/status";
    let line = format!("echo $$; {look}; {STAT}; sh -c '{look}; {STAT}'");
    let text = said(&line, &controls);
    let mut lines = text.lines();
    let id = lines.next().expect("a line");
    let both: Vec<&str> = lines.collect();
    assert_eq!(both.len(), 10, "{text}");
    let (itself, child) = both.split_at(5);
    assert_eq!(itself, child, "inherited");
    assert!(itself[0].starts_with("/autogroup-") && itself[0].ends_with(" nice -6"));
    assert_eq!(itself[1], "-4");
    assert_eq!(itself[2], "THP_enabled:\t0");
    assert_eq!(itself[3], format!("Cpus_allowed_list:\t{cpu}"));
    assert_eq!(itself[4], format!("{id} 3 1"), "session, priority, policy");
    // And nothing of it is ours, nor is our autogroup another.
    assert_eq!(granted(), own);
}

#[test]
fn each_policy_is_the_one_asked_for() {
    for (policy, number) in [(Policy::Batch, "0 3"), (Policy::Idle, "0 5"), (Policy::Other, "0 0")]
    {
        let controls = [Setting::Policy(policy)];
        assert_eq!(try_out(&controls).expect("no right needed").policy, Some(policy));
        let text = said(STAT, &controls);
        assert!(text.trim_end().ends_with(number), "{policy:?}: {text}");
    }
}

#[test]
fn what_is_refused_says_which_step_it_was() {
    for (impossible, kind) in [
        (Setting::Cpus(vec![8000]), ErrorKind::InvalidInput),
        (Setting::Group(PathBuf::from("/no/such/group")), ErrorKind::NotFound),
        (Setting::Autogroup(3), ErrorKind::InvalidInput),
        (Setting::Policy(Policy::Fifo(100)), ErrorKind::InvalidInput),
    ] {
        let row = impossible.row();
        let refused = try_out(&[Setting::Nice(19), impossible]).expect_err("impossible");
        assert_eq!((refused.row, refused.error.kind()), (row, kind));
    }
}

#[test]
fn groups_of_both_versions_are_joined_by_the_command_alone() {
    for group in [own_cpuset(), own_group()].into_iter().flatten() {
        let controls = [Setting::Group(group.0.clone())];
        let own = || std::fs::read_to_string("/proc/self/cgroup").expect("proc");
        let before = own();
        let name = format!("/{}", group.0.file_name().expect("a name").to_string_lossy());
        let line = "cat /proc/self/cgroup; sh -c 'cat /proc/self/cgroup'";
        let text = said(line, &controls);
        let joined = text.lines().filter(|line| line.ends_with(&name));
        assert_eq!(joined.count(), 2, "{text}");
        assert!(try_out(&controls).is_ok());
        assert_eq!(own(), before);
    }
}

/// A control group, removed when dropped.
struct ControlGroup(PathBuf);

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(10);
        // The last process in it may still be ending.
        while std::fs::remove_dir(&self.0).is_err() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A cpuset of version 1 that has all CPUs.
fn own_cpuset() -> Option<ControlGroup> {
    let (group, root) = made(|line| line.contains(" - cgroup ") && line.ends_with("cpuset"))?;
    for file in ["cpuset.cpus", "cpuset.mems"] {
        let value = std::fs::read_to_string(root.join(file)).expect("readable");
        if let Err(e) = std::fs::write(group.0.join(file), value) {
            // Another group's exclusive cpuset has some of them.
            println!("SKIPPED: no cpuset with all CPUs can be made: {e}");
            return None;
        }
    }
    Some(group)
}

/// A group of version 2.
fn own_group() -> Option<ControlGroup> {
    Some(made(|line| line.contains(" - cgroup2 "))?.0)
}

/// A group in the hierarchy with such a line of mountinfo, and its root.
fn made(is_it: impl Fn(&str) -> bool) -> Option<(ControlGroup, PathBuf)> {
    let skip = |why: &str| println!("SKIPPED: {why}");
    if !is_root() {
        skip("making a control group needs root");
        return None;
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("proc");
    let mount = mounts.lines().find(|line| is_it(line));
    let Some(root) = mount.and_then(|line| line.split(' ').nth(4)) else {
        skip("one of the hierarchies of control groups is not mounted");
        return None;
    };
    let root = PathBuf::from(root);
    let group = ControlGroup(root.join(format!("latlas-test-{}", std::process::id())));
    match std::fs::create_dir(&group.0) {
        Ok(()) => Some((group, root)),
        Err(e) => {
            skip(&format!("no control group can be made: {e}"));
            None
        }
    }
}

#[test]
fn a_thread_that_was_above_is_as_before() {
    if !may_fifo() {
        return;
    }
    let own = granted_to_thread;
    let (before, raised) = (own(), Some(Setting::Policy(Policy::Fifo(6))));
    assert!(before.is_some() && before != raised);
    let above = Above::raise(5).expect("tried out");
    assert_eq!(own(), raised);
    drop(above);
    assert_eq!(own(), before);
    drop(Above::raise(99).expect("next to the highest"));
}

/// Policy of this thread; `granted` tells of the whole process's first.
fn granted_to_thread() -> Option<Setting> {
    HERE.read(&Setting::Policy(Policy::Other))
}

#[test]
fn a_command_of_real_time_that_spins_is_ended_at_its_limit() {
    if !may_fifo() {
        return;
    }
    let controls = [Setting::OwnSession(true), Setting::Policy(Policy::Fifo(1))];
    let before = granted_to_thread();
    let end = Runner::new().shell("while :; do :; done", &controls, within(200));
    assert_eq!(end, End::TimedOut);
    assert_eq!(granted_to_thread(), before, "no longer above");
}

#[test]
fn autogroups_are_set_again_and_again_without_a_right() {
    if !has_autogroups() {
        return;
    }
    // As another user, which may change one in 100 ms: the same test again.
    const AGAIN: &str = "LATLAS_TEST_AUTOGROUPS";
    if is_root() && std::env::var_os(AGAIN).is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let mode = |bits| std::os::unix::fs::PermissionsExt::from_mode(bits);
        std::fs::set_permissions(directory.path(), mode(0o755)).expect("a mode");
        let copy = directory.path().join("test");
        // By another process: a file that this one writes may be in the hands of
        // a child that another thread forks, and can't be executed then.
        let this = std::env::current_exe().expect("a name");
        let copied = std::process::Command::new("cp").arg(this).arg(&copy).status();
        assert!(copied.expect("cp is there").success());
        let output = std::process::Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&copy)
            .args(["--exact", "controls::autogroups_are_set_again_and_again_without_a_right"])
            .env(AGAIN, "1")
            .current_dir(directory.path())
            .output();
        match output {
            Err(e) => println!("SKIPPED: no other user can run this: {e}"),
            Ok(output) => assert!(output.status.success(), "{output:?}"),
        }
        return;
    }
    let controls = [Setting::OwnSession(true), Setting::Autogroup(5)];
    let mut runner = Runner::new();
    for _ in 0..4 {
        let (_, text) = runner.run_program(&["cat", "/proc/self/autogroup"], &controls);
        assert!(text.ends_with(" nice 5\n"), "{text}");
    }
    if !is_root() {
        for lower in [Setting::Autogroup(-5), Setting::Nice(-5)] {
            let row = lower.row();
            let refused = try_out(&[Setting::OwnSession(true), lower]).expect_err("no right");
            assert_eq!(refused.row, row);
        }
    }
}

#[test]
fn controls_of_this_process_are_listed() {
    let Settings { cpus, nice, .. } = granted();
    assert_eq!(cpus, sys::allowed_cpus().expect("known"));
    let said = said("nice", NONE);
    assert_eq!(nice.map(|n| n.to_string()).as_deref(), Some(said.trim()));
}
