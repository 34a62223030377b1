//! On trees of plain files, killed before each action.

use crate::bench::{Bench, alike, contents, wait_for_end};
use crate::support::processes::{alive, signal, wait_until};
use crate::support::{Done, has, skip};
use noise::machines;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

#[test]
fn a_tree_is_restored() {
    for machine in machines::all_machines() {
        let bench = Bench::on_machine(&machine);
        let before = contents(&bench.tree());
        bench.noise("tune --apply").measured();
        let changed = !alike(&before, &contents(&bench.tree()));
        // The quiet one has nothing to set.
        assert_eq!(changed, machine.name != "quiet", "{}", machine.name);
        bench.noise("restore --json").ok();
        bench.is_as(&before);
        assert!(!bench.pending());
    }
}

/// Without a command or `--apply`: every file with its value, and none is changed.
#[test]
fn nothing_is_changed_unasked() {
    for machine in machines::all_machines() {
        let bench = Bench::on_machine(&machine);
        let before = contents(&bench.tree());
        for line in ["tune", "tune --dry-run", "tune --dry-run -- touch ran"] {
            let done = bench.noise(line).ok();
            match machine.name {
                "quiet" => has(&done.out, ["nothing to set"]),
                _ => has(done.out.lines().next().unwrap_or_default(), ["would set ", "/", " -> "]),
            }
            let hint = done.err.contains("nothing was changed: add `-- CMD`");
            assert_eq!(hint, line == "tune" && machine.name != "quiet", "{}", done.err);
            let planned = bench.noise(&line.replacen("tune", "tune --json", 1)).ok().json();
            let of_files = planned.as_array().expect("steps");
            if machine.name != "quiet" {
                assert_eq!(of_files.len(), done.out.lines().count());
            }
            for step in of_files {
                let path = step["what"].as_str().expect("a file");
                let now = before.get(&bench.tree().join(path.trim_start_matches('/')));
                assert_eq!(now.map(String::as_str), step["now"].as_str(), "{path}");
            }
            assert_eq!(before, contents(&bench.tree()), "{line}");
            assert!(!bench.home.path("state").exists() && !bench.home.path("ran").exists());
        }
    }
}

/// By its system calls, on this machine: no file is opened for writing, made or removed.
#[test]
fn no_file_of_this_machine_is_opened_for_writing_unasked() {
    let bench = Bench::new();
    let strace = "strace -f -qq -o calls -e \
        trace=?open,openat,?openat2,?creat,?mkdir,mkdirat,?rename,renameat,?unlink,unlinkat,mount";
    for line in
        ["noise tune", "noise tune --json", "noise tune --only sample-rate,thp", "noise show"]
    {
        let Ok(output) = bench.home.wrapped(strace, line).output() else {
            return skip("no strace");
        };
        let done = Done::from(output);
        if done.err.contains("PTRACE") {
            return skip(format!("strace can't be used: {}", done.err));
        }
        let calls = bench.home.read_file("calls");
        assert!(calls.contains("/sys/"), "{calls}");
        let reads = |call: &&str| {
            (call.contains("openat(") || call.contains("open("))
                && !["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| call.contains(flag))
        };
        let writes: Vec<&str> = calls.lines().filter(|call| !reads(call)).collect();
        let writes: Vec<&str> =
            writes.into_iter().filter(|call| !call.contains("\"/dev/null\"")).collect();
        assert!(writes.is_empty(), "{line}: {writes:?}");
        assert!(!bench.home.path("state").exists());
    }
}

/// Kills latlas before each of its actions; the watchdog restores everything, or, if it
/// is killed too, a later restore.
fn killed_everywhere(watchdog: bool) {
    let machine = machines::virtual_machine();
    for step in 1..500 {
        let bench = Bench::on_machine(&machine);
        let before = contents(&bench.tree());
        let mut command = bench.command("tune --only sample-rate,thp --cpus 1 -- true");
        command.env("LATLAS_FAULT_STEP", step.to_string());
        if !watchdog {
            command.env("LATLAS_FAULT_STEP_OF_WATCHDOG", "1");
        }
        let output = command.output().expect("it runs");
        if output.status.signal() != Some(9) {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert!(step > 20, "only {step} actions");
            return;
        }
        match watchdog {
            true => wait_until("the watchdog", || !bench.pending()),
            false => drop(bench.noise("restore").ok()),
        }
        bench.is_as(&before);
        assert!(!bench.pending(), "step {step}");
    }
    panic!("a tune without an end");
}

#[test]
fn killed_before_every_action_the_watchdog_restores() {
    killed_everywhere(true);
}

#[test]
fn killed_before_every_action_with_its_watchdog_a_restore_restores() {
    killed_everywhere(false);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let bench = Bench::on_machine(&machines::intel());
    let before = contents(&bench.tree());
    let end = |command: &str| {
        let done = bench.noise(&format!("tune -- {command}"));
        bench.is_as(&before);
        assert!(!bench.pending());
        done
    };
    let done = end("sh -c 'echo out; cat; exit 5'").ended_with(5);
    assert_eq!(done.out, "out\n");
    has(&done.err, ["restored"]);
    end("sh -c 'kill -TERM $$'").ended_with(143);
    end("true").ok();
    has(&end("/no/such/program").ended_with(2).err, ["/no/such/program"]);
}

#[test]
fn a_parent_that_ignores_its_children_does_not_block_it() {
    let bench = Bench::on_machine(&machines::intel());
    let before = contents(&bench.tree());
    // A shell may keep that to itself (dash does).
    let ignoring = "env --ignore-signal=CHLD";
    let status = bench.home.launch(format!("{ignoring} cat /proc/self/status"));
    let ignored = { status }.output().is_ok_and(|output| {
        let text = Done::from(output).out;
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> 16 & 1 == 1)
    });
    if !ignored {
        return skip("this env can't start a program that ignores SIGCHLD");
    }
    let line = "noise tune --root tree -- sh -c 'exit 6'";
    let mut command = bench.home.wrapped(ignoring, line);
    wait_for_end(command.spawn().expect("it runs")).ended_with(6);
    bench.is_as(&before);
}

#[test]
fn a_command_is_not_run_without_a_named_control() {
    let bench = Bench::on_machine(&machines::intel());
    // A number that never takes 1 (301 is the least: kernel/pid.c).
    let rate = bench.tree().join("proc/sys/kernel/perf_event_max_sample_rate");
    std::fs::remove_file(&rate).expect("removed");
    std::os::unix::fs::symlink("/proc/sys/kernel/pid_max", &rate).expect("a link");
    let before = contents(&bench.tree());
    let mark = bench.home.path("ran");
    for (only, why) in [
        ("thp,shield", "nothing of shield could be set"),
        ("thp,sample-rate", "nothing of sample-rate could be set"),
        ("sample-rate", "nothing could be set"),
    ] {
        let done = bench.noise(&format!("tune --only {only} --cpus 1 -- touch ran"));
        has(&done.ended_with(2).err, [why, "not run"]);
        assert!(!mark.exists(), "{only}");
        bench.is_as(&before);
        assert!(!bench.pending(), "{only}");
    }
    // A failed control of the default set is reported only.
    bench.noise("tune -- touch ran").ended_with(3);
    assert!(mark.exists());
    bench.is_as(&before);
}

/// What is named and isn't there is refused before anything is written or run: exit code 2.
#[test]
fn a_named_control_that_is_not_here_is_refused() {
    let mut refused = String::new();
    for (machine, controls) in [
        (machines::virtual_machine(), &["turbo", "governor", "smt", "offline=77"][..]),
        (machines::single(), &["irq-affinity", "epb"]),
        (
            machines::intel().with_lines(
                "/proc/sys/kernel/perf_cpu_time_max_percent = 0\n\
                 ~/cpufreq/policy{0-7}/scaling_available_governors = powersave",
            ),
            &["sample-rate", "governor"],
        ),
    ] {
        let bench = Bench::on_machine(&machine);
        let before = contents(&bench.tree());
        refused += &format!("{}\n", machine.name);
        for name in controls {
            let tune = format!("noise tune --root tree --only {name}");
            refused += &bench.home.refusals(&format!("{tune} -- touch ran"));
            let others = format!("{tune}\n{tune} --dry-run\n{tune},thp -- touch ran");
            let others = bench.home.refusals(&others);
            if *name == "turbo" {
                refused += &others;
            }
            assert!(!bench.home.path("ran").exists(), "{name}");
            assert!(!bench.home.path("state").exists(), "{name}");
            assert_eq!(before, contents(&bench.tree()), "{name}");
        }
    }
    insta::assert_snapshot!(refused);
    // One that has its good value already has nothing to set either.
    let bench = Bench::on_machine(&machines::quiet());
    bench.noise("tune --only turbo,thp -- touch ran").ok();
    assert!(bench.home.path("ran").exists());
}

#[test]
fn a_closed_stderr_stops_nothing() {
    let bench = Bench::on_machine(&machines::intel());
    let before = contents(&bench.tree());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = bench.command("tune -- touch ran");
    let status = command.stderr(writer).status().expect("it runs");
    assert_eq!(status.code(), Some(0));
    assert!(bench.home.path("ran").exists());
    bench.is_as(&before);
    assert!(!bench.pending());
}

#[test]
fn json_on_stderr_is_nothing_but_json() {
    let done = Bench::on_machine(&machines::intel()).noise("tune --json -- true");
    let whole = crate::support::json(&done.err);
    assert_eq!(whole["restored"]["pending"], false);
    let applied = whole["applied"].as_array();
    assert!(applied.is_some_and(|all| !all.is_empty()));
}

#[test]
fn whatever_the_umask_others_may_see_a_pending_restore() {
    let bench = Bench::on_machine(&machines::intel());
    let line = "noise tune --root tree --apply --only thp";
    let mut command = bench.home.limited("umask 077", line);
    command.env("LATLAS_STATE_DIR", bench.home.path("a/b"));
    Done::from_command(&mut command).ok();
    for (path, mode) in [("a", 0o755), ("a/b", 0o755), ("a/b/journal", 0o600)] {
        let found = std::fs::metadata(bench.home.path(path)).expect("it exists");
        assert_eq!(found.permissions().mode() & 0o777, mode, "{path}");
    }
}

#[test]
fn signals_reach_the_command_and_everything_is_restored() {
    let bench = Bench::on_machine(&machines::intel());
    let before = contents(&bench.tree());
    for name in ["INT", "TERM", "HUP"] {
        let ready = bench.home.path(name);
        let script = "trap \"echo got; exit 9\" INT TERM HUP; touch $0; \
                      while :; do sleep 0.05; done";
        // A runner in the background may ignore SIGINT, and what is ignored stays so.
        let mut command = bench.home.wrapped(
            "env --default-signal=INT,TERM,HUP",
            format!("noise tune --root tree -- sh -c '{script}' {name}"),
        );
        let child = command.stderr(Stdio::null()).spawn().expect("it runs");
        wait_until("the trap", || ready.exists());
        assert!(!alike(&before, &contents(&bench.tree())), "nothing is set");
        signal(child.id(), name);
        let done = wait_for_end(child).ended_with(9);
        assert_eq!(done.out, "got\n", "{name}");
        bench.is_as(&before);
    }
}

#[test]
fn values_of_other_processes_are_kept_and_listed() {
    let bench = Bench::on_machine(&machines::intel());
    bench.noise("tune --apply --only sample-rate,thp").ok();
    let again = bench.noise("tune --apply --only sample-rate").ended_with(2);
    has(&again.err, ["latlas noise restore"]);
    let rate = "tree/proc/sys/kernel/perf_event_max_sample_rate";
    bench.home.write(rate, "4711\n");
    let restored = bench.noise("restore").ended_with(3);
    has(&restored.out, ["another process", "4711"]);
    assert_eq!(bench.home.read_file(rate), "4711\n");
    assert!(!bench.pending());
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let bench = Bench::on_machine(&machines::intel());
    let refused = bench.home.refusals(
        "noise tune --root tree --only govenor
         noise tune --root tree --only perf-paranoid
         noise tune --root tree --only offline=all
         noise tune --root tree --cpus x
         noise tune --root tree --cpus 99
         noise tune --root tree --cpus 0-7",
    );
    insta::assert_snapshot!(refused);
    assert!(!bench.home.path("state").exists());
}

/// Each record is on the disk before the next thing happens: a crash of the machine may come at any
/// time.
#[test]
fn every_record_of_the_journal_is_synced_before_the_next_step() {
    let bench = Bench::on_machine(&machines::intel());
    let strace = "strace -qq -y -o calls -e trace=write,fsync,rename";
    let mut command =
        bench.home.wrapped(strace, "noise tune --root tree --only thp,sample-rate -- true");
    let Ok(output) = command.output() else {
        return skip("no strace");
    };
    let done = Done::from(output);
    if done.err.contains("PTRACE") {
        return skip(format!("strace can't be used: {}", done.err));
    }
    done.ok();
    let calls = bench.home.read_file("calls");
    let (mut records, mut synced, mut values) = (0, true, 0);
    for call in calls.lines() {
        let is_journal = call.contains("/state/journal");
        match call.split('(').next() {
            Some("write") if is_journal => {
                assert!(synced, "before: {call}");
                (records, synced) = (records + 1, false);
            }
            Some("fsync") if is_journal => synced = true,
            Some("rename") if is_journal => assert!(synced, "{call}"),
            Some("write") if call.contains("/tree/") => {
                assert!(synced, "before: {call}");
                values += 1;
            }
            _ => {}
        }
    }
    assert!(synced && records > 6 && values == 4, "{calls}");
    // Its name, the report, and that the journal is gone.
    let directory =
        calls.lines().filter(|call| call.starts_with("fsync") && call.contains("/state>"));
    assert_eq!(directory.count(), 3, "{calls}");
}

/// The watchdog restores though what the command left keeps running.
#[test]
fn a_killed_tune_is_restored_while_grandchildren_run_on() {
    let bench = Bench::on_machine(&machines::intel());
    let before = contents(&bench.tree());
    let line = "tune -- sh -c 'sleep 600 & echo $! > id.new; mv id.new id; wait'";
    let mut child = bench.command(line).spawn().expect("it runs");
    wait_until("the grandchild", || bench.home.path("id").exists());
    let grandchild: u32 = bench.home.read_file("id").trim().parse().expect("a number");
    assert!(!alike(&before, &contents(&bench.tree())), "nothing is set");
    child.kill().expect("killed");
    child.wait().expect("gone");
    wait_until("the watchdog", || !bench.pending());
    bench.is_as(&before);
    assert!(alive(grandchild), "it is not latlas's to end");
    signal(grandchild, "KILL");
}

/// What can't be looked at is no "nothing to restore".
#[test]
fn restore_says_where_it_can_not_look() {
    let bench = Bench::on_machine(&machines::intel());
    bench.home.write("file", "");
    for (state, why) in [("file", "not a directory"), ("file/below", "Not a directory")] {
        let mut command = bench.command("restore");
        command.env("LATLAS_STATE_DIR", bench.home.path(state));
        Done::from_command(&mut command).refused(why);
    }
    bench.noise("tune --apply --only thp").ok();
    for mode in [0o770, 0o757] {
        let of = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(bench.home.path("state"), of(mode)).expect("a mode");
        bench.noise("restore").refused("writable by other users");
        std::fs::set_permissions(bench.home.path("state"), of(0o755)).expect("a mode");
    }
    std::fs::remove_file(bench.home.path("tree/proc/sys/kernel/random/boot_id")).expect("removed");
    bench.noise("restore").refused("can't identify this boot");
    bench.home.write("tree/proc/sys/kernel/random/boot_id", "boot-1\n");
    bench.noise("restore").ok();
}
