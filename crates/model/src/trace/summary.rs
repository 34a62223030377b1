//! The figures that follow from a trace.

use super::{Access, MemoryOperation, State, StateKind, Thread, Trace};
use std::collections::BTreeMap;

/// The figures of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The threads, those with the most CPU time first.
    pub threads: Vec<ThreadFigures>,
    /// The system calls, those with the most time first.
    pub calls: Vec<CallFigures>,
    /// The signposts, those with the most time first.
    pub signposts: Vec<SignpostFigures>,
    /// Who preempted whom, the most time first.
    pub preemptions: Vec<Preemption>,
    /// Where threads were in their program while they did not run, the most time
    /// first.
    pub places: Vec<PlaceFigures>,
    /// From each wake-up to the CPU: of threads that waited for one.
    pub wakeup_latency: Distribution,
    /// Page faults.
    pub faults: Faults,
    /// Operations on memory, those with the most time first.
    pub memory: Vec<MemoryFigures>,
}

/// The figures of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadFigures {
    /// Its place in [`Trace::threads`].
    pub index: usize,
    /// How long it was there.
    pub life_ns: u64,
    /// Time in each state, in the order of [`StateKind::ALL`].
    pub times_ns: [u64; StateKind::ALL.len()],
    /// Times it got a CPU.
    pub switched_in: u64,
    /// Page faults.
    pub faults: u64,
}

impl ThreadFigures {
    /// Time in a state.
    pub fn time_ns(&self, kind: StateKind) -> u64 {
        self.times_ns[kind as usize]
    }
}

/// A part of a thread's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The thread's number.
    pub thread: u32,
    /// Its begin, in ns since that of the trace.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

impl Slice {
    /// How long it is.
    pub fn duration_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// Times of one kind, and where the longest was: of several the first.
#[derive(Default)]
struct SliceTimes {
    all_ns: Vec<u64>,
    longest: Option<Slice>,
}

impl SliceTimes {
    fn add(&mut self, thread: &Thread, from_ns: u64, to_ns: u64) {
        let slice = Slice { thread: thread.id, from_ns, to_ns };
        self.all_ns.push(slice.duration_ns());
        if self.longest.is_none_or(|kept| slice.duration_ns() > kept.duration_ns()) {
            self.longest = Some(slice);
        }
    }

    fn total_ns(&self) -> u64 {
        self.all_ns.iter().fold(0, |sum, &ns| sum.saturating_add(ns))
    }
}

/// The figures of a system call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallFigures {
    /// Its number.
    pub number: u32,
    /// How long calls took. Those that did not return are left out.
    pub durations: Distribution,
    /// The longest of them.
    pub longest: Option<Slice>,
    /// Calls that did not return in the trace.
    pub unfinished: u64,
}

/// The figures of the signposts of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct SignpostFigures {
    /// Its place in [`Trace::signpost_names`].
    pub name: u32,
    /// Moments.
    pub moments: u64,
    /// How long stretches took. Those that did not end are left out.
    pub durations: Distribution,
    /// The longest of them.
    pub longest: Option<Slice>,
    /// Stretches that did not end before their thread or the trace.
    pub unfinished: u64,
}

/// Threads that preempted others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The name of the thread that was preempted.
    pub victim: String,
    /// The name of the one that ran instead; `None` for the idle task.
    pub by: Option<String>,
    /// How often.
    pub count: u64,
    /// Until the victim ran again, summed.
    pub total_ns: u64,
    /// The longest.
    pub longest: Option<Slice>,
}

/// Threads of a name that were off the CPU with a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceFigures {
    /// Name of the threads.
    pub thread: String,
    /// Why they did not run.
    pub kind: StateKind,
    /// A place in [`super::Stacks::nodes`].
    pub stack: u32,
    /// How often.
    pub count: u64,
    /// How long.
    pub total_ns: u64,
    /// The longest.
    pub longest: Option<Slice>,
}

/// Times, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution(Vec<u64>);

impl Distribution {
    fn new(mut times_ns: Vec<u64>) -> Distribution {
        times_ns.sort_unstable();
        Distribution(times_ns)
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All of them.
    pub fn total_ns(&self) -> u64 {
        self.0.iter().fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// The longest.
    pub fn max_ns(&self) -> Option<u64> {
        self.0.last().copied()
    }

    /// The time that a share of them does not exceed: the least such one among
    /// them. `None` with fewer than ten above it.
    pub fn percentile_ns(&self, share: f64) -> Option<u64> {
        let rank = (share * self.0.len() as f64).ceil().max(1.0) as usize;
        let above = self.0.len().checked_sub(rank)?;
        (above >= LEAST_ABOVE).then(|| self.0[rank - 1])
    }
}

/// Times above a percentile, below which number it is not given.
const LEAST_ABOVE: usize = 10;

/// Page faults of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// All.
    pub count: u64,
    /// Of these, on stores; `None` where that is not recorded.
    pub writes: Option<u64>,
}

/// The figures of an operation on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Which.
    pub operation: MemoryOperation,
    /// How long it took, where begin and end are recorded.
    pub durations: Distribution,
    /// The longest of them.
    pub longest: Option<Slice>,
    /// How often they are not.
    pub untimed: u64,
    /// How much memory it was about; `None` where no record says.
    pub bytes: Option<u64>,
}

/// The figures of a trace.
pub fn summary(trace: &Trace) -> Summary {
    let threads = trace.threads.iter().enumerate();
    let mut threads: Vec<ThreadFigures> = threads.map(|(at, t)| thread(at, t)).collect();
    threads.sort_by_key(|t| std::cmp::Reverse(t.time_ns(StateKind::Running)));
    Summary {
        threads,
        calls: calls(trace),
        signposts: signposts(trace),
        preemptions: preemptions(trace),
        places: place_figures(trace),
        wakeup_latency: Distribution::new(wakeup_latencies(trace)),
        faults: faults(trace),
        memory: memory(trace),
    }
}

fn thread(index: usize, thread: &Thread) -> ThreadFigures {
    let mut figures = ThreadFigures {
        index,
        life_ns: thread.to_ns.saturating_sub(thread.from_ns),
        times_ns: [0; StateKind::ALL.len()],
        switched_in: 0,
        faults: thread.faults.len() as u64,
    };
    for segment in &thread.segments {
        let kind = segment.state.kind();
        let time_ns = &mut figures.times_ns[kind as usize];
        *time_ns = time_ns.saturating_add(segment.duration_ns());
        figures.switched_in += u64::from(kind == StateKind::Running);
    }
    // Where there are sums only, what is not running is not known.
    if let (Some(first), Some(last)) = (thread.samples.first(), thread.samples.last()) {
        let running = last.running_ns.saturating_sub(first.running_ns);
        figures.times_ns[StateKind::Running as usize] = running;
        let rest = figures.life_ns.saturating_sub(running);
        figures.times_ns[StateKind::BlockedOrRunnable as usize] = rest;
        figures.switched_in = last.switched_in.saturating_sub(first.switched_in);
        figures.faults = last.faults.saturating_sub(first.faults);
    }
    figures
}

fn calls(trace: &Trace) -> Vec<CallFigures> {
    let mut by_number: BTreeMap<u32, (SliceTimes, u64)> = BTreeMap::new();
    for thread in &trace.threads {
        for call in &thread.calls {
            let (times, unfinished) = by_number.entry(call.number).or_default();
            match call.returned {
                Some(_) => times.add(thread, call.from_ns, call.to_ns),
                None => *unfinished += 1,
            }
        }
    }
    let calls = by_number.into_iter();
    let mut calls: Vec<CallFigures> = calls
        .map(|(number, (times, unfinished))| CallFigures {
            number,
            longest: times.longest,
            durations: Distribution::new(times.all_ns),
            unfinished,
        })
        .collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.durations.total_ns()));
    calls
}

fn signposts(trace: &Trace) -> Vec<SignpostFigures> {
    let mut by_name: BTreeMap<u32, (u64, SliceTimes, u64)> = BTreeMap::new();
    for thread in &trace.threads {
        for signpost in &thread.signposts {
            let (moments, times, unfinished) = by_name.entry(signpost.name).or_default();
            match signpost.to_ns {
                None => *moments += 1,
                Some(to_ns) if to_ns >= thread.to_ns => *unfinished += 1,
                Some(to_ns) => times.add(thread, signpost.from_ns, to_ns),
            }
        }
    }
    let names = by_name.into_iter();
    let mut names: Vec<SignpostFigures> = names
        .map(|(name, (moments, times, unfinished))| SignpostFigures {
            name,
            moments,
            longest: times.longest,
            durations: Distribution::new(times.all_ns),
            unfinished,
        })
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.durations.total_ns()));
    names
}

fn preemptions(trace: &Trace) -> Vec<Preemption> {
    let mut pairs: BTreeMap<(&str, Option<&str>), SliceTimes> = BTreeMap::new();
    let threads = trace.by_id();
    for thread in &trace.threads {
        for segment in &thread.segments {
            if let State::Preempted(by) = segment.state {
                let by = (by != 0).then(|| threads.name_of(by).unwrap_or("?"));
                let pair = pairs.entry((&thread.name, by)).or_default();
                pair.add(thread, segment.from_ns, segment.to_ns);
            }
        }
    }
    let pairs = pairs.into_iter();
    let mut preemptions: Vec<Preemption> = pairs
        .map(|((victim, by), times)| Preemption {
            victim: victim.to_owned(),
            by: by.map(str::to_owned),
            count: times.all_ns.len() as u64,
            total_ns: times.total_ns(),
            longest: times.longest,
        })
        .collect();
    preemptions.sort_by_key(|p| std::cmp::Reverse(p.total_ns));
    preemptions
}

fn place_figures(trace: &Trace) -> Vec<PlaceFigures> {
    let mut places: BTreeMap<(&str, StateKind, u32), SliceTimes> = BTreeMap::new();
    for thread in trace.threads.iter().filter(|thread| !thread.left.is_empty()) {
        for (segment, stack) in thread.segments.iter().zip(thread.stacks()) {
            let kind = segment.state.kind();
            // Once woken, it waits for a CPU only.
            if let Some(stack) = stack.filter(|_| kind != StateKind::Runnable) {
                let place = places.entry((&thread.name, kind, stack)).or_default();
                place.add(thread, segment.from_ns, segment.to_ns);
            }
        }
    }
    let places = places.into_iter();
    let mut places: Vec<PlaceFigures> = places
        .map(|((thread, kind, stack), times)| PlaceFigures {
            thread: thread.to_owned(),
            kind,
            stack,
            count: times.all_ns.len() as u64,
            total_ns: times.total_ns(),
            longest: times.longest,
        })
        .collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.total_ns));
    places
}

/// Lengths of what lies between being woken and running.
fn wakeup_latencies(trace: &Trace) -> Vec<u64> {
    let pairs = trace.threads.iter().flat_map(|t| t.segments.windows(2));
    pairs
        .filter_map(|pair| match (pair[0].state, pair[1].state) {
            (State::Runnable, State::Running(_)) => Some(pair[0].duration_ns()),
            _ => None,
        })
        .collect()
}

fn faults(trace: &Trace) -> Faults {
    let mut faults = Faults::default();
    for thread in &trace.threads {
        for fault in &thread.faults {
            faults.count += 1;
            if fault.access != Access::Unknown {
                *faults.writes.get_or_insert(0) += u64::from(fault.access == Access::Write);
            }
        }
        if let (Some(first), Some(last)) = (thread.samples.first(), thread.samples.last()) {
            let more = last.faults.saturating_sub(first.faults);
            faults.count = faults.count.saturating_add(more);
        }
    }
    faults
}

fn memory(trace: &Trace) -> Vec<MemoryFigures> {
    let mut by_operation: BTreeMap<MemoryOperation, (SliceTimes, u64, Option<u64>)> =
        BTreeMap::new();
    let spans = trace.memory_spans();
    for (thread, span) in
        spans.flat_map(|(thread, spans)| spans.into_iter().map(move |one| (thread, one)))
    {
        let (times, untimed, bytes) = by_operation.entry(span.operation).or_default();
        match span.to_ns {
            Some(to_ns) => times.add(thread, span.from_ns, to_ns),
            None => *untimed += 1,
        }
        if let Some(more) = span.bytes {
            *bytes = Some(bytes.unwrap_or(0).saturating_add(more));
        }
    }
    let figures = by_operation.into_iter();
    let mut figures: Vec<MemoryFigures> = figures
        .map(|(operation, (times, untimed, bytes))| MemoryFigures {
            operation,
            longest: times.longest,
            durations: Distribution::new(times.all_ns),
            untimed,
            bytes,
        })
        .collect();
    figures.sort_by_key(|one| std::cmp::Reverse(one.durations.total_ns()));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Call, Ended, Sample, Segment, Signpost, Target, Tier};

    fn trace(threads: Vec<Thread>) -> Trace {
        Trace {
            duration_ns: 1000,
            threads,
            call_names: [(9, "mmap"), (11, "munmap"), (12, "brk")]
                .map(|(number, name)| (number, name.to_owned()))
                .into(),
            other_names: [(7, "hog".to_owned())].into(),
            ..Trace::new(Target::Process(1), Ended::Time, Tier::Full)
        }
    }

    fn thread(states: &[(u64, u64, State)]) -> Thread {
        let segments =
            states.iter().map(|&(from_ns, to_ns, state)| Segment { from_ns, to_ns, state });
        Thread {
            name: "me".into(),
            to_ns: states.last().map_or(0, |(_, to, _)| *to),
            segments: segments.collect(),
            ..Thread::default()
        }
    }

    /// The longest of what began at 100 in a thread without a number.
    fn slice(times_ns: &[u64]) -> Option<Slice> {
        let longest = times_ns.iter().max()?;
        Some(Slice { thread: 0, from_ns: 100, to_ns: 100 + longest })
    }

    #[test]
    fn states_add_up_by_kind_cause_and_wake_up() {
        let running = State::Running(0);
        let one = thread(&[
            (0, 10, running),
            (10, 40, State::Preempted(7)),
            (40, 50, running),
            (50, 60, State::Preempted(0)),
            (60, 70, running),
            (70, 75, State::Runnable),
            (75, 80, State::Running(1)),
        ]);
        let other = thread(&[(0, 3, State::Runnable), (3, 100, running)]);
        let summary = summary(&trace(vec![one, other]));
        // The one with more CPU time comes first.
        let [first, second] = &summary.threads[..] else {
            panic!("{:?}", summary.threads);
        };
        assert_eq!((first.index, first.time_ns(StateKind::Running)), (1, 97));
        assert_eq!((second.time_ns(StateKind::Running), second.switched_in), (35, 4));
        assert_eq!(second.time_ns(StateKind::Preempted), 40);
        let preemption = |by: Option<&str>, from_ns, total_ns| Preemption {
            victim: "me".into(),
            by: by.map(str::to_owned),
            count: 1,
            total_ns,
            longest: Some(Slice { thread: 0, from_ns, to_ns: from_ns + total_ns }),
        };
        let pairs = [preemption(Some("hog"), 10, 30), preemption(None, 50, 10)];
        assert_eq!(summary.preemptions, pairs);
        assert_eq!(summary.wakeup_latency, Distribution::new(vec![5, 3]));
    }

    #[test]
    fn calls_and_memory() {
        let call = |number, bytes, returned| Call {
            from_ns: 100,
            to_ns: 100 + u64::from(number),
            number,
            arguments: [0, bytes, 0],
            returned,
        };
        let calls = [
            call(9, 4096, Some(0x7f00_0000)),
            call(9, 1 << 40, Some(-12)),
            call(11, 4096, Some(0)),
            call(12, 0, Some(1 << 40)),
            call(0, 0, None),
        ];
        let one = Thread { calls: calls.to_vec(), ..Thread::default() };
        let summary = summary(&trace(vec![one]));
        let figures = |operation, times_ns: &[u64], bytes| MemoryFigures {
            operation,
            durations: Distribution::new(times_ns.to_vec()),
            longest: slice(times_ns),
            untimed: 0,
            bytes,
        };
        let memory = [
            figures(MemoryOperation::Map, &[9, 9], Some(4096)),
            figures(MemoryOperation::Break, &[12], None),
            figures(MemoryOperation::Unmap, &[11], Some(4096)),
        ];
        assert_eq!(summary.memory, memory, "no bytes of the mmap that failed");
        let numbers: Vec<u32> = summary.calls.iter().map(|call| call.number).collect();
        assert_eq!(numbers, [9, 12, 11, 0], "by time");
        assert_eq!(summary.calls[3].unfinished, 1);
        assert_eq!(summary.calls[0].durations.total_ns(), 18);
    }

    #[test]
    fn signposts_add_up_by_name() {
        let signpost = |name, to_ns| Signpost { from_ns: 100, to_ns, name };
        let signposts = [
            signpost(0, None),
            signpost(1, Some(107)),
            signpost(1, None),
            signpost(2, Some(150)),
            signpost(2, Some(1000)),
            signpost(2, Some(160)),
        ];
        let one = Thread { to_ns: 1000, signposts: signposts.to_vec(), ..Thread::default() };
        let summary = summary(&trace(vec![one]));
        let figures = |name, moments, times_ns: &[u64], unfinished| SignpostFigures {
            name,
            moments,
            durations: Distribution::new(times_ns.to_vec()),
            longest: slice(times_ns),
            unfinished,
        };
        let wanted = [figures(2, 0, &[50, 60], 1), figures(1, 1, &[7], 0), figures(0, 1, &[], 0)];
        assert_eq!(summary.signposts, wanted, "by time");
    }

    #[test]
    fn sums_are_differences_of_samples() {
        let sample = |running_ns, switched_in, faults| Sample {
            at_ns: 0,
            running_ns,
            queued_ns: 0,
            switched_in,
            faults,
        };
        let one = Thread {
            to_ns: 1000,
            samples: vec![sample(50, 3, 10), sample(60, 4, 11), sample(250, 9, 14)],
            ..Thread::default()
        };
        let summary = summary(&trace(vec![one]));
        let figures = &summary.threads[0];
        assert_eq!((figures.time_ns(StateKind::Running), figures.switched_in), (200, 6));
        assert_eq!(figures.time_ns(StateKind::BlockedOrRunnable), 800);
        assert_eq!((summary.faults.count, summary.faults.writes), (4, None));
    }

    #[test]
    fn a_percentile_needs_ten_times_above_it() {
        let of = |n: u64| Distribution::new((1..=n).rev().collect());
        assert_eq!(of(19).percentile_ns(0.5), None);
        assert_eq!(of(20).percentile_ns(0.5), Some(10));
        assert_eq!(of(999).percentile_ns(0.99), None);
        assert_eq!(of(1000).percentile_ns(0.99), Some(990));
        assert_eq!(of(0).percentile_ns(0.5), None);
        assert_eq!((of(3).max_ns(), of(3).total_ns()), (Some(3), 6));
    }
}
