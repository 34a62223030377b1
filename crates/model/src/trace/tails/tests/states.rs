//! Each state of the thread has its cause, and who had the CPU.

use super::*;

#[test]
fn a_state_has_its_cause() {
    let by_bits = State::PreemptedOrYielded;
    let blocked = State::Blocked { call: None, uninterruptible: false };
    for (tier, state, cause) in [
        (Tier::Full, State::Preempted(9), Cause::Preempted(Some(9))),
        (Tier::Full, State::Preempted(0), Cause::Throttled),
        (Tier::Full, State::Stopped, Cause::Stopped),
        (Tier::Full, blocked, Cause::Blocked),
        (Tier::Full, State::Lost, Cause::OffCpu),
        (Tier::OwnProcess, by_bits, Cause::Preempted(None)),
        (Tier::OwnProcess, State::BlockedOrRunnable, Cause::OffCpu),
    ] {
        let trace = trace(tier, &[(500, 50_500, state)]);
        assert_eq!(causes(&trace), [(cause, 50_000)]);
    }
}

#[test]
fn who_had_the_cpu_was_waited_for() {
    let mut trace = trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    trace.cpus[0].switches =
        vec![switch(10_000, 8, 9), switch(40_000, 9, 0), switch(50_000, 0, FIRST)];
    let expected =
        [(Cause::Queued(9), 30_000), (Cause::Queued(0), 10_000), (Cause::Queued(8), 10_000)];
    let mut found = causes(&trace);
    found.sort_by_key(|&(cause, ns)| (std::cmp::Reverse(ns), cause));
    assert_eq!(found, expected);
}

#[test]
fn of_a_thread_that_comes_to_another_cpu_the_queue_is_not_known() {
    let mut trace = trace(Tier::Full, &[(0, 50_000, State::Runnable)]);
    for segment in &mut trace.threads[0].segments {
        if segment.state == State::Running(0) && segment.from_ns > SLOW_AT_NS {
            segment.state = State::Running(1);
        }
    }
    trace.cpus.push(Cpu { id: 1, switches: vec![switch(50_000, 9, FIRST)], ..Cpu::default() });
    assert_eq!(causes(&trace), [(Cause::OffCpu, 50_000)]);
}

#[test]
fn the_one_that_preempts_answers_for_its_own_time() {
    let mut trace = trace(Tier::Full, &[(500, 50_500, State::Preempted(9))]);
    trace.cpus[0].switches =
        vec![switch(500, FIRST, 9), switch(10_500, 9, 8), switch(50_500, 8, FIRST)];
    assert_eq!(causes(&trace), [(Cause::Queued(8), 40_000), (Cause::Preempted(Some(9)), 10_000)]);
}
