//! How much a document has of what happened in a part of its trace. [`crate::limits`] says how much
//! it may have.

use super::stacks::Left;
use super::{Target, Thread, Trace};

impl Trace {
    /// How many texts, lists and objects stand for what happens in a stretch: as many as
    /// [`Trace::cut`] leaves of them, or a few more. Names, stacks and the like are not among them.
    pub fn values_within(&self, from_ns: u64, to_ns: u64) -> u64 {
        let part = |from: u64, to: u64| from <= to_ns && to >= from_ns;
        let moment = |at: u64| part(at, at);
        let threads = self.threads.iter().filter(|thread| part(thread.from_ns, thread.to_ns));
        let threads = threads.map(|thread| {
            lists(thread)
                + count_within(&thread.segments, |one| part(one.from_ns, one.to_ns))
                // One with its arguments.
                + 2 * count_within(&thread.calls, |one| part(one.from_ns, one.to_ns))
                + count_within(&thread.faults, |one| {
                    part(one.at_ns, one.served.map_or(one.at_ns, |served| served.to_ns))
                })
                + count_within(&thread.signposts, |one| part(one.from_ns, one.to_ns.unwrap_or(one.from_ns)))
                + count_within(left_by(thread, from_ns), |one| one.at_ns <= to_ns)
                + count_within(&thread.maps, |one| moment(one.at_ns))
                + count_within(&thread.heap, |one| part(one.from_ns, one.to_ns.unwrap_or(one.from_ns)))
                + count_within(&thread.samples, |one| moment(one.at_ns))
        });
        let cpus = self.cpus.iter().map(|cpu| {
            count_within(&cpu.switches, |one| moment(one.at_ns))
                + count_within(&cpu.lost, |&(from, to)| part(from, to))
                // One with its kind.
                + 2 * count_within(&cpu.interrupts, |one| moment(one.at_ns))
        });
        let row = match &self.target {
            Target::Row(row) => {
                let watch = row.watch.iter().map(|watch| {
                    // One with its counts.
                    2 * count_within(&watch.readings, |one| moment(one.at_ns))
                        + count_within(&watch.clock_steps, |one| part(one.before_ns, one.after_ns))
                });
                count_within(&row.operations, |one| part(one.from_ns, one.to_ns))
                    + watch.sum::<u64>()
            }
            _ => 0,
        };
        let wakeups = count_within(&self.wakeups, |one| moment(one.at_ns));
        threads.sum::<u64>() + cpus.sum::<u64>() + row + wakeups
    }
}

fn count_within<T>(all: &[T], is_within: impl Fn(&T) -> bool) -> u64 {
    all.iter().filter(|one| is_within(one)).count() as u64
}

/// The stacks with which a thread left its CPU from a time on, and the last one before.
fn left_by(thread: &Thread, from_ns: u64) -> &[Left] {
    let before = thread.left.partition_point(|left| left.at_ns < from_ns);
    &thread.left[before.saturating_sub(1)..]
}

/// Itself, its name and the lists that it has.
fn lists(thread: &Thread) -> u64 {
    let has = [
        !thread.segments.is_empty(),
        !thread.calls.is_empty(),
        !thread.faults.is_empty(),
        !thread.signposts.is_empty(),
        !thread.left.is_empty(),
        !thread.maps.is_empty(),
        !thread.heap.is_empty(),
        !thread.samples.is_empty(),
    ];
    2 + has.into_iter().map(u64::from).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Counter, TRACE};
    use crate::synthetic::random::Random;
    use crate::trace::row::{ClockStep, TracedOperation, Watch};
    use crate::trace::{
        Access, Call, Cpu, Ended, HeapCall, Interrupt, InterruptKind, Mapped, MemoryOperation,
        PageFault, Sample, Segment, ServedFault, Signpost, State, Switch, Tier, TracedRow, Wakeup,
    };

    const END_NS: u64 = 1_000;

    /// A trace with all that can happen, at any time.
    fn trace(seed: u64) -> Trace {
        let mut random = Random(seed);
        let mut number = |below: u64| (random.share() * below as f64) as u64;
        let mut times = |most: u64| -> Vec<u64> {
            let mut all: Vec<u64> = (0..number(most)).map(|_| number(END_NS)).collect();
            all.sort_unstable();
            all
        };
        let mut thread = |id| {
            let ends = times(40);
            let segments = ends.windows(2);
            let calls = times(10).into_iter().map(|from_ns| Call {
                from_ns,
                to_ns: from_ns + 7,
                number: 1,
                arguments: [0, 1, 2],
                returned: Some(-1),
            });
            let faults = times(10).into_iter().map(|at_ns| PageFault {
                at_ns,
                address: 1,
                access: Access::Read,
                served: (at_ns % 2 == 0).then_some(ServedFault { to_ns: at_ns + 3, major: false }),
            });
            let signposts = times(10).into_iter().map(|from_ns| Signpost {
                from_ns,
                to_ns: (from_ns % 2 == 0).then_some(from_ns + 9),
                name: 0,
            });
            let maps = times(10).into_iter().map(|at_ns| Mapped { at_ns, address: 1, bytes: 2 });
            let samples = times(10).into_iter().map(|at_ns| Sample {
                at_ns,
                running_ns: 1,
                queued_ns: 2,
                switched_in: 3,
                faults: 4,
            });
            let heap = times(10).into_iter().map(|from_ns| HeapCall {
                from_ns,
                to_ns: (from_ns % 2 == 0).then_some(from_ns + 3),
                operation: MemoryOperation::Calloc,
                bytes: (from_ns % 3 == 0).then_some(70_000),
            });
            let left = times(10).into_iter().map(|at_ns| Left { at_ns, stack: 0 });
            Thread {
                id,
                from_ns: ends.first().copied().unwrap_or(0),
                to_ns: ends.last().copied().unwrap_or(END_NS),
                segments: segments
                    .map(|ends| Segment::new(ends[0], ends[1], State::Runnable))
                    .collect(),
                calls: calls.collect(),
                faults: faults.collect(),
                signposts: signposts.collect(),
                left: left.collect(),
                maps: maps.collect(),
                heap: heap.collect(),
                samples: samples.collect(),
                ..Thread::default()
            }
        };
        let threads = (0..5).map(&mut thread).collect();
        let switches =
            times(50).into_iter().map(|at_ns| Switch { at_ns, out: 1, state: 0, into: 2 });
        let cpu = Cpu {
            switches: switches.collect(),
            lost: times(9).into_iter().map(|at_ns| (at_ns, at_ns + 3)).collect(),
            interrupts: times(9)
                .into_iter()
                .map(|at_ns| Interrupt { at_ns, kind: InterruptKind::Timer })
                .collect(),
            ..Cpu::default()
        };
        let wakeups =
            times(30).into_iter().map(|at_ns| Wakeup { at_ns, thread: 1, by: None, cpu: 0 });
        let operations = times(30).into_iter().map(|from_ns| TracedOperation {
            from_ns,
            to_ns: from_ns + 2,
            thread: 1,
        });
        let steps = times(9).into_iter().map(|before_ns| ClockStep {
            before_ns,
            after_ns: before_ns + 1,
            by_ns: 1,
        });
        let row = TracedRow {
            operations: operations.collect(),
            watch: Some(Watch {
                clock_steps: steps.collect(),
                readings: times(20).into_iter().map(|at_ns| (at_ns, 0, [0; 4]).into()).collect(),
                ..Watch::default()
            }),
            ..TracedRow::default()
        };
        Trace {
            duration_ns: END_NS,
            threads,
            cpus: vec![cpu],
            wakeups: wakeups.collect(),
            other_names: [(3, "other".to_owned())].into(),
            ..Trace::new(Target::Row(row), Ended::Time, Tier::Full)
        }
    }

    /// As the reader of a document counts.
    fn counted(trace: &Trace) -> u64 {
        let json = serde_json::to_vec(trace).expect("JSON");
        let mut counter = Counter::new(&TRACE);
        counter.feed(&json).expect("little");
        counter.values()
    }

    #[test]
    fn all_that_happens_is_counted_as_it_is_read() {
        for seed in 0..50 {
            let trace = trace(seed);
            let nothing = counted(&Trace {
                threads: Vec::new(),
                wakeups: Vec::new(),
                cpus: vec![Cpu::default()],
                target: Target::Row(TracedRow {
                    watch: Some(Watch::default()),
                    ..TracedRow::default()
                }),
                ..trace.clone()
            });
            let lists = trace.cpus.iter().filter(|cpu| !cpu.interrupts.is_empty()).count();
            let Target::Row(TracedRow { watch: Some(watch), .. }) = &trace.target else {
                panic!("a row");
            };
            let lists = lists as u64 + u64::from(!watch.clock_steps.is_empty());
            let values = trace.values_within(0, u64::MAX);
            assert_eq!(counted(&trace), nothing + lists + values, "{seed}");
        }
    }

    #[test]
    fn a_part_has_no_more_than_is_counted_and_few_less() {
        for seed in 0..50 {
            let whole = trace(seed);
            let rest = counted(&whole) - whole.values_within(0, u64::MAX);
            for (from_ns, to_ns) in [(0, 1), (0, 300), (300, END_NS), (410, 411), (0, END_NS)] {
                let part = counted(&whole.clone().cut(from_ns, to_ns));
                let most = rest + whole.values_within(from_ns, to_ns);
                // Lists that are empty now, and stretches that only touch it.
                assert!((part..=part + 80).contains(&most), "{seed}: {part} {most}");
            }
        }
    }
}
