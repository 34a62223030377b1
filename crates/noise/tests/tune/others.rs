//! What other programs do in between, and kernels that do not apply what is
//! written.

use super::kernel::{Groups, Kernel};
use super::{
    Bench, CPU_1, IRQ_7, IRQ_8, RATE, THP, everything, foreign, outcomes, set, shield, why,
};
use noise::machines;
use noise::tune::{BackOutcome, SetOutcome, Step, TuneError, plan};
use sys::files::Files;

#[test]
fn what_others_change_is_theirs() {
    let bench = Bench::with_groups(Groups::None, &[]);
    let (rate, thp) = (bench.value(RATE), bench.value(THP));
    let tuned = bench.begin(&[set(RATE, "1"), set(THP, "never")]);
    bench.force(RATE, "4711");
    let restored = tuned.restore();
    assert!(restored.complete());
    let [foreign] = restored.foreign().collect::<Vec<_>>()[..] else {
        panic!("{restored:?}");
    };
    assert_eq!((foreign.what.as_str(), &foreign.old), (RATE, &Some(rate)));
    assert_eq!(foreign.outcome, BackOutcome::ChangedByOthers("4711".into()));
    assert_eq!((bench.value(RATE), bench.value(THP)), ("4711".into(), thp));
    assert_eq!(bench.pending(), None);
}

#[test]
fn side_effects_that_others_change_are_theirs_too() {
    let bench = Bench::with_groups(Groups::One, &[(IRQ_7, "00000002"), (IRQ_8, "00000002")]);
    let tuned = bench.begin(&[set(CPU_1, "0")]);
    assert_eq!(bench.value(IRQ_7), "01");
    assert_eq!(bench.value("/cg/cpuset/docker/cpuset.cpus"), "0");
    assert_eq!(bench.task(44).expect("a task").group, "/docker");
    bench.force(IRQ_8, "00000007");
    let restored = tuned.restore();
    assert_eq!(foreign(&restored), [IRQ_8]);
    // All but that is as before.
    bench.force(IRQ_8, "00000002");
    bench.assert_as_before();
}

#[test]
fn one_that_fails_stops_no_other_and_is_as_before() {
    const RT: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    const MIGRATION: &str = "/proc/sys/kernel/timer_migration";
    const NUMA: &str = "/proc/sys/kernel/numa_balancing";
    let bench = Bench::with_groups(
        Groups::None,
        &[(IRQ_7, "00000003"), (RT, "950000"), (MIGRATION, "1"), (NUMA, "1")],
    );
    bench.quirks(|quirks| {
        quirks.managed.insert(IRQ_7.into());
        quirks.ignored.insert(RT.into());
        quirks.clamped.insert(MIGRATION.into(), "5".into());
        quirks.fixed.insert(NUMA.into());
    });
    let refused = [
        (set(IRQ_7, "1"), "manages this interrupt"),
        (set(RT, "-1"), "ignored it"),
        (set(NUMA, "0"), "ermission denied"),
        (set(THP, "sometimes"), "nvalid argument"),
        (set("/etc/passwd", "0"), "not a file that latlas writes"),
        (set("/proc/sys/kernel/nothing", "0"), "not a file that latlas writes"),
    ];
    let mut steps: Vec<Step> = refused.iter().map(|(step, _)| step.clone()).collect();
    steps.push(set(RATE, "1"));
    let tuned = bench.begin(&steps);
    let outcomes_of_all = outcomes(&tuned);
    for (outcome, (step, said)) in outcomes_of_all.iter().zip(&refused) {
        assert!(why(outcome).contains(said), "{step:?}: {outcome:?}");
    }
    assert_eq!(outcomes_of_all.last(), Some(&SetOutcome::Set));
    assert!(tuned.restore().complete());
    bench.assert_as_before();
    // The kernel makes 5 of the old value too: it can't be put back, and that
    // is said, and stays in the journal until it can.
    let tuned = bench.begin(&[set(MIGRATION, "0")]);
    let said = why(&outcomes(&tuned)[0]);
    let both = said.contains("changed it to \"5\"") && said.contains("can't restore");
    assert!(both, "{said}");
    assert!(tuned.restore().pending);
    assert!(bench.pending().is_some());
    bench.quirks(|quirks| quirks.clamped.clear());
    assert!(bench.restore().complete());
    bench.assert_as_before();
}

#[test]
fn a_read_only_system_is_left_and_said() {
    let bench = Bench::with_groups(Groups::One, &[]);
    bench.quirks(|quirks| quirks.read_only = true);
    let tuned = bench.begin(&[set(RATE, "1"), shield(&[1])]);
    for outcome in outcomes(&tuned) {
        assert!(why(&outcome).contains("ead-only"), "{outcome:?}");
    }
    assert!(tuned.shield_groups().is_empty());
    tuned.leave().expect("left");
    assert_eq!(bench.pending(), None);
    bench.assert_as_before();
}

#[test]
fn values_stay_when_left_and_come_back_later() {
    let bench = Bench::with_groups(Groups::None, &[]);
    bench.leave(&[set(RATE, "1")]);
    assert_eq!(bench.value(RATE), "1");
    assert!(bench.pending().expect("something").contains("noise restore"));
    let again = bench.try_begin(&[set(THP, "never")]);
    assert!(matches!(again.err(), Some(TuneError::Pending)));
    assert!(bench.restore().complete());
    bench.assert_as_before();
    assert!(!bench.restore().found);
    // What is dropped is put back at once; what was there already is not ours.
    drop(bench.begin(&[set(RATE, "1")]));
    bench.assert_as_before();
    let tuned = bench.begin(&[set(RATE, &bench.value(RATE))]);
    assert_eq!(outcomes(&tuned), [SetOutcome::Already]);
    tuned.leave().expect("left");
    assert_eq!(bench.pending(), None, "nothing waits");
}

/// A value that takes no more what it had, until the kernel lets it.
#[test]
fn a_value_that_the_kernel_adjusts_is_still_ours() {
    let bench = Bench::with_groups(Groups::None, &[]);
    let tuned = bench.begin(&[set(RATE, "1")]);
    bench.quirks(|quirks| drop(quirks.clamped.insert(RATE.into(), "50000".into())));
    // The second is another try of another process: still ours, still not back.
    for restored in [tuned.restore(), bench.restore()] {
        assert_eq!(restored.foreign().count(), 0, "{restored:?}");
        assert!(restored.pending, "{restored:?}");
        assert_eq!(bench.value(RATE), "50000");
    }
    bench.quirks(|quirks| quirks.clamped.clear());
    assert!(bench.restore().complete());
    bench.assert_as_before();
}

#[test]
fn what_others_change_after_a_try_that_failed_is_theirs() {
    let bench = Bench::with_groups(Groups::None, &[(IRQ_7, "00000002"), (IRQ_8, "00000002")]);
    let tuned = bench.begin(&[set(CPU_1, "0")]);
    bench.quirks(|quirks| quirks.fixed.extend([CPU_1.to_owned()]));
    assert!(tuned.restore().pending);
    // Days later.
    bench.force(IRQ_7, "00000005");
    bench.quirks(|quirks| quirks.fixed.clear());
    let restored = bench.restore();
    assert!(restored.complete(), "{restored:?}");
    assert_eq!(foreign(&restored), [IRQ_7]);
    assert_eq!(bench.value(IRQ_7), "00000005");
    bench.force(IRQ_7, "00000002");
    bench.assert_as_before();
}

#[test]
fn what_the_kernel_does_late_is_no_one_elses() {
    let bench = Bench::with_groups(Groups::One, &[]);
    bench.quirks(|quirks| quirks.late = true);
    let tuned = bench.begin(&[set(CPU_1, "0")]);
    assert_eq!(bench.task(44).as_ref(), bench.before.1.get(&44), "not yet");
    bench.settle();
    assert_eq!(bench.task(44).expect("a task").group, "/docker");
    assert_eq!(bench.task(40).expect("a task").cpus, [0]);
    assert_eq!(bench.value("/cg/cpuset/docker/cpuset.cpus"), "0");
    let restored = tuned.restore();
    assert!(restored.as_before(), "{restored:?}");
    bench.assert_as_before();
    // What it would not have made of them was set by another program.
    let tuned = bench.begin(&[set(CPU_1, "0")]);
    bench.settle();
    bench.move_by_force(42, "/");
    assert_eq!(foreign(&tuned.restore()), ["cpuset of task 42"]);
}

#[test]
fn a_sibling_that_was_offline_by_itself_stays_so() {
    let kernel = Kernel::new(&machines::intel(), Groups::None);
    let cpu = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/online");
    for one in 1..8 {
        kernel.force(&cpu(one), "1");
    }
    kernel.write(&cpu(5), "0").expect("offline");
    let bench = Bench::new(kernel);
    let tuned = bench.begin(&[set("/sys/devices/system/cpu/smt/control", "off")]);
    assert_eq!(bench.value(&cpu(6)), "0");
    assert!(tuned.restore().as_before());
    assert_eq!(bench.value(&cpu(5)), "0");
    bench.assert_as_before();
}

#[test]
fn a_boost_of_each_policy_is_as_before() {
    const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
    let kernel = Kernel::new(&machines::acpi(), Groups::None);
    for (file, value) in [("boost", "1"), ("policy0/boost", "0"), ("policy1/boost", "1")] {
        kernel.force(&format!("{CPUFREQ}/{file}"), value);
    }
    let bench = Bench::new(kernel);
    let tuned = bench.begin(&[set(&format!("{CPUFREQ}/boost"), "0")]);
    assert!(tuned.restore().as_before());
    bench.assert_as_before();
}

#[test]
fn only_one_at_a_time() {
    let bench = Bench::with_groups(Groups::None, &[]);
    let tuned = bench.begin(&[set(RATE, "1")]);
    let second = bench.try_begin(&[set(THP, "never")]).err();
    assert!(matches!(second, Some(TuneError::Busy { .. })));
    let restore = bench.try_restore();
    assert!(matches!(restore, Err(TuneError::Busy { .. })));
    assert!(tuned.restore().complete());
}

#[test]
fn what_is_asked_becomes_steps() {
    let bench = Bench::with_groups(Groups::One, &[]);
    let plan = |names: &[&str], cpus: &[u32]| {
        let only: Vec<String> = names.iter().map(|name| (*name).into()).collect();
        plan(&bench.kernel, &only, cpus)
    };
    assert_eq!(plan(&["shield"], &[1]).expect("a plan"), [shield(&[1])]);
    let steps = plan(&["shield", "offline=1", "thp"], &[1]).expect("a plan");
    assert_eq!(steps.last(), Some(&shield(&[1])));
    assert!(steps.iter().any(|step| matches!(step, Step::Set(change)
        if change.path == CPU_1 && change.wanted == "0")));
    assert!(plan(&["shield"], &[]).is_err());
    assert!(plan(&["offline=x"], &[]).is_err());
    let error = plan(&["govenor"], &[]).expect_err("unknown").to_string();
    assert!(error.contains("governor"), "{error}");
}

#[test]
fn all_that_controls_change_may_be_changed() {
    for machine in machines::all_machines() {
        let bench = Bench::new(Kernel::new(&machine, Groups::None));
        let tuned = bench.begin(&everything(&bench, &[1]));
        for one in tuned.applied() {
            if let SetOutcome::Failed(why) = &one.outcome {
                let known = !why.contains("not a file that latlas writes");
                assert!(known, "{}: {}", machine.name, one.what);
            }
        }
    }
}
