//! Sandboxes: system calls that fail, devices that are not there.

use crate::support::processes::{as_user, copy_for_all, is_root};
use crate::support::{Done, Home, has, skip, unwrapped};
use crate::trace;
use model::run::{Outcome, Run};
use model::trace::Tier;
use model::trace::tier::Missing;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeSet;

/// Its numbers.
const PERF_EVENT_OPEN: (i64, i64) = (298, 241);

/// System calls, by their numbers on x86-64 and aarch64, that fail with this error.
fn failing(calls: &[(i64, i64)], error: u32) -> BpfProgram {
    let x86 = cfg!(target_arch = "x86_64");
    let calls = calls.iter().map(|&(on_x86, on_arm)| if x86 { on_x86 } else { on_arm });
    let filter = SeccompFilter::new(
        calls.map(|call| (call, Vec::new())).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(error),
        std::env::consts::ARCH.try_into().expect("a known machine"),
    );
    filter.and_then(TryInto::try_into).expect("a filter")
}

/// latlas where system calls fail.
fn filtered(home: &Home, filter: &BpfProgram, line: &str) -> Done {
    filtered_by(home, &[filter], line)
}

/// The same with several filters, so that calls fail in several ways.
fn filtered_by(home: &Home, filters: &[&BpfProgram], line: &str) -> Done {
    with_filters(filters, || home.run(line))
}

fn with_filters(filters: &[&BpfProgram], run: impl FnOnce() -> Done + Send) -> Done {
    std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            for filter in filters {
                seccompiler::apply_filter(filter).expect("a filter is taken");
            }
            run()
        });
        filtered.join().expect("no panic")
    })
}

/// A quota refuses when room is reserved; on a network that can't reserve any, when a write is synced.
#[test]
fn a_disk_that_refuses_room_is_known_before_anything_runs() {
    let home = Home::new();
    // EDQUOT and EOPNOTSUPP, of fallocate and fdatasync.
    let (quota, unsupported) = (122, 95);
    let (fallocate, fdatasync) = ([(285, 47)], [(75, 83)]);
    let at_once = [&failing(&fallocate, quota)];
    let when_synced = [&failing(&fallocate, unsupported), &failing(&fdatasync, quota)];
    for filters in [&at_once[..], &when_synced] {
        let done = filtered_by(&home, filters, "exec --out=run.json -- touch ran");
        done.refused("uota");
        has(&done.err, ["run.json"]);
        assert!(!home.path("ran").exists(), "nothing was run");
        assert!(!home.path("run.json").exists());
    }
}

#[test]
fn limits_that_may_not_be_read_are_taken_as_none() {
    let home = Home::new();
    let line = "run memory.read/sequential process.* --quick --budget=3s --document";
    // getrlimit and prlimit64, by which the C library reads limits; EPERM.
    let filter = failing(&[(97, 163), (302, 261)], 1);
    let sandboxed = filtered(&home, &filter, line).measured().document();
    let plain = home.measure(line);
    assert_eq!(sandboxed.plan.shrunk.is_some(), plain.plan.shrunk.is_some());
    let missing = |run: &Run| -> BTreeSet<String> {
        let missing = |row: &&model::run::Row| matches!(row.outcome, Outcome::Unavailable { .. });
        run.rows.iter().filter(missing).map(|row| row.id.clone()).collect()
    };
    assert_eq!(missing(&sandboxed), missing(&plain));
}

/// As in a container, and where `kernel.perf_event_paranoid` is above 2.
#[test]
fn without_perf_events_a_trace_has_sums() {
    let home = Home::new();
    if is_root() {
        copy_for_all(&home);
    }
    // Root needs no perf for the full tier.
    let run = |line: &str| if is_root() { as_user(&home, line) } else { home.run(line) };
    // EPERM and EACCES.
    for error in [1, 13] {
        let filter = failing(&[PERF_EVENT_OPEN], error);
        let done = with_filters(&[&filter], || run("trace --out t.zst -- sleep 0.1"));
        assert_eq!(done.code, 0, "{}", done.err);
        has(
            &unwrapped(&done.err),
            ["> minimal", "no own process: perf_event_open is refused", "sleep"],
        );
        let trace = trace::read_trace(&home, "t.zst");
        assert!(!trace.threads[0].samples.is_empty());
        let done = with_filters(&[&filter], || run("trace --tier own -- true"));
        done.refused("own process is not available: perf_event_open is refused");
    }
}

#[test]
fn without_perf_events_the_full_tier_lacks_stacks_only() {
    let home = Home::new();
    if !trace::allowed(&home).contains(&"full") {
        return;
    }
    let filter = failing(&[PERF_EVENT_OPEN], 1);
    let line = "trace --tier full --stacks --out t.zst -- cat /proc/self/stat";
    let done = filtered(&home, &filter, line).recorded();
    let trace = trace::read_trace(&home, "t.zst");
    assert_eq!((trace.tier, trace.stacks.is_empty()), (Tier::Full, true));
    has(&unwrapped(&done.err), ["no stacks: perf_event_open is refused"]);
    let names: Vec<&str> = trace.call_names.values().map(String::as_str).collect();
    assert!(names.contains(&"openat"), "{names:?}");
    let no_ends = trace.gaps.iter().any(|gap| gap.of == Missing::FaultEnds);
    let mut faults = trace.threads.iter().flat_map(|thread| &thread.faults);
    assert!(no_ends || faults.any(|fault| fault.served.is_some()), "{}", done.err);
}

/// With an empty /dev, in a mount namespace of its own.
#[test]
fn a_missing_null_device_is_named() {
    let home = Home::new();
    let machine = noise::machines::virtual_machine();
    let boot = machine.with_file("proc/sys/kernel/random/boot_id", "boot-1\n");
    boot.write_below(&home.path("tree")).expect("a tree");
    for line in [
        "run cpu.add_i64 --quick",
        "exec --runs 2 -- true",
        "noise tune --root tree --apply --only thp",
    ] {
        let hide = "mount -t tmpfs none /dev || exit 9; exec \"$@\"";
        let mut wrapper = vec!["unshare", "--mount", "sh", "-c", hide, "sh"];
        if !is_root() {
            wrapper.insert(2, "--map-root-user");
        }
        let done = Done::from_command(&mut home.wrapped(wrapper, line));
        if done.code == 9 || done.err.contains("unshare") {
            return skip("mounts need root, and unshare(1)");
        }
        assert_eq!((done.code, done.err.lines().count()), (2, 1), "{}", done.err);
        has(&done.err, ["/dev/null"]);
    }
}
