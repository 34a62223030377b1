//! `latlas trace`: whatever this machine allows is recorded, and says so.

use crate::support::processes::{as_user, copy_for_all, is_root, signal, survives, wait_until};
use crate::support::{Done, Home, has, lacks, skip, there, unwrapped};
use model::recording::Recording;
use model::trace::{Ended, MemoryOperation, StateKind, Target, Tier, Trace, summary::summary};
use std::collections::HashMap;
use std::process::{Command, Stdio};

/// A shell that reads, waits and ends with 3.
const COMMAND: &str = "sh -c 'cat /proc/self/stat >/dev/null; sleep 0.05; echo out; exit 3'";

pub(crate) fn read_trace(home: &Home, name: &str) -> Trace {
    let bytes = std::fs::read(home.path(name)).expect("written");
    let run = store::from_bytes(&bytes).expect("a run");
    run.recordings.iter().find_map(Recording::trace).expect("a trace").clone()
}

/// Compiles a program of `fixtures`.
pub(crate) fn compile(home: &Home, source: &str, name: &str, options: &[&str]) {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let compiled = Command::new("cc")
        .args(["-O1", "-pthread", "-o", name])
        .arg(format!("{fixtures}/{source}"))
        .args(options)
        .current_dir(home.path(""))
        .output()
        .expect("a C compiler, which building needs too");
    Done::from(compiled).ok();
}

/// The tiers that this machine allows.
pub(crate) fn allowed(home: &Home) -> Vec<&'static str> {
    let tiers = ["full", "own", "minimal"].into_iter();
    let allowed: Vec<&str> = tiers
        .filter(|tier| {
            let done = home.run(format!("trace --tier {tier} -- sleep 0.3"));
            let refused = done.code == 2 && done.err.contains("not available");
            if !refused {
                done.recorded();
            }
            !refused
        })
        .collect();
    if allowed.len() < 3 {
        skip(format_args!("only the tiers {allowed:?} are possible"));
    }
    allowed
}

#[test]
fn a_command_is_traced_and_kept() {
    let home = Home::new();
    for tier in allowed(&home) {
        let done = home.run(format!("trace --tier {tier} --out t.zst -- {COMMAND}")).recorded();
        assert_eq!(done.out, "out\n", "{tier}");
        has(&done.err, ["exit code 3", "sh ", "running"]);
        let trace = read_trace(&home, "t.zst");
        assert_eq!(trace.ended, Ended::Exited(3), "{tier}");
        assert!(trace.duration_ns > 50_000_000, "{tier}: it slept");
        // What was printed is printed again, and no control characters with it.
        let shown = home.out("trace show t.zst");
        assert_eq!(shown, done.err, "{tier}");
        lacks(&shown, ["\u{1b}"]);
        assert_eq!(home.json("trace show t.zst --document"), home.json("show t.zst --document"));
        // Nothing differs from itself.
        let same = home.json("trace diff t.zst t.zst --json");
        assert_eq!(same["threads"]["a"], same["threads"]["b"], "{tier}");
        has(&home.out("trace diff t.zst t.zst"), ["running", "One trace of each"]);
        let done = home.run("trace export t.zst -o t.pftrace");
        if tier == "minimal" {
            assert_eq!(done.code, 2, "an empty file");
            has(&done.err, ["nothing to export", "record with --tier"]);
        } else {
            assert_eq!(done.code, 0, "{tier}: {}", done.err);
        }
        if tier != "minimal" {
            let converted = std::fs::read(home.path("t.pftrace")).expect("written");
            // The first packet of a `perfetto.protos.Trace` is `compressed_packets`.
            assert_eq!(converted[0], 0x0a, "{tier}");
            let begin = &converted[2..6];
            assert!(begin.windows(2).any(|bytes| bytes == [0x92, 3]), "{tier}");
        }
        for (line, message) in [
            ("show t.zst --from 30s", "not before the end of the trace"),
            ("show t.zst --from 30ms --to 20ms", "not before --to 20.0 ms"),
            ("export t.zst -o t.svg --from 30s", "not before the end of the trace"),
        ] {
            let done = home.run(format!("trace {line}"));
            assert_eq!((done.code, &*done.out), (2, ""), "{line}");
            has(&done.err, ["nothing to draw", message]);
        }
        home.out("trace export t.zst -o t.html");
        let page = std::fs::read_to_string(home.path("t.html")).expect("written");
        has(&page, ["<!DOCTYPE html>", "exit code 3", "<canvas"]);
    }
}

#[test]
fn states_cover_each_thread_and_the_chain_is_whole() {
    let home = Home::new();
    if !allowed(&home).contains(&"full") {
        return;
    }
    home.run(format!("trace --tier full --out t.zst -- {COMMAND}"));
    let trace = read_trace(&home, "t.zst");
    for figures in summary(&trace).threads {
        let times = StateKind::ALL.map(|kind| figures.time_ns(kind));
        assert_eq!(times.iter().sum::<u64>(), figures.life_ns);
    }
    let names: Vec<&str> = trace.call_names.values().map(String::as_str).collect();
    for call in ["read", "openat", "mmap", "exit_group"] {
        assert!(names.contains(&call), "{call}: {names:?}");
    }
    // The shell, cat and sleep; sleep was blocked in its call.
    assert!(trace.threads.len() >= 3, "{:?}", trace.threads.len());
    let sleep = trace.threads.iter().find(|thread| thread.name == "sleep");
    let sleep = sleep.expect("traced");
    assert!(sleep.ended && sleep.created_by.is_some());
    assert!(trace.losses.repaired <= trace.losses.breaks);
}

/// How often a program makes each system call, as strace counts them.
fn strace_counts(home: &Home, program: &str) -> HashMap<String, u64> {
    let done = Done::from_command(&mut home.launch(format!("strace -f -c -o calls.txt {program}")));
    done.ok();
    let text = home.read_file("calls.txt");
    let lines = text.lines().filter_map(|line| {
        // % time, seconds, usecs/call, calls, perhaps errors, syscall.
        let words: Vec<&str> = line.split_whitespace().collect();
        Some(((*words.last()?).to_owned(), words.get(3)?.parse().ok()?))
    });
    lines.collect()
}

#[test]
fn memory_operations_are_as_many_as_the_kernel_counts() {
    const ROUNDS: u64 = 20;
    let home = Home::new();
    compile(&home, "faults.c", "faults", &[]);
    for tier in allowed(&home) {
        let line = format!("trace --tier {tier} --out t.zst -- ./faults");
        let done = home.run(line).recorded();
        let counted: u64 = done.out.trim().parse().expect("a number");
        let trace = read_trace(&home, "t.zst");
        if trace.losses.records > 0 {
            skip("records were lost");
            continue;
        }
        let summary = summary(&trace);
        let near = |count: u64| count.abs_diff(counted) * 100 <= counted;
        if tier == "minimal" {
            // Of the last 10 ms nothing is known; those after the program's own count may be seen.
            let most = counted + counted / 100;
            assert!(summary.faults.count <= most, "{} {counted}", summary.faults.count);
            continue;
        }
        assert!(near(summary.faults.count), "{tier}: {} of {counted}", summary.faults.count);
        let of = |operation| summary.memory.iter().find(|one| one.operation == operation);
        let faults = of(MemoryOperation::Fault).expect("the most");
        assert!(near(faults.durations.count() as u64), "{tier}: {faults:?}");
        has(&done.err, ["memory", "page fault"]);
        let calls = [
            (MemoryOperation::Map, "mmap"),
            (MemoryOperation::Advise, "madvise"),
            (MemoryOperation::Protect, "mprotect"),
            (MemoryOperation::Unmap, "munmap"),
            (MemoryOperation::Break, "brk"),
        ];
        let strace = there("strace").then(|| strace_counts(&home, "./faults"));
        for (operation, name) in calls {
            let count = of(operation).map_or(0, |one| one.durations.count() as u64);
            // The loader does some as well, and the C library for what is printed.
            let rounds = if operation == MemoryOperation::Break { 2 * ROUNDS } else { ROUNDS };
            let expected = if tier == "full" { rounds..rounds + 40 } else { 0..1 };
            assert!(expected.contains(&count), "{tier}: {operation:?} {count}");
            if let Some(counts) = strace.as_ref().filter(|_| tier == "full") {
                assert_eq!(counts.get(name), Some(&count), "{name}: {counts:?}");
            }
        }
    }
}

#[test]
fn a_row_traces_itself() {
    let home = Home::new();
    for (row, operations, marks) in [("sync.semaphore_switch", 7, 35), ("thread.lifecycle", 3, 15)]
    {
        for tier in allowed(&home) {
            let line = format!("trace {row} --operations {operations} --tier {tier} --out t.zst");
            let done = home.run(line);
            has(&done.out, [row, "shown: operation", "marks "]);
            let trace = read_trace(&home, "t.zst");
            let Target::Row(of) = &trace.target else {
                panic!("{:?}", trace.target);
            };
            assert_eq!(of.operations.len(), operations, "{row} {tier}");
            // Fewer where they take too long.
            let pairs = of.recording_pairs_ns.len();
            assert!((1..=5).contains(&pairs), "{row} {tier}: {pairs}");
            has(&unwrapped(&done.out), ["recording operations take", "of alternating runs"]);
            if row == "sync.semaphore_switch" {
                assert_eq!(of.counted, 2, "{tier}: a round trip");
                let texts = ["for 2 operations as the row counts them", "the row counts one way"];
                has(&unwrapped(&done.out), texts);
                let names = trace.signpost_names.iter().map(String::as_str);
                let names: Vec<&str> = names.collect();
                assert_eq!(names, ["semaphore_switch", "post", "wait"], "{tier}");
            }
            let signposts = trace.threads.iter().flat_map(|thread| &thread.signposts);
            assert_eq!(signposts.count(), marks, "{row} {tier}");
            // Samples do not say when a thread began and ended.
            let timed = trace.threads.iter().filter(|thread| thread.samples.is_empty());
            for thread in timed {
                let (from_ns, to_ns) = (thread.from_ns, thread.to_ns);
                for signpost in &thread.signposts {
                    let end_ns = signpost.to_ns.expect("a stretch");
                    let error_ns = of.error_ns + 1000;
                    assert!(from_ns <= signpost.from_ns + error_ns, "{row} {tier}");
                    assert!(end_ns <= to_ns + error_ns, "{row} {tier}");
                }
            }
        }
    }
    let best = allowed(&home)[0];
    home.run(format!("trace thread.lifecycle --operations 3 --tier {best} --out t.zst"));
    let [svg, part] =
        ["trace export t.zst -o t.svg", "trace export t.zst -o p.svg --to 1us"].map(|line| {
            home.out(line);
            let name = line.split_whitespace().nth(4).expect("a name");
            std::fs::read_to_string(home.path(name)).expect("written")
        });
    // Which parts of a life have room for their name depends on how long they took.
    let named = |picture: &str| {
        let parts = ["create", "start", "procedure", "end", "join"];
        parts.iter().any(|part| picture.contains(&format!(">{part}<")))
    };
    has(&svg, ["<svg"]);
    assert_eq!(svg.contains("running"), best != "minimal", "{svg}");
    assert!(named(&svg) && !named(&part), "{svg}");
    let refused = home.run("trace export t.zst -o t.pftrace --to 1us");
    assert_eq!(refused.code, 2, "{}", refused.err);
    let done = home.run("trace sched.pool/2 --operations 20 --tails");
    has(&done.out, ["sched.pool at 2", " of 20 operations take more than ", "in this run"]);
    for (row, message) in [
        ("sched.pool/7", "sched.pool has no point"),
        ("sync.semafore_switch", "did you mean sync.semaphore_switch"),
        ("cpu.add_i64", "aren't timed one by one"),
        ("sched.ring", "differences of two durations"),
        ("semaphore", "could be sync.semaphore_switch/free"),
    ] {
        let done = home.run(format!("trace {row} --operations 2"));
        assert_eq!(done.code, 2, "{row}: {}", done.err);
        has(&done.err, [message]);
    }
}

#[test]
fn the_last_seconds_are_kept() {
    let home = Home::new();
    let command = "sh -c 'cat /dev/null; sleep 1.5; ls / >/dev/null; sleep 0.1'";
    for tier in allowed(&home) {
        let options = match tier {
            "full" => "--last 400ms --scheduler-only",
            _ => "--last 400ms",
        };
        home.run(format!("trace {options} --tier {tier} --out t.zst -- {command}")).recorded();
        let trace = read_trace(&home, "t.zst");
        assert_eq!(trace.ended, Ended::Exited(0), "{tier}");
        assert!(trace.duration_ns <= 400_000_000, "{tier}");
        let names: Vec<&str> = trace.threads.iter().map(|t| t.name.as_str()).collect();
        // The first, by what was dropped; and none that had ended by then.
        assert!(names.contains(&"sh") && names.contains(&"sleep"), "{tier}: {names:?}");
        assert!(!names.contains(&"cat"), "{tier}: {names:?}");
        if tier != "minimal" {
            assert!(names.contains(&"ls"), "{tier}: {names:?}");
            let shell = trace.threads.iter().find(|t| t.name == "sh");
            let first = shell.expect("named").segments.first().expect("states");
            // What was dropped says that it waited.
            let waited = match tier {
                "full" => StateKind::Blocked,
                _ => StateKind::BlockedOrRunnable,
            };
            let losses = trace.losses;
            let is_lost = losses.records > 0 || losses.breaks > 0;
            let state = first.state.kind();
            assert!(
                first.from_ns == 0 && (state == waited || is_lost && state == StateKind::Unknown),
                "{tier}: {first:?}, {losses:?}"
            );
        }
        if tier == "full" {
            // Threads of others are not taken for its own.
            let own = |id: u32| trace.threads.iter().any(|t| t.id == id);
            let children = trace.threads.iter().filter(|t| t.name != "sh");
            assert!(children.filter_map(|t| t.created_by).all(own), "{names:?}");
        }
    }
}

#[test]
fn a_hang_is_seen_in_the_last_seconds() {
    let home = Home::new();
    let mut target = Command::new("sleep").arg("600").spawn().expect("it starts");
    let id = target.id();
    for tier in allowed(&home) {
        // The wait until it sleeps is over long before its last 100 ms.
        let line = format!("trace --last 100ms --for 600ms --tier {tier} --pid {id} --out t.zst");
        home.run(line).recorded();
        let trace = read_trace(&home, "t.zst");
        assert!(trace.duration_ns <= 100_000_000, "{tier}");
        let segments = trace.threads[0].segments.iter();
        let states: Vec<(u64, u64, StateKind)> =
            segments.map(|s| (s.from_ns, s.to_ns, s.state.kind())).collect();
        if tier != "minimal" {
            assert_eq!(states, [(0, trace.duration_ns, StateKind::Blocked)], "{tier}");
        }
    }
    target.kill().expect("killed");
    target.wait().expect("ended");
}

#[test]
fn a_process_is_traced_until_a_request() {
    let home = Home::new();
    let mut target = Command::new("sleep").arg("600").spawn().expect("it starts");
    let id = target.id();
    let line = format!("trace --pid {id} --out t.zst");
    let tracing = home.start(&line);
    wait_until("its handler", || survives(tracing.id(), 15));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    // timeout(1) sends each twice.
    signal(tracing.id(), "TERM");
    signal(tracing.id(), "TERM");
    let done = Done::after(tracing);
    assert!(target.try_wait().expect("ours").is_none(), "the target goes on");
    target.kill().expect("killed");
    target.wait().expect("ended");
    let trace = read_trace(&home, "t.zst");
    assert_eq!((trace.target, trace.ended), (Target::Process(id), Ended::Requested));
    has(&done.out, ["stopped on request", "sleep"]);
}

#[test]
fn no_time_is_too_long() {
    let home = Home::new();
    let long = "9223372036854775807s";
    home.run(format!("trace --for {long} --out t.zst -- true")).recorded();
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Exited(0));
    let most = "'18446744073709551615s 999ms'";
    for tier in allowed(&home) {
        let line = format!("trace --last {most} --tier {tier} --out t.zst -- sleep 0.1");
        home.run(line).recorded();
        let trace = read_trace(&home, "t.zst");
        assert!(trace.duration_ns > 100_000_000, "{tier}: all of it");
    }
    let mut target = Command::new("sleep").arg("600").spawn().expect("it starts");
    let tracing = home.start(format!("trace --pid {} --for {long} --out t.zst", target.id()));
    wait_until("its handler", || survives(tracing.id(), 15));
    signal(tracing.id(), "TERM");
    Done::after(tracing);
    target.kill().expect("killed");
    target.wait().expect("ended");
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Requested);
}

#[test]
fn the_end_of_a_process_ends_its_trace() {
    let home = Home::new();
    // Later than a busy machine takes to begin.
    let mut target = Command::new("sleep").arg("8").spawn().expect("it starts");
    let tracing = home.start(format!("trace --pid {} --out t.zst", target.id()));
    target.wait().expect("ended");
    let done = Done::after(tracing);
    has(&done.out, ["the process ended"]);
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Gone);
}

#[test]
fn a_command_gets_the_requests_and_the_trace_is_kept() {
    let home = Home::new();
    let tracing = home.start("trace --out t.zst -- sh -c 'touch begun; exec sleep 60'");
    wait_until("the command", || home.path("begun").exists());
    signal(tracing.id(), "TERM");
    Done::after(tracing).recorded();
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Signalled(15));
    // At the limit the command gets one, too.
    home.run("trace --for 200ms --out t.zst -- sleep 60").recorded();
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Time);
}

#[test]
fn a_command_that_ignores_requests_is_killed_and_the_trace_is_kept() {
    let home = Home::new();
    let stubborn = "sh -c 'trap : TERM; touch begun; while :; do sleep 0.1; done'";
    home.run(format!("trace --for 300ms --out t.zst -- {stubborn}")).recorded();
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Time);
    std::fs::remove_file(home.path("begun")).expect("it began");
    let tracing = home.start(format!("trace --out t.zst -- {stubborn}"));
    wait_until("the command", || home.path("begun").exists());
    for _ in 0..2 {
        signal(tracing.id(), "TERM");
        std::thread::sleep(std::time::Duration::from_millis(1000));
    }
    Done::after(tracing).recorded();
    assert_eq!(read_trace(&home, "t.zst").ended, Ended::Requested);
}

/// The buffers of this process's recordings that the kernel has, by their names.
fn buffers(recorder: u32) -> Vec<String> {
    let directory = std::fs::read_dir("/sys/kernel/tracing/instances");
    let names = directory
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&format!("latlas_{recorder}_"))).collect()
}

#[test]
fn the_kernels_buffers_are_gone_after_every_end() {
    let home = Home::new();
    for signal_name in ["TERM", "KILL"] {
        let mut tracing =
            home.start("trace --tier full --out t.zst -- sh -c 'touch begun; sleep 60'");
        let recorder = tracing.id();
        let mut ended = false;
        wait_until("the command", || {
            ended = tracing.try_wait().is_ok_and(|status| status.is_some());
            ended || home.path("begun").exists()
        });
        if ended || buffers(recorder).is_empty() {
            let _ = tracing.kill();
            let _ = tracing.wait();
            return skip("tracefs is not mounted here, or its instances can't be made");
        }
        std::fs::remove_file(home.path("begun")).expect("it began");
        signal(recorder, signal_name);
        let _ = tracing.wait();
        wait_until("the buffers' end", || buffers(recorder).is_empty());
    }
}

#[test]
fn little_memory_and_little_rights_are_enough() {
    let home = Home::new();
    if !is_root() {
        return skip("only root can give rights up");
    }
    copy_for_all(&home);
    let user = as_user(&home, "trace --out t.zst -- sleep 0.05").recorded();
    let trace = read_trace(&home, "t.zst");
    assert_ne!(trace.tier, Tier::Full);
    has(&unwrapped(&user.err), ["no full: tracefs can't be read"]);
    // With the right, stacks have room beside the rest. A container may forbid it.
    let rights = "+perfmon";
    let line = format!(
        "sh -c 'ulimit -l 64; setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps={rights} --ambient-caps={rights} ./latlas trace --stacks --out s.zst -- sleep 0.05'"
    );
    let done = Done::from_command(&mut home.launch(line));
    let trace = read_trace(&home, "s.zst");
    if trace.tier != Tier::Minimal {
        assert!(!trace.stacks.is_empty(), "{}", done.err);
    }
    // As much locked memory as a user has by default, and none.
    for limit in ["ulimit -l 64", "ulimit -l 0"] {
        let line = format!(
            "sh -c '{limit}; setpriv --reuid=65534 --regid=65534 --clear-groups ./latlas trace --out u.zst -- sleep 0.05'"
        );
        Done::from_command(&mut home.launch(line)).recorded();
        assert!(!read_trace(&home, "u.zst").threads.is_empty());
    }
}

#[test]
fn what_can_t_be_traced_is_refused() {
    let home = Home::new();
    home.write("garbage", "no trace");
    let text = home.refusals(
        "trace
        trace --pid 4194304
        trace --pid 0
        trace --for 0s -- true
        trace --buffer 1KiB -- true
        trace --out /no/such/t.zst -- true
        trace -- /no/such/program
        trace show garbage
        trace export garbage -o x.pftrace
        trace export garbage -o x.txt
        trace diff garbage garbage
        trace show absent",
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_does_not_fit_is_refused_with_a_hint() {
    let home = Home::new();
    for (line, message) in [
        ("--tails -- true", "--tails needs a row"),
        ("sched.pool --last 1s", "cannot be used with"),
        ("--pid 1 --operations 3", "--operations needs a row"),
        ("sched.pool --operations 4294967295", "give a number from 1 to 200000"),
        ("ls", "; to trace a command: latlas trace -- ls"),
        ("-- ''", "can't start \"\": "),
        ("--from 30ms --to 20ms -- true", "not before --to 20.0 ms"),
        ("--from 30s -- true", "not before the end of the trace"),
    ] {
        let done = home.run(format!("trace {line}"));
        assert_eq!((done.code, &*done.out), (2, ""), "{line}: {}", done.err);
        has(&done.err, [message]);
    }
}

#[test]
fn the_trace_of_a_row_that_is_stopped_is_kept() {
    let home = Home::new();
    let done =
        home.run("trace sched.wakeup --operations 200000 --for 500ms --out t.zst").recorded();
    has(&unwrapped(&done.out), ["sched.wakeup", "stopped at the time limit"]);
    let trace = read_trace(&home, "t.zst");
    assert_eq!(trace.ended, Ended::Time);
    assert!(matches!(trace.target, Target::Command(_)));
    assert!(!trace.threads.is_empty());
}

#[test]
fn the_command_has_the_streams() {
    let home = Home::new();
    let mut command = home.command("trace -- cat");
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    use std::io::Write;
    child.stdin.take().expect("piped").write_all(b"through\n").expect("written");
    assert_eq!(Done::after(child).recorded().out, "through\n");
}

#[test]
#[ignore = "run by others, traced"]
fn marks_itself() {
    for _ in 0..3 {
        let _span = latlas_signpost::span!("turn");
        latlas_signpost::signpost!("now");
    }
    std::mem::forget(latlas_signpost::span!("open"));
}

#[test]
fn signposts_are_recorded_in_each_tier() {
    let home = Home::new();
    let program = std::env::current_exe().expect("its path");
    let program = program.display();
    for tier in allowed(&home) {
        let done = home
            .run(format!(
                "trace --tier {tier} --out t.zst -- {program} --exact trace::marks_itself --ignored"
            ))
            .recorded();
        let trace = read_trace(&home, "t.zst");
        let all = summary(&trace).signposts;
        let of = |name: &str| {
            let figures =
                all.iter().find(|figures| trace.signpost_names[figures.name as usize] == name);
            let figures = figures.expect("recorded");
            (figures.moments, figures.durations.count(), figures.unfinished)
        };
        assert_eq!(of("turn"), (0, 3, 0), "{tier}");
        assert_eq!(of("now"), (3, 0, 0), "{tier}");
        assert_eq!(of("open"), (0, 0, 1), "{tier}");
        assert_eq!(trace.losses.signposts, 0, "{tier}");
        has(&done.err, ["signpost", "turn", "unfinished"]);
    }
}

#[test]
fn without_calls_and_faults_it_says_so() {
    let home = Home::new();
    for tier in allowed(&home) {
        let done = home
            .run(format!("trace --scheduler-only --tier {tier} --out t.zst -- {COMMAND}"))
            .recorded();
        let trace = read_trace(&home, "t.zst");
        let threads = || trace.threads.iter();
        assert!(threads().all(|thread| thread.calls.is_empty()), "{tier}");
        assert!(threads().all(|thread| thread.faults.is_empty()), "{tier}");
        let left_out = unwrapped(&done.err).contains("no faults: left out (--scheduler-only)");
        assert_eq!(left_out, tier != "minimal", "{tier}: {}", done.err);
    }
}
