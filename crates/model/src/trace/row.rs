//! The trace of a row: what its stamps mark, and its operations.

pub use super::tails::Spin;
use super::tails::prices;
use super::{InterruptKind, Signpost, Target, Thread, Trace};
use crate::stats::{self, Interval};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A row that was traced in one visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedRow {
    /// Its name, with its point on a curve.
    pub name: String,
    /// Its operations, in the order of time.
    pub operations: Vec<TracedOperation>,
    /// How far its stamps may be off on the clock of the trace.
    pub error_ns: u64,
    /// How many operations each is as the row counts them: 2 of a round trip of which the row has
    /// one way. 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_0")]
    pub counted: u64,
    /// Pairs of shorter visits, made in turns before it: the median length of an operation without
    /// recording and with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recording_pairs_ns: Vec<(u64, u64)>,
    /// What a reader must know of the visit.
    pub notes: Vec<String>,
    /// What the kernel counted in the visit, where the slowest operations are to be
    /// explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<Watch>,
    /// Its figures in this visit by variant: medians in ns, as a run's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub medians_ns: BTreeMap<String, u64>,
    /// Prices of interrupts and of a page fault in ns, where the slowest
    /// operations are to be explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<(BTreeMap<InterruptKind, u64>, Option<u64>)>,
}

/// An operation of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u32)", into = "(u64, u64, u32)")]
pub struct TracedOperation {
    /// Its first stamp.
    pub from_ns: u64,
    /// Its last one.
    pub to_ns: u64,
    /// The thread that took the last one.
    pub thread: u32,
}

impl TracedOperation {
    /// Its length.
    pub fn duration_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

impl From<(u64, u64, u32)> for TracedOperation {
    fn from((from_ns, duration_ns, thread): (u64, u64, u32)) -> TracedOperation {
        TracedOperation { from_ns, to_ns: from_ns.saturating_add(duration_ns), thread }
    }
}

impl From<TracedOperation> for (u64, u64, u32) {
    fn from(operation: TracedOperation) -> (u64, u64, u32) {
        (operation.from_ns, operation.duration_ns(), operation.thread)
    }
}

impl TracedRow {
    /// How many times as long operations take while they are recorded: the geometric mean of pairs,
    /// with its 95 % interval from three on.
    pub fn recording_factor(&self) -> Option<(f64, Option<Interval>)> {
        const LEAST: usize = 3;
        let pairs = self.recording_pairs_ns.iter().filter(|(without, with)| *without.min(with) > 0);
        let logs: Vec<f64> =
            pairs.map(|&(without, with)| (with as f64 / without as f64).ln()).collect();
        let factor = stats::mean(&logs)?.exp();
        let interval = stats::t_interval(&logs).filter(|_| logs.len() >= LEAST);
        let interval =
            interval.map(|of| Interval { value: factor, low: of.low.exp(), high: of.high.exp() });
        Some((factor, interval))
    }
}

/// What a visit marked, in ns of CLOCK_MONOTONIC_RAW.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// When the visit began and ended.
    pub visit_ns: (u64, u64),
    /// Names of what is marked.
    pub names: Vec<String>,
    /// What is marked: place of its name, begin, end, thread.
    pub marks: Vec<(u32, u64, u64, u32)>,
    /// What lies within operations, on any thread.
    #[serde(default)]
    pub steps: Vec<(u32, u64, u64, u32)>,
    /// As in [`TracedRow`].
    #[serde(default)]
    pub counted: u64,
    /// How far they may be off.
    pub error_ns: u64,
    /// What a reader must know of the visit.
    pub notes: Vec<String>,
    /// What the kernel counted.
    pub watch: Option<Watch>,
    /// As in [`TracedRow`].
    pub medians_ns: BTreeMap<String, u64>,
    /// Of a thread that span before the visit.
    pub spin: Option<Spin>,
}

/// What the kernel counted in a visit, read every ms by a thread of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The thread that read it.
    pub thread: u32,
    /// The CPU whose interrupts were counted: that of the thread that makes the visit.
    pub cpu: u32,
    /// In the order of time.
    pub readings: Vec<WatchReading>,
    /// Steps of CLOCK_REALTIME, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clock_steps: Vec<ClockStep>,
}

/// A step of CLOCK_REALTIME against CLOCK_MONOTONIC_RAW.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockStep {
    /// When it had not happened.
    pub before_ns: u64,
    /// When it had.
    pub after_ns: u64,
    /// By how much; negative where the clock was set back.
    pub by_ns: i64,
}

/// What the kernel counted since the reading before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, [u32; 4])", into = "(u64, u64, [u32; 4])")]
pub struct WatchReading {
    /// When it was read.
    pub at_ns: u64,
    /// Time without CPU quota that ended since, of all CPUs together.
    pub throttled_ns: u64,
    /// Interrupts in the order of [`InterruptKind::ALL`].
    pub interrupts: [u32; 4],
}

impl From<(u64, u64, [u32; 4])> for WatchReading {
    fn from((at_ns, throttled_ns, interrupts): (u64, u64, [u32; 4])) -> WatchReading {
        WatchReading { at_ns, throttled_ns, interrupts }
    }
}

impl From<WatchReading> for (u64, u64, [u32; 4]) {
    fn from(reading: WatchReading) -> (u64, u64, [u32; 4]) {
        (reading.at_ns, reading.throttled_ns, reading.interrupts)
    }
}

fn is_0(number: &u64) -> bool {
    *number == 0
}

impl Marks {
    /// The median length of its operations.
    pub fn median_ns(&self) -> Option<u64> {
        let row = TracedRow { operations: operations(self, |ns| ns), ..TracedRow::default() };
        row.median_ns()
    }
}

impl TracedRow {
    /// The median length of its operations.
    pub fn median_ns(&self) -> Option<u64> {
        crate::stats::middle(self.operations.iter().map(TracedOperation::duration_ns).collect())
    }

    /// The operation of median length, with those before and after it: what is
    /// shown of many. The one alone where it has several marks.
    pub fn typical(&self, marks: usize) -> Option<(u64, u64)> {
        let mut by_length: Vec<usize> = (0..self.operations.len()).collect();
        by_length.sort_by_key(|&at| self.operations[at].duration_ns());
        let median = *by_length.get(by_length.len() / 2)?;
        let neighbours = usize::from(marks < 2 * self.operations.len());
        let first = self.operations.get(median.saturating_sub(neighbours))?;
        let last = (median + neighbours).min(self.operations.len() - 1);
        let (from_ns, to_ns) = (first.from_ns, self.operations[last].to_ns);
        // What leads there and what follows.
        let margin_ns = to_ns.saturating_sub(from_ns) / 20;
        Some((from_ns.saturating_sub(margin_ns), to_ns.saturating_add(margin_ns)))
    }
}

impl Trace {
    /// The part of the trace of a row that is shown unless another is asked for.
    pub fn typical(&self) -> Option<(u64, u64)> {
        let Target::Row(row) = &self.target else {
            return None;
        };
        let threads = self.threads.iter();
        let marks = threads.map(|thread| thread.signposts.len()).sum();
        let (from_ns, to_ns) = row.typical(marks)?;
        Some((from_ns, to_ns.min(self.duration_ns)))
    }

    /// The visit to a row in a trace of its process: its marks become signposts of
    /// their threads, and what lies before and after the visit is left out.
    pub fn of_row(self, name: String, marks: &Marks) -> Trace {
        let began_ns = self.began.raw_ns;
        let relative = |at_ns: u64| at_ns.saturating_sub(began_ns);
        let prices = marks.spin.as_ref().map(|spin| {
            let detours = spin.detours.iter();
            let detours: Vec<(u64, u64)> =
                detours.map(|&(from, to)| (relative(from), relative(to))).collect();
            let found = prices(&self, spin, &detours);
            (found, Some(spin.fault_ns))
        });
        let mut watch = marks.watch.clone();
        if let Some(watch) = &mut watch {
            let moments = watch.readings.iter_mut().map(|r| &mut r.at_ns);
            let steps = watch.clock_steps.iter_mut();
            let steps = steps.flat_map(|step| [&mut step.before_ns, &mut step.after_ns]);
            moments.chain(steps).for_each(|ns| *ns = relative(*ns));
        }
        let mut trace = Trace {
            target: Target::Row(TracedRow {
                watch,
                medians_ns: marks.medians_ns.clone(),
                prices,
                name,
                operations: operations(marks, relative),
                counted: marks.counted,
                recording_pairs_ns: Vec::new(),
                error_ns: marks.error_ns,
                notes: marks.notes.clone(),
            }),
            signpost_names: marks.names.clone(),
            ..self
        };
        let mut by_id: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, thread) in trace.threads.iter().enumerate() {
            by_id.entry(thread.id).or_default().push(at);
        }
        for &(name, from_ns, to_ns, id) in marks.marks.iter().chain(&marks.steps) {
            let signpost =
                Signpost { from_ns: relative(from_ns), to_ns: Some(relative(to_ns)), name };
            let same = by_id.entry(id).or_default();
            let thread = trace.thread_at(id, same, &signpost);
            thread.signposts.push(signpost);
        }
        for thread in &mut trace.threads {
            // The operation before what lies within it.
            thread.signposts.sort_by_key(|one| (one.from_ns, std::cmp::Reverse(one.to_ns)));
        }
        let (from_ns, to_ns) = marks.visit_ns;
        trace.cut(relative(from_ns), relative(to_ns))
    }

    /// The thread of this number, of those at these places, at the time of a signpost. Of one
    /// without states, samples and signposts say when it was there.
    fn thread_at(&mut self, id: u32, same: &mut Vec<usize>, signpost: &Signpost) -> &mut Thread {
        let to_ns = signpost.to_ns.unwrap_or(signpost.from_ns);
        let threads = same.iter().map(|&at| (at, &self.threads[at]));
        let apart_ns = |thread: &Thread| {
            let after_ns = signpost.from_ns.saturating_sub(thread.to_ns);
            after_ns.max(thread.from_ns.saturating_sub(to_ns))
        };
        let apart = threads.map(|(at, thread)| (apart_ns(thread), at, thread));
        let possible = apart.filter(|(ns, _, thread)| *ns == 0 || thread.segments.is_empty());
        let found = possible.min_by_key(|(ns, at, _)| (*ns, *at));
        let at = found.map(|(_, at, _)| at).unwrap_or_else(|| {
            self.threads.push(Thread { id, from_ns: signpost.from_ns, to_ns, ..Thread::default() });
            same.push(self.threads.len() - 1);
            self.threads.len() - 1
        });
        let thread = &mut self.threads[at];
        if thread.segments.is_empty() {
            thread.from_ns = thread.from_ns.min(signpost.from_ns);
            // It took that stamp: a signpost that ends with its thread is an unfinished one.
            thread.to_ns = thread.to_ns.max(to_ns.saturating_add(1));
        }
        thread
    }
}

/// Marks that touch or overlap are one operation; it ends where the last one does.
fn operations(marks: &Marks, relative: impl Fn(u64) -> u64) -> Vec<TracedOperation> {
    let mut sorted = marks.marks.clone();
    sorted.sort_by_key(|&(_, from_ns, to_ns, _)| (from_ns, to_ns));
    let mut operations: Vec<TracedOperation> = Vec::new();
    for (_, from_ns, to_ns, thread) in sorted {
        let (from_ns, to_ns) = (relative(from_ns), relative(to_ns));
        match operations.last_mut() {
            Some(last) if from_ns <= last.to_ns => {
                if to_ns >= last.to_ns {
                    (last.to_ns, last.thread) = (to_ns, thread);
                }
            }
            _ => operations.push(TracedOperation { from_ns, to_ns, thread }),
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_recording_costs_is_of_pairs() {
        let row = |pairs: &[(u64, u64)]| TracedRow {
            recording_pairs_ns: pairs.to_vec(),
            ..TracedRow::default()
        };
        // The machine became slower: within pairs it did not.
        let (factor, interval) =
            row(&[(100, 200), (200, 400), (1000, 2000)]).recording_factor().expect("three");
        let interval = interval.expect("three");
        for value in [factor, interval.low, interval.high] {
            assert!((value - 2.0).abs() < 1e-9, "{factor} {interval:?}");
        }
        // Twice and half are as far from 1.
        let (factor, interval) =
            row(&[(1, 2), (2, 1), (1, 2), (2, 1)]).recording_factor().expect("four");
        let interval = interval.expect("four");
        assert!((factor - 1.0).abs() < 1e-9 && (interval.low * interval.high - 1.0).abs() < 1e-9);
        assert!(interval.low < 0.5 && interval.high > 2.0, "{interval:?}");
        assert_eq!(row(&[(0, 5), (4, 8)]).recording_factor(), Some((2.0, None)));
        assert_eq!(row(&[]).recording_factor(), None);
    }
    use crate::trace::{Clocks, Ended, Sample, Segment, State, Tier};

    fn trace() -> Trace {
        let thread = |id, from_ns, to_ns| Thread {
            id,
            from_ns,
            to_ns,
            segments: vec![Segment { from_ns, to_ns, state: State::Running(0) }],
            ..Thread::default()
        };
        Trace {
            began: Clocks { raw_ns: 1000, ..Clocks::default() },
            duration_ns: 500,
            // The number 8 is used twice.
            threads: vec![thread(7, 0, 500), thread(8, 10, 60), thread(8, 100, 300)],
            ..Trace::new(Target::Process(7), Ended::Exited(0), Tier::Full)
        }
    }

    #[test]
    fn marks_are_signposts_of_their_threads_and_make_operations() {
        let marks = Marks {
            visit_ns: (1050, 1400),
            names: vec!["create".into(), "sum".into()],
            marks: vec![
                (0, 1100, 1130, 7),
                (1, 1120, 1180, 8),
                (0, 1200, 1210, 7),
                (0, 1210, 1230, 7),
                (1, 1300, 1310, 9),
            ],
            error_ns: 20,
            notes: vec!["a note".into()],
            watch: Some(Watch {
                readings: vec![(1040, 0, [0; 4]).into(), (1100, 7, [1; 4]).into()],
                clock_steps: vec![ClockStep { before_ns: 1095, after_ns: 1105, by_ns: -500 }],
                ..Watch::default()
            }),
            ..Marks::default()
        };
        let trace = trace().of_row("my.row".into(), &marks);
        assert_eq!((trace.began.raw_ns, trace.duration_ns), (1050, 350));
        let Target::Row(row) = &trace.target else {
            panic!("{:?}", trace.target);
        };
        let operation = |from_ns, to_ns, thread| TracedOperation { from_ns, to_ns, thread };
        let expected = [operation(50, 130, 8), operation(150, 180, 7), operation(250, 260, 9)];
        assert_eq!(row.operations, expected);
        assert_eq!((row.error_ns, row.notes.len()), (20, 1));
        let watch = row.watch.as_ref().expect("kept");
        assert_eq!(watch.readings, [(50, 7, [1; 4]).into()]);
        let [step] = watch.clock_steps[..] else {
            panic!("{:?}", watch.clock_steps);
        };
        assert_eq!((step.before_ns, step.after_ns, step.by_ns), (45, 55, -500));
        let signposts = |at: usize| -> Vec<(u64, Option<u64>, u32)> {
            let signposts = trace.threads[at].signposts.iter();
            signposts.map(|s| (s.from_ns, s.to_ns, s.name)).collect()
        };
        let ids: Vec<u32> = trace.threads.iter().map(|thread| thread.id).collect();
        assert_eq!(ids, [7, 8, 8, 9], "the last is known by its mark");
        assert_eq!(signposts(0), [(50, Some(80), 0), (150, Some(160), 0), (160, Some(180), 0)]);
        assert_eq!(signposts(1), []);
        assert_eq!(signposts(2), [(70, Some(130), 1)]);
        assert_eq!((trace.threads[3].from_ns, trace.threads[3].to_ns), (250, 261));
        let figures = crate::trace::summary::summary(&trace).signposts;
        let unfinished: u64 = figures.iter().map(|f| f.unfinished).sum();
        assert_eq!(unfinished, 0, "every mark has its end");
    }

    #[test]
    fn each_operation_may_have_a_thread_of_its_own() {
        const MANY: u32 = 1 << 19;
        let marks = (0..MANY).map(|at| (0, 1000 + u64::from(at), 1000 + u64::from(at), 7 + at));
        let marks = Marks {
            visit_ns: (1000, 1000 + u64::from(MANY)),
            marks: marks.collect(),
            ..Marks::default()
        };
        let mut trace = trace();
        trace.duration_ns = MANY.into();
        let of_row = trace.of_row("my.row".into(), &marks);
        // Two had the number 8 before and after.
        assert_eq!(of_row.threads.len() as u32, MANY + 2);
        let signposts = of_row.threads.iter().map(|thread| thread.signposts.len());
        assert_eq!(signposts.sum::<usize>() as u32, MANY);
    }

    #[test]
    fn marks_extend_a_sampled_thread() {
        let sample =
            |at_ns| Sample { at_ns, running_ns: 0, queued_ns: 0, switched_in: 0, faults: 0 };
        let mut trace = trace();
        trace.threads = vec![Thread {
            id: 7,
            name: "one".into(),
            from_ns: 100,
            to_ns: 200,
            samples: vec![sample(100), sample(200)],
            ..Thread::default()
        }];
        let marks = Marks {
            visit_ns: (1000, 1500),
            names: vec!["mark".into()],
            marks: vec![(0, 1050, 1060, 7), (0, 1250, 1300, 7)],
            ..Marks::default()
        };
        let trace = trace.of_row("my.row".into(), &marks);
        let threads = trace.threads.iter();
        let threads: Vec<_> =
            threads.map(|t| (t.name.as_str(), t.from_ns, t.to_ns, t.signposts.len())).collect();
        assert_eq!(threads, [("one", 50, 301, 2)]);
    }

    #[test]
    fn the_typical_operation_has_its_neighbours_unless_it_has_parts() {
        let operation = |from_ns, to_ns| TracedOperation { from_ns, to_ns, thread: 1 };
        let row = TracedRow {
            operations: vec![
                operation(100, 105),
                operation(200, 220),
                operation(300, 310),
                operation(400, 440),
                operation(500, 501),
            ],
            ..TracedRow::default()
        };
        assert_eq!(row.typical(5), Some((188, 452)));
        assert_eq!(row.typical(25), Some((300, 310)));
        assert_eq!(TracedRow::default().typical(0), None);
    }
}
