//! CPUs reserved for one group, and the processes that were elsewhere in between.

use super::kernel::{Groups, Kernel};
use super::{Bench, free_inner, outcomes, shield, two_cpus, why};
use noise::tune::{BackOutcome, SetOutcome};
use sys::files::Files;

/// A kernel whose last CPU can be shielded.
fn bench(groups: Groups) -> Bench {
    let kernel = two_cpus(groups);
    free_inner(&kernel, "0");
    Bench::new(kernel)
}

#[test]
fn a_shield_gives_every_process_back() {
    for (groups, elsewhere, home) in
        [(Groups::One, "/docker/inner", "/"), (Groups::Two, "/elsewhere", "/user")]
    {
        let bench = bench(groups);
        bench.quirks(|quirks| quirks.forking = true);
        let tuned = bench.begin(&[shield(&[1])]);
        assert_eq!(outcomes(&tuned), [SetOutcome::Set]);
        let group = tuned.shield_groups()[0].display().to_string();
        assert!(group.ends_with("/latlas-shield"), "{group}");
        assert_eq!(bench.value(&format!("{group}/cpuset.cpus")), "1");
        if groups == Groups::One {
            let group_of = |id| bench.task(id).expect("a task").group;
            assert_eq!([1, 40, 41].map(group_of), ["/latlas-system"; 3]);
            // Bound kernel threads and the maker of all stay.
            assert_eq!([2, 3].map(group_of), ["/"; 2]);
            assert_eq!(bench.value("/cg/cpuset/docker/cpuset.cpus"), "0");
        } else {
            let partition = bench.value(&format!("{group}/cpuset.cpus.partition"));
            assert_eq!(partition, "root");
        }
        let child = bench.fork_in("/latlas-shield");
        bench.end_task(41);
        let stranger = bench.reuse_task(40, elsewhere);
        let restored = tuned.restore();
        assert!(restored.complete(), "{restored:?}");
        let (values, mut tasks) = bench.before.clone();
        tasks.remove(&41);
        tasks.insert(40, stranger);
        assert_eq!(bench.snapshot(), (values, tasks));
        assert_eq!(bench.task(child).expect("a task").group, home);
    }
}

#[test]
fn groups_that_the_command_made_go_with_the_shield() {
    let bench = bench(Groups::One);
    let tuned = bench.begin(&[shield(&[1])]);
    for group in ["/runner", "/runner/one"] {
        let path = format!("/cg/cpuset/latlas-shield{group}");
        bench.make_directory(&path).expect("made");
    }
    let child = bench.fork_in("/latlas-shield/runner/one");
    let restored = tuned.restore();
    assert!(restored.as_before(), "{restored:?}");
    assert_eq!(bench.task(child).expect("a task").group, "/");
    bench.assert_as_before();
}

#[test]
fn a_shield_that_can_not_be_says_why() {
    let no_controller = two_cpus(Groups::Two);
    no_controller.force("/cg/cgroup.controllers", "memory");
    let one = || two_cpus(Groups::One);
    let with_a_group = one();
    let left = "/cg/cpuset/latlas-system";
    with_a_group.make_directory(left).expect("made");
    let container = one();
    container.force("/proc/self/cpuset", "/docker");
    let all: [(Kernel, &[u32], &str); 8] = [
        (one(), &[0, 1], "no CPU would be left"),
        (one(), &[7], "some of 0-1"),
        (one(), &[], "some of 0-1"),
        // A group within a group has that CPU alone.
        (one(), &[1], "busy"),
        (two_cpus(Groups::None), &[1], "not mounted"),
        (no_controller, &[1], "no cpuset controller"),
        (with_a_group, &[1], "latlas-system exists"),
        (container, &[1], "(/docker): a container"),
    ];
    for (kernel, cpus, expected) in all {
        let bench = Bench::new(kernel);
        let tuned = bench.begin(&[shield(cpus)]);
        let said = why(&outcomes(&tuned)[0]);
        assert!(said.contains(expected), "{said}");
        assert!(tuned.restore().complete());
        bench.assert_as_before();
    }
}

#[test]
fn a_task_that_died_and_was_not_waited_for_keeps_no_shield() {
    for dead in ["Z", "X"] {
        let bench = bench(Groups::One);
        let tuned = bench.begin(&[shield(&[1])]);
        assert_eq!(bench.task(41).expect("a task").group, "/latlas-system");
        bench.die(41, dead);
        let restored = tuned.restore();
        assert!(restored.complete(), "{dead}: {restored:?}");
        let mut outcomes = restored.values.iter().map(|value| &value.outcome);
        assert!(outcomes.any(|o| *o == BackOutcome::Gone), "{restored:?}");
        let (values, mut tasks) = bench.snapshot();
        tasks.insert(41, bench.before.1[&41].clone());
        assert_eq!((values, tasks), bench.before, "{dead}");
        // And the next tune begins, without it.
        assert!(bench.begin(&[shield(&[1])]).restore().as_before(), "{dead}");
    }
}
