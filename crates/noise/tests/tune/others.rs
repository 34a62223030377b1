//! What others do: values changed meanwhile, journals of another boot or
//! forged, locks held, disks full; and kernels that do not do as they are told.

use super::kernel::Groups;
use super::{outcomes, set, state, two_cpus};
use noise::tune::{
    BackOutcome, SetOutcome, StateDir, Step, TuneError, Tuned, pending, plan, restore,
};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

fn journal(state: &StateDir) -> PathBuf {
    state.path().join("journal")
}

fn why(outcome: &SetOutcome) -> String {
    match outcome {
        SetOutcome::Failed(why) => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_others_change_is_theirs() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    let (rate, thp) = (kernel.value(RATE), kernel.value(THP));
    let steps = [set(RATE, "1"), set(THP, "never")];
    let tuned = Tuned::begin(&kernel, &state, &steps).expect("begun");
    kernel.force(RATE, "4711");
    let restored = tuned.restore();
    assert!(restored.complete());
    let foreign: Vec<_> = restored.foreign().collect();
    assert_eq!(foreign.len(), 1);
    assert_eq!(foreign[0].what, RATE);
    assert_eq!(foreign[0].old.as_ref(), Some(&rate));
    assert_eq!(
        foreign[0].outcome,
        BackOutcome::ChangedByOthers("4711".into())
    );
    assert_eq!(kernel.value(RATE), "4711");
    assert_eq!(kernel.value(THP), thp);
    assert!(pending(state.path()).is_none());
}

#[test]
fn side_effects_that_others_change_are_theirs_too() {
    let kernel = two_cpus(Groups::One);
    kernel.force("/proc/irq/7/smp_affinity", "00000002");
    kernel.force("/proc/irq/8/smp_affinity", "00000002");
    let (_directory, state) = state();
    let steps = [set("/sys/devices/system/cpu/cpu1/online", "0")];
    let tuned = Tuned::begin(&kernel, &state, &steps).expect("begun");
    assert_eq!(kernel.value("/proc/irq/7/smp_affinity"), "01");
    assert_eq!(kernel.value("/cg/cpuset/docker/cpuset.cpus"), "0");
    assert_eq!(kernel.task(44).expect("a task").group, "/docker");
    kernel.force("/proc/irq/8/smp_affinity", "00000007");
    let restored = tuned.restore();
    assert_eq!(restored.foreign().count(), 1, "{restored:?}");
    assert_eq!(kernel.value("/proc/irq/7/smp_affinity"), "00000002");
    assert_eq!(kernel.value("/proc/irq/8/smp_affinity"), "00000007");
    assert_eq!(kernel.value("/cg/cpuset/docker/cpuset.cpus"), "0-1");
    assert_eq!(kernel.task(44).expect("a task").group, "/docker/inner");
    assert_eq!(kernel.task(44).expect("a task").cpus, [1]);
}

#[test]
fn a_value_that_is_there_already_is_not_ours() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    kernel.force(RATE, "1");
    let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
    assert_eq!(outcomes(&tuned), [SetOutcome::Already]);
    tuned.leave().expect("left");
    assert!(pending(state.path()).is_none(), "nothing waits");
}

#[test]
fn one_that_fails_stops_no_other_and_is_as_before() {
    let kernel = two_cpus(Groups::None);
    let (irq, rt) = (
        "/proc/irq/7/smp_affinity",
        "/proc/sys/kernel/sched_rt_runtime_us",
    );
    kernel.force(irq, "00000003");
    kernel.force(rt, "950000");
    kernel.force("/proc/sys/kernel/timer_migration", "1");
    kernel.force("/proc/sys/kernel/numa_balancing", "1");
    kernel.quirks(|quirks| {
        quirks.managed.insert(irq.into());
        quirks.ignored.insert(rt.into());
        quirks
            .clamped
            .insert("/proc/sys/kernel/timer_migration".into(), "5".into());
        quirks
            .fixed
            .insert("/proc/sys/kernel/numa_balancing".into());
    });
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let steps = [
        set(irq, "1"),
        set(rt, "-1"),
        set("/proc/sys/kernel/numa_balancing", "0"),
        set(THP, "sometimes"),
        set("/etc/passwd", "0"),
        set("/proc/sys/kernel/nothing", "0"),
        set(RATE, "1"),
    ];
    let tuned = Tuned::begin(&kernel, &state, &steps).expect("begun");
    let outcomes = outcomes(&tuned);
    assert!(why(&outcomes[0]).contains("manages this interrupt"));
    assert!(why(&outcomes[1]).contains("ignored it"));
    assert!(why(&outcomes[2]).contains("ermission denied"));
    assert!(why(&outcomes[3]).contains("nvalid argument"));
    assert!(why(&outcomes[4]).contains("not a file that latlas writes"));
    assert!(why(&outcomes[5]).contains("not a file that latlas writes"));
    assert_eq!(outcomes[6], SetOutcome::Set);
    assert!(tuned.restore().complete());
    assert_eq!(kernel.snapshot(), before);
    // The kernel makes 5 of the old value too: it can't be put back, and that
    // is said, and stays in the journal until it can.
    let step = [set("/proc/sys/kernel/timer_migration", "0")];
    let tuned = Tuned::begin(&kernel, &state, &step).expect("begun");
    let said = why(&super::outcomes(&tuned)[0]);
    assert!(
        said.contains("changed it to \"5\"") && said.contains("can't restore"),
        "{said}"
    );
    assert!(tuned.restore().pending);
    assert!(pending(state.path()).is_some());
    kernel.quirks(|quirks| quirks.clamped.clear());
    assert!(restore(&kernel, &state).expect("restored").complete());
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn a_read_only_system_is_left_and_said() {
    let kernel = two_cpus(Groups::One);
    kernel.quirks(|quirks| quirks.read_only = true);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let steps = [set(RATE, "1"), Step::Shield { cpus: vec![1] }];
    let tuned = Tuned::begin(&kernel, &state, &steps).expect("begun");
    assert!(why(&outcomes(&tuned)[0]).contains("read-only"));
    assert!(why(&outcomes(&tuned)[1]).contains("ead-only"));
    assert!(tuned.shield_groups().is_empty());
    tuned.leave().expect("left");
    assert!(pending(state.path()).is_none());
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn values_stay_when_left_and_come_back_later() {
    let kernel = two_cpus(Groups::None);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
    tuned.leave().expect("left");
    assert_eq!(kernel.value(RATE), "1");
    assert!(
        pending(state.path())
            .expect("something")
            .contains("noise restore")
    );
    let again = Tuned::begin(&kernel, &state, &[set(THP, "never")]);
    assert!(matches!(again.err(), Some(TuneError::Pending)));
    assert!(restore(&kernel, &state).expect("restored").complete());
    assert_eq!(kernel.snapshot(), before);
    assert!(!restore(&kernel, &state).expect("nothing").found);
}

#[test]
fn what_is_dropped_is_put_back() {
    let kernel = two_cpus(Groups::None);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    drop(Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun"));
    assert_eq!(kernel.snapshot(), before);
}

/// A value that takes no more what it had, until the kernel lets it.
#[test]
fn what_the_kernel_makes_of_our_own_write_is_nobody_elses() {
    let kernel = two_cpus(Groups::None);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
    let clamp = |to: &str| {
        kernel.quirks(|quirks| drop(quirks.clamped.insert(RATE.into(), to.into())));
    };
    clamp("50000");
    let restored = tuned.restore();
    assert_eq!(restored.foreign().count(), 0, "{restored:?}");
    assert!(restored.pending, "{restored:?}");
    assert_eq!(kernel.value(RATE), "50000");
    // Another try, another process: still ours, and still not back.
    let restored = restore(&kernel, &state).expect("tried");
    assert!(
        restored.pending && restored.foreign().count() == 0,
        "{restored:?}"
    );
    kernel.quirks(|quirks| quirks.clamped.clear());
    assert!(restore(&kernel, &state).expect("restored").complete());
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn what_others_change_after_a_try_that_failed_is_theirs() {
    let kernel = two_cpus(Groups::None);
    let irq = "/proc/irq/7/smp_affinity";
    let online = "/sys/devices/system/cpu/cpu1/online";
    kernel.force(irq, "00000002");
    kernel.force("/proc/irq/8/smp_affinity", "00000002");
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(online, "0")]).expect("begun");
    kernel.quirks(|quirks| {
        quirks.fixed.insert(online.into());
    });
    assert!(tuned.restore().pending);
    // Days later.
    kernel.force(irq, "00000005");
    kernel.quirks(|quirks| quirks.fixed.clear());
    let restored = restore(&kernel, &state).expect("restored");
    assert!(restored.complete(), "{restored:?}");
    let foreign: Vec<_> = restored
        .foreign()
        .map(|value| value.what.as_str())
        .collect();
    assert_eq!(foreign, [irq]);
    assert_eq!(kernel.value(irq), "00000005");
    assert_eq!(kernel.value("/proc/irq/8/smp_affinity"), "00000002");
    assert_eq!(kernel.value(online), "1");
}

#[test]
fn what_the_kernel_does_late_is_nobody_elses() {
    let kernel = two_cpus(Groups::One);
    kernel.quirks(|quirks| quirks.late = true);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let step = set("/sys/devices/system/cpu/cpu1/online", "0");
    let begin = || Tuned::begin(&kernel, &state, std::slice::from_ref(&step)).expect("begun");
    let tuned = begin();
    assert_eq!(kernel.task(44), before.1.get(&44).cloned(), "not yet");
    kernel.settle();
    assert_eq!(kernel.task(44).expect("a task").group, "/docker");
    assert_eq!(kernel.task(40).expect("a task").cpus, [0]);
    assert_eq!(kernel.value("/cg/cpuset/docker/cpuset.cpus"), "0");
    let restored = tuned.restore();
    assert!(restored.as_before(), "{restored:?}");
    assert_eq!(kernel.snapshot(), before);
    // What it would not have made of them is somebody else's.
    let tuned = begin();
    kernel.settle();
    kernel.move_by_force(42, "/");
    let restored = tuned.restore();
    let foreign: Vec<_> = restored
        .foreign()
        .map(|value| value.what.as_str())
        .collect();
    assert_eq!(foreign, ["cpuset of task 42"]);
}

#[test]
fn a_sibling_that_was_offline_by_itself_stays_so() {
    let kernel = super::Kernel::new(&noise::machines::intel(), Groups::None);
    let cpu = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/online");
    for one in 1..8 {
        kernel.force(&cpu(one), "1");
    }
    sys::files::Files::write(&kernel, &cpu(5), "0").expect("offline");
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let step = set("/sys/devices/system/cpu/smt/control", "off");
    let tuned = Tuned::begin(&kernel, &state, &[step]).expect("begun");
    assert_eq!(kernel.value(&cpu(6)), "0");
    assert!(tuned.restore().as_before());
    assert_eq!(kernel.value(&cpu(5)), "0");
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn a_boost_of_each_policy_is_as_before() {
    let kernel = super::Kernel::new(&noise::machines::acpi(), Groups::None);
    let boost = "/sys/devices/system/cpu/cpufreq/boost";
    let own = "/sys/devices/system/cpu/cpufreq/policy0/boost";
    kernel.force(boost, "1");
    kernel.force(own, "0");
    kernel.force("/sys/devices/system/cpu/cpufreq/policy1/boost", "1");
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(boost, "0")]).expect("begun");
    assert!(tuned.restore().as_before());
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn a_journal_of_another_tree_is_left() {
    let kernel = two_cpus(Groups::None);
    let (directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
    tuned.leave().expect("left");
    let other = state.clone().of_tree(directory.path());
    // Its boot is another too: that alone must not put the journal aside.
    kernel.force(BOOT, "boot-of-a-fixture");
    for error in [
        restore(&kernel, &other).expect_err("refused"),
        Tuned::begin(&kernel, &other, &[]).err().expect("refused"),
    ] {
        assert!(matches!(error, TuneError::Unusable(_)), "{error}");
        assert!(error.to_string().contains("LATLAS_STATE_DIR"), "{error}");
    }
    kernel.force(BOOT, "boot-1");
    assert_eq!(kernel.value(RATE), "1");
    assert!(restore(&kernel, &state).expect("restored").as_before());
}

#[test]
fn what_an_earlier_boot_left_need_not_be_understood() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    std::fs::create_dir_all(state.path()).expect("a directory");
    for rest in ["\"version\":1,\"x\":1", "\"version\":77,\"root\":\"/\""] {
        let text = format!("{{\"began\":{{{rest},\"boot_id\":\"boot-0\"}}}}\nnonsense\n");
        std::fs::write(journal(&state), text).expect("written");
        std::fs::set_permissions(journal(&state), Permissions::from_mode(0o600)).expect("set");
        let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
        assert!(tuned.set_aside().is_some());
        assert!(tuned.restore().as_before());
    }
}

#[test]
fn whoever_may_look_is_told_what_waits() {
    let (directory, state) = state();
    let kernel = two_cpus(Groups::None);
    let deep = StateDir::at(&state.path().join("deep"));
    let tuned = Tuned::begin(&kernel, &deep, &[set(RATE, "1")]).expect("begun");
    tuned.leave().expect("left");
    for path in [state.path(), deep.path()] {
        let mode = std::fs::metadata(path)
            .expect("a directory")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755, "{}", path.display());
    }
    assert!(
        pending(deep.path())
            .expect("something")
            .contains("in force")
    );
    // What can't be looked at: a name longer than any there can be.
    let long = directory.path().join("x".repeat(300));
    assert!(pending(&long).expect("unknown").contains("unknown whether"));
    assert!(pending(&directory.path().join("nothing")).is_none());
}

#[test]
fn groups_that_the_command_made_go_with_the_shield() {
    let kernel = two_cpus(Groups::One);
    super::free_inner(&kernel, "0");
    let before = kernel.snapshot();
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[Step::Shield { cpus: vec![1] }]).expect("begun");
    let shield = "/cg/cpuset/latlas-shield";
    for group in ["/runner", "/runner/one"] {
        sys::files::Files::make_directory(&kernel, &format!("{shield}{group}")).expect("made");
    }
    let child = kernel.fork_in("/latlas-shield/runner/one");
    let restored = tuned.restore();
    assert!(restored.as_before(), "{restored:?}");
    assert_eq!(kernel.task(child).expect("a task").group, "/");
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn only_one_at_a_time() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "1")]).expect("begun");
    let second = Tuned::begin(&kernel, &state, &[set(THP, "never")]);
    assert!(matches!(second.err(), Some(TuneError::Busy { .. })));
    assert!(matches!(
        restore(&kernel, &state),
        Err(TuneError::Busy { .. })
    ));
    assert!(tuned.restore().complete());
}

#[test]
fn a_journal_of_another_boot_is_never_applied() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    for tunes in [false, true] {
        kernel.force(BOOT, "boot-1");
        kernel.force(RATE, "100000");
        Tuned::begin(&kernel, &state, &[set(RATE, "1")])
            .expect("begun")
            .leave()
            .expect("left");
        kernel.force(BOOT, "boot-2");
        // By chance the same as what was left there before the boot.
        kernel.force(RATE, "1");
        if tunes {
            let tuned = Tuned::begin(&kernel, &state, &[set(RATE, "2")]).expect("begun");
            assert!(tuned.set_aside().expect("put aside").exists());
            assert!(tuned.restore().complete());
        } else {
            let restored = restore(&kernel, &state).expect("put aside");
            assert!(PathBuf::from(restored.of_another_boot.expect("of another")).exists());
        }
        assert_eq!(kernel.value(RATE), "1");
        assert!(pending(state.path()).is_none());
    }
}

#[test]
fn without_a_boot_id_nothing_begins() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    Tuned::begin(&kernel, &state, &[set(RATE, "1")])
        .expect("begun")
        .leave()
        .expect("left");
    // A tree with nothing in it, as a chroot without /proc and /sys.
    let blind = sys::files::Tree::new(std::path::Path::new("/nonexistent"));
    assert!(matches!(
        Tuned::begin(&blind, &state, &[set(RATE, "2")]).err(),
        Some(TuneError::NoBootId { .. })
    ));
    assert!(matches!(
        restore(&blind, &state),
        Err(TuneError::NoBootId { .. })
    ));
    assert!(journal(&state).exists(), "it waits for who sees /proc");
}

#[test]
fn half_a_record_had_not_happened() {
    let kernel = two_cpus(Groups::None);
    let before = kernel.snapshot();
    let (_directory, state) = state();
    Tuned::begin(&kernel, &state, &[set(RATE, "1")])
        .expect("begun")
        .leave()
        .expect("left");
    let mut text = std::fs::read_to_string(journal(&state)).expect("a journal");
    text.push_str("{\"intent\":{\"entry\":1,\"action\":{\"chan");
    std::fs::write(journal(&state), text).expect("written");
    let restored = restore(&kernel, &state).expect("restored");
    assert!(restored.torn && restored.complete());
    assert_eq!(kernel.snapshot(), before);
}

#[test]
fn a_garbled_journal_is_refused_with_its_line() {
    let kernel = two_cpus(Groups::None);
    let (_directory, state) = state();
    Tuned::begin(&kernel, &state, &[set(RATE, "1")])
        .expect("begun")
        .leave()
        .expect("left");
    let text = std::fs::read_to_string(journal(&state)).expect("a journal");
    let garbled = text.replacen("\"intent\"", "\"intnet\"", 1);
    std::fs::write(journal(&state), garbled).expect("written");
    let error = restore(&kernel, &state).expect_err("refused").to_string();
    assert!(error.contains("line 2") && !error.contains('\n'), "{error}");
    assert!(error.contains("by hand, then remove it"), "{error}");
    assert_eq!(kernel.value(RATE), "1", "nothing is half done");
    let empty = restore_of(&kernel, &state, "");
    assert!(empty.expect_err("refused").to_string().contains("empty"));
}

fn restore_of(
    kernel: &super::Kernel,
    state: &StateDir,
    text: &str,
) -> Result<noise::tune::Restored, TuneError> {
    std::fs::write(journal(state), text).expect("written");
    restore(kernel, state)
}

#[test]
fn a_forged_journal_reaches_nothing_else() {
    let kernel = two_cpus(Groups::One);
    kernel.force("/etc/passwd", "root");
    kernel.force("/proc/sys/kernel/core_pattern", "core");
    let before = kernel.snapshot();
    let (_directory, state) = state();
    std::fs::create_dir_all(state.path()).expect("a directory");
    let change = |path: &str| {
        format!(
            "{{\"intent\":{{\"entry\":0,\"action\":{{\"change\":{{\"control\":\"x\",\"items\":[{{\
             \"place\":{{\"file\":\"{path}\"}},\"old\":\"|evil\",\"wanted\":\"y\"}}]}}}}}}}}"
        )
    };
    let group = |path: &str, home: &str, list: &str| {
        format!(
            "{{\"intent\":{{\"entry\":0,\"action\":{{\"group\":{{\"path\":\"{path}\",\"home\":\"{home}\",\
             \"list\":\"{list}\",\"beside\":[]}}}}}}}}"
        )
    };
    let task = "{\"intent\":{\"entry\":0,\"action\":{\"change\":{\"control\":\"x\",\"items\":[{\
                \"place\":{\"cpuset\":{\"task\":{\"id\":42,\"start\":420},\"mount\":\"/cg/cpuset\"}},\
                \"old\":\"/../../etc\",\"wanted\":null}]}}}}";
    for forged in [
        change("/etc/passwd"),
        change("/proc/sys/kernel/core_pattern"),
        change("/proc/irq/7/../../sys/kernel/core_pattern"),
        group("/cg/cpuset/docker", "/cg/cpuset", "tasks"),
        group("/cg/cpuset/latlas-system", "/etc", "tasks"),
        group("/cg/cpuset/latlas-system", "/cg/cpuset/../../etc", "tasks"),
        group("/cg/cpuset/latlas-system", "/cg/cpuset", "../../passwd"),
        task.to_owned(),
    ] {
        let text = format!(
            "{{\"began\":{{\"version\":2,\"boot_id\":\"boot-1\",\"root\":\"/\",\"process\":1}}}}\n{forged}\n"
        );
        std::fs::write(journal(&state), text).expect("written");
        std::fs::set_permissions(journal(&state), Permissions::from_mode(0o600)).expect("set");
        let restored = restore(&kernel, &state).expect("read");
        assert!(restored.pending, "{forged}");
        assert!(
            matches!(&restored.values[0].outcome, BackOutcome::Failed(why) if why.contains("does not change")),
            "{restored:?}"
        );
        assert_eq!(kernel.snapshot(), before, "{forged}");
    }
}

#[test]
fn a_journal_that_others_could_write_is_refused() {
    let kernel = two_cpus(Groups::None);
    let (directory, state) = state();
    Tuned::begin(&kernel, &state, &[set(RATE, "1")])
        .expect("begun")
        .leave()
        .expect("left");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
    };
    mode(&journal(&state), 0o644);
    assert!(matches!(
        restore(&kernel, &state),
        Err(TuneError::Unusable(_))
    ));
    mode(&journal(&state), 0o600);
    mode(state.path(), 0o777);
    assert!(matches!(
        restore(&kernel, &state),
        Err(TuneError::StateDirectory { .. })
    ));
    assert!(Tuned::begin(&kernel, &state, &[]).is_err());
    mode(state.path(), 0o755);
    let elsewhere = directory.path().join("elsewhere");
    std::fs::rename(journal(&state), &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, journal(&state)).expect("a link");
    assert!(matches!(
        restore(&kernel, &state),
        Err(TuneError::Unusable(_))
    ));
    assert_eq!(kernel.value(RATE), "1");
}

#[test]
fn a_shield_gives_everybody_back() {
    for groups in [Groups::One, Groups::Two] {
        let kernel = two_cpus(groups);
        super::free_inner(&kernel, "0");
        kernel.quirks(|quirks| quirks.forking = true);
        let before = kernel.snapshot();
        let (_directory, state) = state();
        let tuned =
            Tuned::begin(&kernel, &state, &[Step::Shield { cpus: vec![1] }]).expect("begun");
        assert_eq!(outcomes(&tuned), [SetOutcome::Set]);
        let group = tuned.shield_groups()[0].display().to_string();
        assert!(group.ends_with("/latlas-shield"), "{group}");
        assert_eq!(kernel.value(&format!("{group}/cpuset.cpus")), "1");
        if groups == Groups::One {
            for id in [1, 40, 41] {
                assert_eq!(kernel.task(id).expect("a task").group, "/latlas-system");
            }
            // Bound kernel threads and the maker of all stay.
            for id in [2, 3] {
                assert_eq!(kernel.task(id).expect("a task").group, "/");
            }
            assert_eq!(kernel.value("/cg/cpuset/docker/cpuset.cpus"), "0");
        } else {
            assert_eq!(
                kernel.value(&format!("{group}/cpuset.cpus.partition")),
                "root"
            );
        }
        let child = kernel.fork_in("/latlas-shield");
        kernel.end_task(41);
        let elsewhere = if groups == Groups::One {
            "/docker/inner"
        } else {
            "/elsewhere"
        };
        let stranger = kernel.reuse_task(40, elsewhere);
        let restored = tuned.restore();
        assert!(restored.complete(), "{restored:?}");
        let (values, mut tasks) = before;
        tasks.remove(&41);
        tasks.insert(40, stranger);
        let after = kernel.snapshot();
        assert_eq!(after.0, values);
        assert_eq!(after.1, tasks);
        let home = if groups == Groups::One { "/" } else { "/user" };
        assert_eq!(kernel.task(child).expect("a task").group, home);
    }
}

#[test]
fn a_shield_that_can_not_be_says_why() {
    let (_directory, state) = state();
    let said = |kernel: &super::Kernel, cpus: &[u32]| {
        let before = kernel.snapshot();
        let step = Step::Shield {
            cpus: cpus.to_vec(),
        };
        let tuned = Tuned::begin(kernel, &state, &[step]).expect("begun");
        let said = why(&outcomes(&tuned)[0]);
        assert!(tuned.restore().complete());
        assert_eq!(kernel.snapshot(), before);
        said
    };
    let kernel = two_cpus(Groups::One);
    assert!(said(&kernel, &[0, 1]).contains("no CPU would be left"));
    assert!(said(&kernel, &[7]).contains("some of 0-1"));
    assert!(said(&kernel, &[]).contains("some of 0-1"));
    // A group within a group has that CPU alone.
    assert!(said(&kernel, &[1]).contains("busy"));
    let kernel = two_cpus(Groups::None);
    assert!(said(&kernel, &[1]).contains("not mounted"));
    let kernel = two_cpus(Groups::Two);
    kernel.force("/cg/cgroup.controllers", "memory");
    assert!(said(&kernel, &[1]).contains("no cpuset controller"));
}

#[test]
fn what_is_asked_becomes_steps() {
    let kernel = two_cpus(Groups::One);
    let only = |names: &[&str]| -> Vec<String> { names.iter().map(|n| (*n).into()).collect() };
    assert_eq!(
        plan(&kernel, &only(&["shield"]), &[1]).expect("a plan"),
        [Step::Shield { cpus: vec![1] }]
    );
    let steps = plan(&kernel, &only(&["shield", "offline=1", "thp"]), &[1]).expect("a plan");
    assert_eq!(steps.last(), Some(&Step::Shield { cpus: vec![1] }));
    assert!(steps.iter().any(|step| matches!(step, Step::Set(change)
        if change.path.ends_with("cpu1/online") && change.wanted == "0")));
    assert!(plan(&kernel, &only(&["shield"]), &[]).is_err());
    assert!(plan(&kernel, &only(&["offline=x"]), &[]).is_err());
    let error = plan(&kernel, &only(&["govenor"]), &[]).expect_err("unknown");
    assert!(error.to_string().contains("governor"), "{error}");
}

#[test]
fn all_that_controls_change_may_be_changed() {
    for machine in noise::machines::all() {
        let kernel = super::Kernel::new(&machine, Groups::None);
        let (_directory, state) = state();
        let steps = super::everything(&kernel, &[1]);
        let tuned = Tuned::begin(&kernel, &state, &steps).expect("begun");
        for one in tuned.applied() {
            if let SetOutcome::Failed(why) = &one.outcome {
                assert!(
                    !why.contains("not a file that latlas writes"),
                    "{}: {}",
                    machine.name,
                    one.what
                );
            }
        }
    }
}
