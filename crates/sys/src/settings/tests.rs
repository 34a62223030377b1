use super::*;
use model::setting::IoPriority;

/// In a thread of its own: what is set there ends with it.
fn apart<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(body).join().expect("no panic"))
}

fn now(setting: &Setting) -> Option<Setting> {
    HERE.read(setting)
}

/// Every setting that a thread can have here, set, read back and undone; or why it is not available here.
#[test]
fn each_setting_is_read_back_and_undone_or_is_not_available_here() {
    let cpus = crate::allowed_cpus().expect("a set");
    let nice = match now(&Setting::Nice(0)) {
        Some(Setting::Nice(nice)) => (nice.max(0) + 1).min(19),
        other => panic!("{other:?}"),
    };
    for setting in [
        Setting::Group("/no/such/group".into()),
        Setting::Cpus(cpus[..1].to_vec()),
        Setting::OneCpu,
        Setting::Nice(nice),
        Setting::Nice(-10),
        Setting::SliceNs(700_000),
        Setting::SliceNs(1),
        Setting::TimerSlackNs(1234),
        Setting::TransparentHugePages(false),
        Setting::BATCH,
        Setting::IDLE,
        Setting::Policy(Policy::Fifo(3)),
        Setting::Policy(Policy::RoundRobin(3)),
        Setting::Policy(Policy::Another),
        Setting::Io(IoPriority::BestEffort(6)),
        Setting::Io(IoPriority::BestEffort(8)),
        Setting::Io(IoPriority::Idle),
        Setting::Io(IoPriority::RealTime(0)),
        Setting::QosClass(9),
        Setting::GroupShares(100),
        Setting::GroupIdle,
    ] {
        // What can't be undone ends with its thread.
        apart(|| {
            let before = now(&setting);
            match HERE.put(&setting) {
                Err(why) => {
                    println!("{}: not available here: {why}", setting.label());
                    assert_eq!(now(&setting), before, "{setting:?}");
                }
                Ok(Outcome::Differs(other)) => println!("{}: is {other}", setting.label()),
                Ok(outcome) => {
                    let read = now(&setting);
                    assert_eq!(outcome == Outcome::ReadBack, read.is_some(), "{setting:?}");
                    assert!(read.is_none_or(|now| setting.is_met_by(&now)), "{setting:?}");
                    match HERE.undo(&setting, before.clone()) {
                        Some(Ok(_)) => assert_eq!(now(&setting), before, "{setting:?}"),
                        Some(Err(why)) => println!("{}: not undone: {why}", setting.label()),
                        None => println!("{}: ends with its process", setting.label()),
                    }
                }
            }
        });
    }
}

/// In a child that ends, what belongs to a process and its session too.
#[test]
fn controls_are_read_back_in_a_child_and_gone_or_are_not_available_here() {
    use crate::controls::{granted, try_out};
    let (before, session) = (granted(), Setting::OwnSession(true));
    let cpu = before.cpus[..1].to_vec();
    for setting in [
        Setting::Cpus(cpu),
        Setting::Nice(19),
        Setting::Autogroup(7),
        Setting::Autogroup(-7),
        Setting::TimerSlackNs(1234),
        Setting::TransparentHugePages(false),
        Setting::BATCH,
    ] {
        let text = setting.label();
        match try_out(&[session.clone(), setting.clone()]) {
            Err(why) => println!("{text}: not available here: {why}"),
            Ok(had) => {
                let had = had.each();
                assert!(had.contains(&session));
                // Of another process only root may read the timer slack.
                let now = had.iter().find(|had| had.is_like(&setting));
                assert!(now.is_none_or(|now| setting.is_met_by(now)), "{text}: {now:?}");
            }
        }
        assert_eq!(granted(), before);
    }
}

/// A system that takes everything and has what it likes.
struct ScriptedSystem(Option<Setting>);

impl System for ScriptedSystem {
    fn set(&self, setting: &Setting) -> io::Result<()> {
        match setting {
            Setting::Io(_) => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        }
    }

    fn read(&self, _setting: &Setting) -> Option<Setting> {
        self.0.clone()
    }
}

#[test]
fn what_reads_back_differently_is_an_outcome_of_its_own() {
    let differs = |text: &str| Outcome::Differs(text.into());
    for (asked, had, outcome) in [
        (Setting::Nice(-5), Some(Setting::Nice(0)), differs("nice 0")),
        (Setting::Nice(-5), Some(Setting::Nice(-5)), Outcome::ReadBack),
        (Setting::Nice(-5), None, Outcome::Applied),
        (Setting::Cpus(vec![2]), Some(Setting::Cpus(vec![0, 1])), differs("CPU 0-1")),
        (Setting::OneCpu, Some(Setting::Cpus(vec![0, 1])), differs("CPU 0-1")),
        (Setting::OneCpu, Some(Setting::Cpus(vec![1])), Outcome::ReadBack),
        // A kernel that ignores slices has none.
        (Setting::SliceNs(700_000), Some(Setting::SliceNs(0)), differs("default slice")),
        (Setting::SliceNs(1), Some(Setting::SliceNs(100_000)), Outcome::ReadBack),
        (Setting::BATCH, Some(Setting::Policy(Policy::Other)), differs("SCHED_OTHER")),
    ] {
        let system = ScriptedSystem(had.clone());
        assert_eq!(system.put(&asked).expect("taken"), outcome, "{asked:?} {had:?}");
    }
    // The same where it is undone.
    let (asked, before) = (Setting::Nice(-5), Some(Setting::Nice(3)));
    let undone = ScriptedSystem(Some(asked.clone())).undo(&asked, before).expect("known");
    assert_eq!(undone.expect("taken"), differs("nice -5"));
    let refused = ScriptedSystem(None).put(&Setting::Io(IoPriority::Idle));
    assert_eq!(refused.expect_err("refused").kind(), io::ErrorKind::PermissionDenied);
}

#[test]
fn a_slice_leaves_policy_and_nice_value_and_one_that_is_ignored_differs() {
    let slice = Setting::SliceNs(700_000);
    let (policy, nice) = apart(|| {
        HERE.set(&Setting::BATCH).expect("free");
        HERE.set(&Setting::Nice(19)).expect("free");
        HERE.put(&slice).expect("taken");
        (now(&Setting::BATCH), now(&Setting::Nice(0)))
    });
    assert_eq!((policy, nice), (Some(Setting::BATCH), Some(Setting::Nice(19))));
    // Kernels before 6.12 ignore it always, later ones for SCHED_IDLE.
    let ignored = apart(|| {
        HERE.set(&Setting::IDLE).expect("free");
        HERE.put(&slice).expect("taken")
    });
    assert!(matches!(ignored, Outcome::Differs(_)), "{ignored:?}");
}

#[test]
fn another_thread_by_its_id() {
    let (id, end) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
    let (tell, asked) = id;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = tell.send(crate::thread::current_id().expect("Linux numbers its threads"));
            let _ = end.1.recv();
        });
        let thread = TaskId(asked.recv().expect("it began"));
        assert_eq!(thread.put(&Setting::Nice(19)).expect("free"), Outcome::ReadBack);
        let own = thread.set(&Setting::TimerSlackNs(1)).expect_err("another's");
        assert_eq!(own.kind(), io::ErrorKind::InvalidInput);
        drop(end.0);
    });
    let nice = Setting::Nice(0);
    let gone = TaskId(i32::MAX.cast_unsigned()).set(&nice).expect_err("none");
    assert_eq!(gone.raw_os_error(), Some(libc::ESRCH));
    let impossible = TaskId(u32::MAX).set(&nice).expect_err("none");
    assert_eq!(impossible.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(TaskId(u32::MAX).read(&nice), None);
}

#[test]
fn the_autogroup_of_a_process_is_read_in_each_thread() {
    let autogroup = Setting::Autogroup(0);
    let own = now(&autogroup);
    assert_eq!(apart(|| now(&autogroup)), own);
    assert_eq!(TaskId(std::process::id()).read(&autogroup), own);
    let text = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    assert_eq!(own.is_some(), text.contains(" nice "));
}

#[test]
fn a_thread_that_spins_takes_turns_and_a_load_is_ordinary() {
    let set = |policy| HERE.set(&Setting::Policy(policy));
    if let Err(why) = apart(|| set(Policy::Fifo(3))) {
        return eprintln!("SKIPPED: no right to SCHED_FIFO: {why}");
    }
    let after = |policy, then: fn()| {
        apart(move || {
            set(policy).expect("set before");
            then();
            now(&Setting::IDLE).expect("known")
        })
    };
    assert_eq!(after(Policy::Fifo(3), take_turns), Setting::Policy(Policy::RoundRobin(3)));
    assert_eq!(after(Policy::Batch, take_turns), Setting::BATCH);
    for policy in [Policy::Fifo(3), Policy::RoundRobin(3)] {
        assert_eq!(after(policy, leave_real_time), Setting::Policy(Policy::Other));
    }
    assert_eq!(after(Policy::Idle, leave_real_time), Setting::IDLE);
}

/// The thread that asks begins on the CPU where the other one spins, as its
/// creator is kept there, and must come to leave it.
#[test]
fn counters_are_compared_under_fifo_from_the_cpu_that_answers() {
    let fifo = Setting::Policy(Policy::Fifo(3));
    let cpus = crate::allowed_cpus().expect("a set");
    let ([base, other, ..], Ok(())) = (&cpus[..], apart(|| HERE.set(&fifo))) else {
        return eprintln!("SKIPPED: one CPU, or no right to SCHED_FIFO");
    };
    let (base, other) = (*base, *other);
    let (tell, told) = std::sync::mpsc::channel();
    // Not joined: without its turns it would never end.
    std::thread::spawn(move || {
        crate::pin_to(&[other]).expect("allowed");
        HERE.set(&fifo).expect("set before");
        let counter = crate::Counter::best();
        let _ = tell.send(crate::clock::measure_skew(counter, base, other).map(drop));
    });
    let ended = told.recv_timeout(std::time::Duration::from_secs(60));
    // Others may have kept the two apart: that is an answer, too.
    assert!(ended.is_ok(), "it never ended");
}
