use super::*;

/// In a thread of its own: what is set there ends with it.
fn apart<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(body).join().expect("no panic"))
}

#[test]
fn what_is_set_for_a_thread_is_read_back_and_only_there() {
    let before = of(0);
    let nice = (before.nice.expect("known").max(0) + 1).min(19);
    let set = apart(|| {
        set_policy(0, Policy::Batch).expect("free");
        set_nice(0, nice).expect("upwards is free");
        set_io(0, IoPriority::BestEffort(6)).expect("free");
        of(0)
    });
    assert_eq!(set.policy, Some(applied::Policy::Batch));
    assert_eq!(set.nice, Some(nice));
    assert_eq!(set.io, Some(IoPriority::BestEffort(6)));
    assert_eq!(of(0), before);
}

#[test]
fn a_slice_leaves_policy_and_nice_value() {
    let (set, after) = apart(|| {
        set_policy(0, Policy::Batch).expect("free");
        set_nice(0, 19).expect("free");
        (set_slice(0, 700_000), of(0))
    });
    assert_eq!(after.policy, Some(applied::Policy::Batch));
    assert_eq!(after.nice, Some(19));
    match set {
        Ok(()) => assert_eq!(after.slice_ns, Some(700_000)),
        Err(why) => assert_eq!(why.kind(), io::ErrorKind::Unsupported, "{why}"),
    }
}

#[test]
fn an_ignored_slice_is_an_error() {
    let set = apart(|| {
        set_policy(0, Policy::Idle).expect("free");
        set_slice(0, 700_000)
    });
    // Kernels before 6.12 ignore it always, later ones for SCHED_IDLE.
    assert_eq!(set.expect_err("ignored").kind(), io::ErrorKind::Unsupported);
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
        let thread = asked.recv().expect("it began");
        set_nice(thread, 19).expect("free");
        assert_eq!(of(thread).nice, Some(19));
        drop(end.0);
    });
}

#[test]
fn what_is_no_value_is_refused() {
    let kind = |result: io::Result<()>| result.expect_err("refused").kind();
    assert_eq!(kind(set_io(0, IoPriority::BestEffort(8))), io::ErrorKind::InvalidInput);
    assert_eq!(kind(set_nice(u32::MAX, 0)), io::ErrorKind::InvalidInput);
    assert_eq!(of(u32::MAX), Scheduling::default());
    assert_eq!(
        set_nice(i32::MAX.cast_unsigned(), 0).map_err(|e| e.raw_os_error()),
        Err(Some(libc::ESRCH))
    );
}

#[test]
fn the_autogroup_of_a_process_is_read_in_each_thread() {
    let own = of(0).autogroup;
    assert_eq!(apart(|| of(0).autogroup), own);
    assert_eq!(of(std::process::id()).autogroup, own);
    let text = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    assert_eq!(own.is_some(), text.contains(" nice "));
}

#[test]
fn a_thread_that_spins_takes_turns_and_a_load_is_ordinary() {
    if let Err(why) = apart(|| set_policy(0, Policy::Fifo(3))) {
        return eprintln!("SKIPPED: no right to SCHED_FIFO: {why}");
    }
    let after = |policy, then: fn()| {
        apart(move || {
            set_policy(0, policy).expect("set before");
            then();
            of(0).policy.expect("known")
        })
    };
    assert_eq!(after(Policy::Fifo(3), take_turns), applied::Policy::RoundRobin(3));
    assert_eq!(after(Policy::Batch, take_turns), applied::Policy::Batch);
    for policy in [Policy::Fifo(3), Policy::RoundRobin(3)] {
        assert_eq!(after(policy, leave_real_time), applied::Policy::Other);
    }
    assert_eq!(after(Policy::Idle, leave_real_time), applied::Policy::Idle);
}

/// The thread that asks begins on the CPU where the other one spins, as its
/// creator is kept there, and must come to leave it.
#[test]
fn counters_are_compared_under_fifo_from_the_cpu_that_answers() {
    let cpus = crate::allowed_cpus().expect("a set");
    let ([base, other, ..], Ok(())) = (&cpus[..], apart(|| set_policy(0, Policy::Fifo(3)))) else {
        return eprintln!("SKIPPED: one CPU, or no right to SCHED_FIFO");
    };
    let (base, other) = (*base, *other);
    let (tell, told) = std::sync::mpsc::channel();
    // Not joined: without its turns it would never end.
    std::thread::spawn(move || {
        crate::pin_to(&[other]).expect("allowed");
        set_policy(0, Policy::Fifo(3)).expect("set before");
        let counter = crate::Counter::best();
        let _ = tell.send(crate::clock::measure_skew(counter, base, other).map(drop));
    });
    let ended = told.recv_timeout(std::time::Duration::from_secs(60));
    // Others may have kept the two apart: that is an answer, too.
    assert!(ended.is_ok(), "it never ended");
}
