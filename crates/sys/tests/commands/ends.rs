//! How commands end, what they see of this process, and what is left of them.

use sys::command::Action;

use super::*;

fn how_it_ends(line: &str) -> End {
    Runner::new().shell(line, NONE, WaitLimits::default())
}

#[test]
fn a_command_ends_as_it_ends() {
    assert_eq!(how_it_ends("true"), End::Code(0));
    assert_eq!(how_it_ends("exit 7"), End::Code(7));
    assert_eq!(how_it_ends("kill -TERM $$"), End::Signal(15));
    // What Rust's runtime ignores for itself, a command must not.
    assert_eq!(how_it_ends("kill -PIPE $$"), End::Signal(13));
}

#[test]
fn a_command_has_its_name_its_words_and_no_descriptors_of_ours() {
    assert_eq!(output(&["sh", "-c", "echo $0:$1", "a", "b c"], NONE), "a:b c\n");
    // The standard library passes on the same inherited descriptors.
    let listed = output(&["ls", "/proc/self/fd"], NONE);
    let usual = std::process::Command::new("ls").arg("/proc/self/fd").output();
    let usual = String::from_utf8(usual.expect("it runs").stdout).expect("text");
    assert_eq!(listed, usual);
    let path = find_program(OsStr::new("sh")).expect("sh");
    let words = ["./odd/name", "-c", "echo $0"].map(OsStr::new);
    let run = Runner::new().program(&path, &words, NONE, WaitLimits::default());
    let (finished, text) = run.expect("it starts");
    assert_eq!((finished.end, text.as_str()), (End::Code(0), "./odd/name\n"));
}

#[test]
fn what_can_not_be_started_says_at_which_step() {
    let mut runner = Runner::new();
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("no-format");
    std::fs::write(&path, "echo no first line\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    let run = |runner: &mut Runner, path: &Path, controls: &[Setting]| {
        let run = runner.program(path, &[path.as_os_str()], controls, WaitLimits::default());
        run.expect_err("impossible")
    };
    let error = run(&mut runner, &path, NONE);
    assert_eq!(error.action, Action::Execute);
    assert_eq!(error.error.raw_os_error(), Some(8));
    let absent = [Setting::Cpus(vec![8000])];
    let error = run(&mut runner, Path::new("/bin/true"), &absent);
    assert_eq!(error.action, Action::Control(absent[0].row()));
    // The group still works, and there is no zombie: a child that executed
    // nothing has the name of this thread.
    assert_eq!(runner.run_program(&["true"], NONE).0.end, End::Code(0));
    let ours = format!("(ends::what_can_) Z {} ", std::process::id());
    let zombies = std::fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| stat.contains(&ours));
    assert_eq!(zombies.count(), 0);
    assert!(find_program(OsStr::new("no-such-program-here")).is_none());
    assert!(find_program(OsStr::new("")).is_none());
}

#[test]
fn a_limit_kills_the_command_its_children_and_its_session() {
    for (controls, seconds) in [(NONE, "86399.25"), (SESSIONS, "86396.25")] {
        let line = format!("sleep {seconds} & wait");
        let end = Runner::new().shell(&line, controls, within(300));
        assert_eq!(end, End::TimedOut);
        let child = format!("sleep {seconds}");
        soon("the child is gone", || running(&child) == 0);
    }
}

#[test]
fn waking_ends_the_waiting() {
    let (wake, write) = std::os::unix::net::UnixStream::pair().expect("a pair");
    std::thread::spawn(move || {
        soon("it runs", || running("sleep 86399.5") > 0);
        std::io::Write::write_all(&mut &write, b"x").expect("written");
    });
    let limits = WaitLimits { time: None, wake: Some(wake.as_fd()) };
    let end = Runner::new().shell("sleep 86399.5; true", NONE, limits);
    assert_eq!(end, End::Interrupted);
    soon("the child is gone", || running("sleep 86399.5") == 0);
}

#[test]
fn a_command_that_is_stopped_is_not_waited_for() {
    assert_eq!(how_it_ends("kill -STOP $$"), End::Stopped(19));
    // One that goes on by itself is left alone. A busy machine may be late with
    // that, or wake it before it has stopped.
    let goes_on = "(for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; kill -CONT $$; done) & \
                   kill -STOP $$; wait; sleep 0.6";
    assert!((0..5).any(|_| how_it_ends(goes_on) == End::Code(0)));
}

#[test]
fn what_a_command_leaves_running_is_listed_and_ends_with_the_group() {
    let mut runner = Runner::new();
    let leaves = "(exec -a latlas-test-left sh -c 'while :; do :; done') >/dev/null 2>&1 &";
    if find_program(OsStr::new("bash")).is_none() {
        return println!("SKIPPED: there is no bash");
    }
    runner.run_program(&["true"], NONE);
    assert_eq!(runner.left_over_ns(), 0);
    assert!(runner.group.members().expect("proc").is_empty());
    let (finished, _) = runner.run_program(&["bash", "-c", leaves], NONE);
    assert_eq!(finished.end, End::Code(0));
    if runner.counts_whole(CounterEvent::TaskClock) {
        soon("it ran", || runner.left_over_ns() > 0);
    }
    assert_eq!(runner.group.members().expect("proc").len(), 1);
    drop(runner);
    soon("it is gone", || running("latlas-test-left -c while :; do :; done") == 0);
}

#[test]
fn what_sessions_leave_is_listed_and_ends_with_the_group() {
    let mut runner = Runner::new();
    let leaves = "sleep 86396.5 >/dev/null 2>&1 &";
    for (line, controls) in [
        (leaves, SESSIONS),
        (leaves, SESSIONS),
        (leaves, SESSIONS),
        ("true", SESSIONS),
        // In the common group.
        (leaves, NONE),
    ] {
        runner.shell(line, controls, WaitLimits::default());
    }
    assert_eq!(runner.group.members().expect("proc").len(), 4);
    drop(runner);
    soon("all are gone", || running("sleep 86396.5") == 0);
}
