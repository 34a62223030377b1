//! Sandboxes: system calls that fail, devices that are not there.

use crate::support::processes::is_root;
use crate::support::{Done, Home, has, skip, unwrapped};
use model::run::{Outcome, Run};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeSet;

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
    std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            seccompiler::apply_filter(filter).expect("a filter is taken");
            home.run(line)
        });
        filtered.join().expect("no panic")
    })
}

/// With a quota, or on a network, a write that does not fit fails when it is synced.
#[test]
fn a_disk_that_refuses_on_sync_is_known_before_anything_runs() {
    let home = Home::new();
    // fdatasync, EDQUOT.
    let done = filtered(&home, &failing(&[(75, 83)], 122), "exec --out=run.json -- touch ran");
    done.refused("uota");
    has(&done.err, ["run.json"]);
    assert!(!home.path("ran").exists(), "nothing was run");
    assert!(!home.path("run.json").exists());
}

#[test]
fn limits_that_may_not_be_read_are_taken_as_none() {
    let home = Home::new();
    let line = "run memory.read/sequential process.* --quick --budget=3s --json";
    // getrlimit and prlimit64, by which the C library reads limits; EPERM.
    let filter = failing(&[(97, 163), (302, 261)], 1);
    let sandboxed = filtered(&home, &filter, line).measured().run();
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
    // EPERM and EACCES.
    for error in [1, 13] {
        let filter = failing(&[(298, 241)], error);
        let done = filtered(&home, &filter, "trace --out t.zst -- sleep 0.1");
        assert_eq!(done.code, 0, "{}", done.err);
        has(
            &unwrapped(&done.err),
            ["> minimal", "no own process: perf_event_open is refused", "sleep"],
        );
        let trace = crate::trace::read(&home, "t.zst");
        assert!(!trace.threads[0].samples.is_empty());
        let done = filtered(&home, &filter, "trace --tier own -- true");
        done.refused("own process is not available: perf_event_open is refused");
    }
}

/// With an empty /dev, in a mount namespace of its own.
#[test]
fn a_missing_null_device_is_named() {
    let home = Home::new();
    let machine = noise::machines::virtual_machine();
    let boot = machine.with("proc/sys/kernel/random/boot_id", "boot-1\n");
    boot.write_below(&home.path("tree")).expect("a tree");
    for line in
        ["run cpu.add_i64 --quick", "exec --runs 2 -- true", "noise tune --root tree --only thp"]
    {
        let hide = "mount -t tmpfs none /dev || exit 9; exec \"$@\"";
        let mut wrapper = vec!["unshare", "--mount", "sh", "-c", hide, "sh"];
        if !is_root() {
            wrapper.insert(2, "--map-root-user");
        }
        let done = Done::of(&mut home.wrapped(wrapper, line));
        if done.code == 9 || done.err.contains("unshare") {
            return skip("mounts need root, and unshare(1)");
        }
        assert_eq!((done.code, done.err.lines().count()), (2, 1), "{}", done.err);
        has(&done.err, ["/dev/null"]);
    }
}
