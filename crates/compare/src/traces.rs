//! Two traces by their sums: time of threads by name and state, system calls by
//! name, wake-ups, page faults. One trace of each has no spread, so nothing here
//! is a finding: differences, the largest first.

use model::trace::summary::{Distribution, Summary, summary};
use model::trace::tier::{Answer, Missing};
use model::trace::{StateKind, Tier, Topic, Trace};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A figure of each of the two traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// Of the first.
    pub a: T,
    /// Of the second.
    pub b: T,
}

impl Both<u64> {
    /// How far the second is above the first.
    pub fn difference(self) -> i128 {
        i128::from(self.b) - i128::from(self.a)
    }
}

/// Two traces by their sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceDifference {
    /// How they were recorded. States but *running* are compared in the same tier
    /// only.
    pub tiers: Both<Tier>,
    /// How long they are.
    pub duration_ns: Both<u64>,
    pub threads: Both<u64>,
    /// Time of all threads of a name in a state.
    pub states: Vec<StateDifference>,
    /// System calls; none unless both traces have them.
    pub calls: Vec<CallDifference>,
    /// From wake-ups to the CPU, if both traces have them.
    pub wakeups: Option<Both<Times>>,
    /// Page faults, if both traces have them.
    pub faults: Option<Both<u64>>,
}

/// Time of all threads of a name in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateDifference {
    /// Name of the threads.
    pub thread: String,
    pub state: &'static str,
    pub time_ns: Both<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallDifference {
    pub name: String,
    /// Those that returned.
    pub times: Both<Times>,
}

/// Of a number of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    pub count: u64,
    pub total_ns: u64,
    /// Percentiles with at least ten times above them.
    pub p50_ns: Option<u64>,
    /// See there.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl From<&Distribution> for Times {
    fn from(times: &Distribution) -> Times {
        Times {
            count: times.count() as u64,
            total_ns: times.total_ns(),
            p50_ns: times.percentile_ns(0.5),
            p99_ns: times.percentile_ns(0.99),
            max_ns: times.max_ns(),
        }
    }
}

/// The second trace against the first.
pub fn trace_difference(a: &Trace, b: &Trace) -> TraceDifference {
    let both_of = [a, b].map(|trace| (trace, summary(trace)));
    let [(_, of_a), (_, of_b)] = &both_of;
    let both = |topic| is_recorded(a, topic) && is_recorded(b, topic);
    let latency = [of_a, of_b].map(|of| Times::from(&of.wakeup_latency));
    let wakeups = both(Topic::Runnable).then_some(pair(latency));
    // Sums are of all faults, records only of those in user mode.
    let same_faults = (a.tier == Tier::Minimal) == (b.tier == Tier::Minimal);
    let faults = (same_faults && both(Topic::Faults))
        .then_some(pair([of_a.faults.count, of_b.faults.count]));
    TraceDifference {
        tiers: pair([a.tier, b.tier]),
        duration_ns: pair([a.duration_ns, b.duration_ns]),
        threads: pair([a, b].map(|trace| trace.threads.len() as u64)),
        states: states(&both_of),
        calls: if both(Topic::Calls) { calls(&both_of) } else { Vec::new() },
        wakeups,
        faults,
    }
}

fn pair<T>([a, b]: [T; 2]) -> Both<T> {
    Both { a, b }
}

fn is_recorded(trace: &Trace, topic: Topic) -> bool {
    let mut gaps = trace.gaps.iter();
    let whole = matches!(trace.tier.answer(topic), Answer::Exact | Answer::Sum);
    whole && gaps.all(|gap| gap.of != Missing::Topic(topic))
}

fn states(both: &[(&Trace, Summary); 2]) -> Vec<StateDifference> {
    let mut sums: BTreeMap<(String, usize), [u64; 2]> = BTreeMap::new();
    for (side, (trace, summary)) in both.iter().enumerate() {
        for figures in &summary.threads {
            let name = &trace.threads[figures.index].name;
            for (kind, ns) in figures.times_ns.into_iter().enumerate() {
                let sum = &mut sums.entry((name.clone(), kind)).or_default()[side];
                *sum = sum.saturating_add(ns);
            }
        }
    }
    let is_same = both[0].0.tier == both[1].0.tier;
    let sums = sums.into_iter().filter(|((_, kind), times)| {
        let is_compared = is_same || StateKind::ALL[*kind] == StateKind::Running;
        is_compared && *times != [0, 0]
    });
    let states = sums.map(|((thread, kind), times)| StateDifference {
        thread,
        state: StateKind::ALL[kind].name(),
        time_ns: pair(times),
    });
    let mut states: Vec<_> = states.collect();
    states.sort_by_key(|state| Reverse(state.time_ns.difference().abs()));
    states
}

/// By name, as two machines may have other numbers.
fn calls(both: &[(&Trace, Summary); 2]) -> Vec<CallDifference> {
    let mut by_name: BTreeMap<String, [Times; 2]> = BTreeMap::new();
    for (side, (trace, summary)) in both.iter().enumerate() {
        for call in &summary.calls {
            let name = trace.call_name(call.number);
            by_name.entry(name).or_default()[side] = Times::from(&call.durations);
        }
    }
    let calls =
        by_name.into_iter().map(|(name, times)| CallDifference { name, times: pair(times) });
    let mut calls: Vec<_> = calls.collect();
    calls.sort_by_key(|call| Reverse(call.time_ns().difference().abs()));
    calls
}

impl CallDifference {
    pub fn time_ns(&self) -> Both<u64> {
        pair([self.times.a.total_ns, self.times.b.total_ns])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::trace::{Call, Ended, Segment, State, Target, Thread};

    /// A thread that runs, then is preempted; with a call.
    fn trace(tier: Tier, running_ns: u64, preempted_ns: u64, number: u32) -> Trace {
        let end_ns = running_ns + preempted_ns;
        let thread = Thread {
            name: "worker".into(),
            to_ns: end_ns,
            segments: vec![
                Segment::new(0, running_ns, State::Running(0)),
                Segment::new(running_ns, end_ns, State::Preempted(9)),
            ],
            calls: vec![Call {
                from_ns: 0,
                to_ns: running_ns,
                number,
                arguments: [0; 3],
                returned: Some(0),
            }],
            ..Thread::default()
        };
        Trace {
            duration_ns: end_ns,
            threads: vec![thread.clone(), thread],
            call_names: [(number, "read".to_owned())].into(),
            ..Trace::new(Target::Process(1), Ended::Time, tier)
        }
    }

    #[test]
    fn the_largest_difference_is_first() {
        let [a, b] = [trace(Tier::Full, 100, 10, 0), trace(Tier::Full, 90, 500, 63)];
        let difference = trace_difference(&a, &b);
        let states: Vec<_> = difference.states.iter().map(|s| (s.state, s.time_ns)).collect();
        // Of two threads of one name.
        let expected =
            [("preempted", Both { a: 20, b: 1000 }), ("running", Both { a: 200, b: 180 })];
        assert_eq!(states, expected);
        // One call, whatever its number.
        let [call] = &difference.calls[..] else {
            panic!("{:?}", difference.calls);
        };
        assert_eq!((call.time_ns().a, call.time_ns().b), (200, 180));
        assert_eq!(call.time_ns().difference(), -20);
    }

    #[test]
    fn what_one_tier_can_t_tell_is_not_compared() {
        let [a, b] = [trace(Tier::Full, 100, 10, 0), trace(Tier::OwnProcess, 100, 10, 0)];
        let difference = trace_difference(&a, &b);
        let states: Vec<_> = difference.states.iter().map(|s| s.state).collect();
        assert_eq!(states, ["running"]);
        assert_eq!(difference.calls, []);
        assert_eq!((difference.wakeups, difference.faults.is_some()), (None, true));
    }
}
