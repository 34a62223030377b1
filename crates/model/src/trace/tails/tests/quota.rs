//! The quota of a group, by what its CPUs had.

use super::*;

#[test]
fn the_quota_is_known_by_its_sum() {
    let at = |ns: u64| SLOW_AT_NS + ns;
    let (full, own) = (Tier::Full, Tier::OwnProcess);
    let preempted = [
        (full, State::Preempted(9), Cause::Preempted(Some(9)), Cause::Queued(9)),
        (own, State::PreemptedOrYielded, Cause::Preempted(None), Cause::OffCpu),
    ];
    for (tier, state, else_cause, of_two) in preempted {
        let mut trace = trace(tier, &[(0, 50_000, state)]);
        for (readings, expected) in [
            // All of it, though another thread got the CPU.
            (vec![(at(49_000), 0), (at(51_000), 50_000)], vec![(Cause::Throttled, 50_000)]),
            // Then it waited for that one.
            (
                vec![(at(29_000), 0), (at(31_000), 30_000)],
                vec![(Cause::Throttled, 30_000), (else_cause, 20_000)],
            ),
            // The kernel's sum has grown a little after the thread had its CPU again.
            (vec![(at(50_500), 0), (at(51_000), 50_000)], vec![(Cause::Throttled, 50_000)]),
            // What ended before, and what was another thread's.
            (vec![(at(0), 50_000), (at(51_000), 0)], vec![(else_cause, 50_000)]),
            // Of two CPUs: as far as there is no doubt.
            (
                vec![(at(40_000), 0), (at(51_000), 300_000)],
                vec![(Cause::Throttled, 40_000), (of_two, 10_000)],
            ),
        ] {
            let readings = readings.into_iter().map(|(at, ns)| (at, ns, [0; 4]));
            set_watch(&mut trace, readings.collect());
            if tier == full && expected.len() == 2 {
                // A thread that had the CPU after the quota was there again did not preempt it.
                trace.cpus[0].switches = vec![switch(0, FIRST, 9), switch(50_000, 9, FIRST)];
                let expected = vec![expected[0], (Cause::Queued(9), expected[1].1)];
                assert_eq!(causes(&trace), expected);
            } else {
                assert_eq!(causes(&trace), expected);
            }
        }
    }
}

#[test]
fn of_two_cpus_the_one_whose_thread_reads_had_quota_then() {
    let mut trace = trace(Tier::OwnProcess, &[(0, 50_000, State::PreemptedOrYielded)]);
    let reading = |after_ns: u64, ns: u64| (SLOW_AT_NS + after_ns, ns, [0; 4]);
    set_watch(&mut trace, vec![reading(10_000, 0), reading(200_000, 230_000)]);
    let rest = |ns: u64| [(Cause::Throttled, ns), (Cause::OffCpu, 50_000 - ns)];
    assert_eq!(causes(&trace), {
        let [throttled, rest] = rest(10_000);
        [rest, throttled]
    });
    trace.cpus = vec![Cpu::default(), Cpu::default()];
    // 230 less the 190 µs between the readings.
    assert_eq!(causes(&trace), rest(40_000));
}
