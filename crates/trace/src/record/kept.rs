//! The records that are kept: all of them, or those of the last seconds.

use super::buffers::{Chunk, Traced};
use super::process;
use super::{RecordRequest, ns};
use crate::decode::{Decoded, Samples};
use crate::event::{Event, What, text_of};
use crate::stacks::Reader;
use crate::states::{TimelineSettings, kernel_state};
use model::trace::{State, Thread};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What was recorded.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) drained: Drained,
    /// When no more could be kept.
    pub(super) full_ns: Option<u64>,
    /// From when on all records are there, if older ones were dropped.
    pub(super) from_ns: Option<u64>,
    /// Up to when they were dropped for want of room.
    pub(super) short_ns: Option<u64>,
    /// What those tell of the threads.
    pub(super) before: Before,
    /// Stacks, if they were asked for.
    pub(super) stacks: Option<Box<Reader>>,
}

/// What was read of the rings, and of the kernel's buffers, whose chunks are pages.
#[derive(Debug, Default)]
pub(super) struct Drained {
    pub(super) rings: Vec<Chunk>,
    /// What the scheduler does with everybody,
    pub(super) pages: Vec<Chunk>,
    /// and what the traced threads do.
    pub(super) own_pages: Vec<Chunk>,
}

impl From<Vec<Chunk>> for Drained {
    fn from(rings: Vec<Chunk>) -> Drained {
        Drained { rings, ..Drained::default() }
    }
}

impl Drained {
    fn byte_count(&self) -> u64 {
        let chunks = self.rings.iter().chain(&self.pages).chain(&self.own_pages);
        chunks.map(|(_, bytes)| bytes.len() as u64).sum()
    }

    fn append(&mut self, mut later: Drained) {
        self.rings.append(&mut later.rings);
        self.pages.append(&mut later.pages);
        self.own_pages.append(&mut later.own_pages);
    }

    /// The events in the order of their time.
    pub(super) fn decoded(&self, samples: &Samples) -> Decoded {
        let mut decoded = Decoded::default();
        self.decode(samples, &mut decoded);
        decoded
    }

    /// The same, in place of what was there.
    fn decode(&self, samples: &Samples, decoded: &mut Decoded) {
        decoded.events.clear();
        // Buffer after buffer: sorting them joins one run of each, and not one of each chunk.
        for (cpu, bytes) in by_cpu(&self.rings) {
            decoded.add_ring(samples, *cpu, bytes);
        }
        for (cpu, bytes) in by_cpu(&self.pages).into_iter().chain(by_cpu(&self.own_pages)) {
            decoded.add_pages(samples, *cpu, bytes);
        }
        decoded.sort();
    }
}

/// Chunks CPU after CPU.
fn by_cpu(chunks: &[Chunk]) -> Vec<&Chunk> {
    let mut chunks: Vec<&Chunk> = chunks.iter().collect();
    chunks.sort_by_key(|(cpu, _)| *cpu);
    chunks
}

/// What the rings of all CPUs held at one time.
#[derive(Debug)]
struct Batch {
    /// When all of them were empty: later records are in later batches.
    drained_ns: u64,
    bytes: u64,
    drained: Drained,
}

/// The records that are kept, oldest first.
#[derive(Debug)]
pub(super) struct Kept {
    last: Option<Duration>,
    limit_bytes: u64,
    bytes: u64,
    batches: VecDeque<Batch>,
    from_ns: Option<u64>,
    /// The same of those for which there was no room.
    short_ns: Option<u64>,
    before: Before,
    /// What was dropped last.
    dropped: Decoded,
    samples: Samples,
}

/// The recording threads are taken to learn of the end of the trace at most this much later.
const TOLD_AFTER: Duration = Duration::from_millis(10);

impl Kept {
    pub(super) fn new(
        root: u32,
        traced: &Traced,
        request: &RecordRequest,
        samples: Samples,
    ) -> Kept {
        let of_all = samples.has_all_tasks();
        let threads = match traced {
            Traced::Command => vec![root],
            Traced::Process(id) => process::threads(*id).unwrap_or_default(),
        };
        Kept {
            last: request.last.map(|last| last.saturating_add(TOLD_AFTER)),
            limit_bytes: request.limit_bytes,
            bytes: 0,
            batches: VecDeque::new(),
            from_ns: None,
            short_ns: None,
            before: Before::new(root, threads, of_all),
            dropped: Decoded::default(),
            samples,
        }
    }

    /// Adds what the rings held until a time, and drops what is too old for a trace that still went on at another:
    /// however late the rings are read, its last seconds are there. Whether there is room for more. Others keep so
    /// many bytes in addition.
    pub(super) fn keep_chunks(
        &mut self,
        drained: impl Into<Drained>,
        others: u64,
        [going_ns, drained_ns]: [u64; 2],
    ) -> bool {
        let drained = drained.into();
        let bytes = drained.byte_count();
        self.bytes += bytes + others;
        if bytes > 0 {
            self.batches.push_back(Batch { drained_ns, bytes, drained });
        }
        let Some(last) = self.last else {
            return self.bytes <= self.limit_bytes;
        };
        let from_ns = going_ns.saturating_sub(ns(last));
        while let Some(oldest) = self.batches.front() {
            // The newest is kept, however large it is.
            let fits = self.bytes <= self.limit_bytes || self.batches.len() == 1;
            if oldest.drained_ns >= from_ns && fits {
                break;
            }
            if oldest.drained_ns >= from_ns {
                self.short_ns = Some(oldest.drained_ns);
            }
            let Some(oldest) = self.batches.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes;
            self.from_ns = Some(oldest.drained_ns);
            // In the memory of those before.
            oldest.drained.decode(&self.samples, &mut self.dropped);
            self.before.add_events(&self.dropped.events);
        }
        true
    }

    pub(super) fn collected(self) -> Collected {
        let mut drained = Drained::default();
        self.batches.into_iter().for_each(|batch| drained.append(batch.drained));
        Collected {
            drained,
            full_ns: None,
            stacks: None,
            from_ns: self.from_ns,
            short_ns: self.short_ns,
            before: self.before,
        }
    }
}

/// What dropped records tell of threads that have not ended in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    threads: BTreeMap<u32, KnownThread>,
    /// Threads of others leave records too.
    of_all: bool,
}

/// A thread as far as dropped records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KnownThread {
    process: u32,
    name: Option<String>,
    created_by: Option<u32>,
    /// The system call that it is in.
    call: Option<u32>,
    /// It was woken and has not run since.
    is_woken: bool,
    /// The event with which it went to sleep, if it did not run since.
    left: Option<Event>,
    /// The last event that tells what it does; 0 if none does.
    state_ns: u64,
}

impl KnownThread {
    fn set_running(&mut self) {
        self.left = None;
        self.is_woken = false;
    }
}

impl Before {
    fn new(process: u32, threads: Vec<u32>, of_all: bool) -> Before {
        let known = KnownThread { process, ..KnownThread::default() };
        let threads = threads.into_iter();
        Before { threads: threads.map(|id| (id, known.clone())).collect(), of_all }
    }

    /// Adds what records tell, in the order of their time.
    pub(super) fn add_events(&mut self, events: &[Event]) {
        for event in events {
            self.event(*event);
        }
    }

    fn event(&mut self, event: Event) {
        let Event { at_ns, what, .. } = event;
        match what {
            What::Fork { process, thread, parent: by } => {
                let parent = self.threads.get(&by);
                if self.of_all && parent.is_none() {
                    return;
                }
                let name = parent.and_then(|parent| parent.name.clone());
                let process = process.or(parent.map(|parent| parent.process)).unwrap_or(0);
                // A record of its own on another CPU may come first.
                let known = self.threads.entry(thread).or_default();
                known.process = process;
                known.created_by = Some(by);
                known.name = known.name.take().or(name);
            }
            What::Name { process, thread, name, .. } => {
                if self.of_all && !self.threads.contains_key(&thread) {
                    return;
                }
                let known = self.threads.entry(thread).or_default();
                known.process = process.unwrap_or(known.process);
                known.name = Some(text_of(&name));
            }
            What::Exit { thread } => drop(self.threads.remove(&thread)),
            What::Switch { out, state, into } => {
                let settings = TimelineSettings::default();
                self.switched(out, at_ns, |known| {
                    let call = known.call;
                    known.left = match kernel_state(state, into, call, &settings) {
                        Some(State::Blocked { call, uninterruptible }) if !known.is_woken => {
                            Some(Event {
                                what: What::Asleep { thread: out, call, uninterruptible },
                                ..event
                            })
                        }
                        _ => None,
                    };
                });
                self.switched(into, at_ns, KnownThread::set_running);
            }
            What::OwnSwitch { thread, out: false, .. } => {
                self.switched(thread, at_ns, KnownThread::set_running)
            }
            What::OwnSwitch { thread, ready, .. } => {
                self.switched(thread, at_ns, |known| known.left = (!ready).then_some(event));
            }
            What::Waking { thread, .. } => self.switched(thread, at_ns, |known| {
                known.left = None;
                known.is_woken = true;
            }),
            What::Enter { thread, number, .. } => self.switched(thread, at_ns, |known| {
                known.set_running();
                known.call = Some(number);
            }),
            What::Return { thread, .. } => self.switched(thread, at_ns, |known| {
                known.set_running();
                known.call = None;
            }),
            What::Lost(_) => {
                for known in self.threads.values_mut() {
                    known.state_ns = known.state_ns.max(at_ns);
                    known.left = None;
                    known.call = None;
                }
            }
            _ => {}
        }
    }

    /// Something that changed what a thread does, unless a later one is known: rings are
    /// emptied one after the other.
    fn switched(&mut self, thread: u32, at_ns: u64, change: impl FnOnce(&mut KnownThread)) {
        if let Some(known) = self.threads.get_mut(&thread)
            && known.state_ns <= at_ns
        {
            known.state_ns = at_ns;
            change(known);
        }
    }

    /// What says of threads that they sleep at this time. These slept when recording began.
    pub(super) fn asleep(&self, at_ns: u64, first: Vec<Event>) -> Vec<Event> {
        let first = first.into_iter().filter(|event| match event.what {
            What::Asleep { thread, .. } => {
                let known = self.threads.get(&thread);
                known.is_some_and(|known| known.state_ns == 0)
            }
            _ => false,
        });
        let left = self.threads.values().filter_map(|known| known.left);
        let all = first.chain(left);
        all.map(|event| Event { at_ns, ..event }).collect()
    }

    /// Process and number of each.
    pub(super) fn threads(&self) -> Vec<(u32, u32)> {
        let threads = self.threads.iter();
        threads.map(|(&id, known)| (known.process, id)).collect()
    }

    /// Adds what no later record says. Of a number that is used again, only the first
    /// thread is meant.
    pub(super) fn complete(&self, threads: &mut [Thread]) {
        for (&id, known) in &self.threads {
            let Some(thread) = threads.iter_mut().find(|thread| thread.id == id) else {
                continue;
            };
            if thread.process == 0 {
                thread.process = known.process;
            }
            if let Some(name) = known.name.as_ref().filter(|_| thread.name.is_empty()) {
                thread.name.clone_from(name);
            }
            thread.created_by = thread.created_by.or(known.created_by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Layouts;

    fn kept(last: Option<Duration>, limit_bytes: u64) -> Kept {
        Kept {
            last,
            limit_bytes,
            bytes: 0,
            batches: VecDeque::new(),
            from_ns: None,
            short_ns: None,
            before: Before::new(7, vec![7], false),
            dropped: Decoded::default(),
            samples: Samples::Faults,
        }
    }

    /// Lengths of what is kept, and from when on.
    fn lengths(kept: Kept) -> (Vec<usize>, Option<u64>) {
        let collected = kept.collected();
        let chunks = collected.drained.rings.iter();
        (chunks.map(|(_, bytes)| bytes.len()).collect(), collected.from_ns)
    }

    #[test]
    fn all_is_kept_as_long_as_there_is_room() {
        let mut all = kept(None, 10);
        assert!(all.keep_chunks(vec![(0, vec![0; 6])], 0, [1_000; 2]));
        assert!(all.keep_chunks(vec![(0, vec![0; 1])], 3, [9_000_000_000; 2]));
        assert!(!all.keep_chunks(vec![(1, vec![0; 1])], 0, [9_000_000_001; 2]));
        assert_eq!(lengths(all), (vec![6, 1, 1], None));
    }

    #[test]
    fn the_end_may_be_longer_than_a_clock_runs() {
        // One more than 64 bits of ns.
        let mut end = kept(Some(Duration::new(18_446_744_073, 709_551_617)), 10);
        assert!(end.keep_chunks(vec![(0, vec![0; 3])], 0, [1_000; 2]));
        assert!(end.keep_chunks(vec![(0, vec![0; 4])], 0, [9_000; 2]));
        assert_eq!(lengths(end), (vec![3, 4], None));
    }

    #[test]
    fn the_end_is_kept() {
        let mut end = kept(Some(Duration::from_nanos(100)), 10);
        assert!(end.keep_chunks(vec![(0, vec![0; 3]), (1, vec![0; 2])], 0, [1_000; 2]));
        assert!(end.keep_chunks(vec![(0, vec![0; 4])], 0, [1_100; 2]));
        assert!(end.keep_chunks(Vec::new(), 0, [1_100; 2]));
        // Of the first, something is older.
        assert!(end.keep_chunks(vec![(0, vec![0; 1])], 0, [1_101; 2]));
        // There is no room for the second.
        assert!(end.keep_chunks(vec![(0, vec![0; 8])], 0, [1_150; 2]));
        assert_eq!(lengths(end), (vec![1, 8], Some(1_100)));
    }

    #[test]
    fn what_is_read_late_is_no_older() {
        let mut end = kept(Some(Duration::from_nanos(100)), 10);
        assert!(end.keep_chunks(vec![(0, vec![0; 3])], 0, [1_000; 2]));
        assert!(end.keep_chunks(vec![(0, vec![0; 4])], 0, [1_050, 9_000]));
        assert!(end.keep_chunks(vec![(0, vec![0; 2])], 0, [1_090, 9_500]));
        assert_eq!(lengths(end), (vec![3, 4, 2], None));
    }

    #[test]
    fn the_newest_is_kept_even_if_it_alone_is_too_large() {
        let mut end = kept(Some(Duration::from_nanos(100)), 10);
        end.keep_chunks(vec![(0, vec![0; 3])], 0, [1_000; 2]);
        end.keep_chunks(vec![(0, vec![0; 11])], 0, [1_010; 2]);
        assert_eq!(end.short_ns, Some(1_000));
        assert_eq!(lengths(end), (vec![11], Some(1_000)));
        // What is too old was not asked for.
        let mut old = kept(Some(Duration::from_nanos(100)), 10);
        old.keep_chunks(vec![(0, vec![0; 3])], 0, [1_000; 2]);
        old.keep_chunks(vec![(0, vec![0; 11])], 0, [1_101; 2]);
        assert_eq!(old.short_ns, None);
    }

    fn decoded(samples: &Samples, chunks: &[Chunk]) -> Vec<Event> {
        Drained::from(chunks.to_vec()).decoded(samples).events
    }

    /// A record of a thread that begins (7) or ends (4).
    fn task(kind: u32, (process, thread): (u32, u32), parent: u32) -> Vec<u8> {
        let words = [process, process, thread, parent, 0, 0];
        let stamp = [0; 16];
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let length = (8 + body.len() + stamp.len()) as u16;
        let head = [&kind.to_ne_bytes()[..], &[0; 2], &length.to_ne_bytes()];
        [&head.concat()[..], &body, &stamp].concat()
    }

    #[test]
    fn what_is_dropped_tells_of_threads_that_live() {
        let mut before = Before::new(7, vec![7], false);
        let told = [task(7, (7, 8), 7), task(7, (9, 9), 8), task(4, (7, 8), 7)].concat();
        before.add_events(&decoded(&Samples::Faults, &[(0, told)]));
        assert_eq!(before.threads(), [(7, 7), (9, 9)]);
        let mut threads = [9, 10].map(|id| Thread { id, ..Thread::default() });
        before.complete(&mut threads);
        assert_eq!((threads[0].process, threads[0].created_by), (9, Some(8)));
        assert_eq!(threads[1].process, 0);
        // Of all threads of the machine, those of others are left out.
        let mut of_all = Before::new(7, vec![7], true);
        let told = [task(7, (50, 50), 49), task(7, (9, 9), 7)].concat();
        of_all.add_events(&decoded(&Samples::Faults, &[(0, told)]));
        assert_eq!(of_all.threads(), [(7, 7), (9, 9)]);
    }

    #[test]
    fn others_that_the_kernels_buffers_hold_are_left_out() {
        let of_all = |samples| {
            let request = RecordRequest::of_all();
            Kept::new(7, &Traced::Command, &request, samples).before.of_all
        };
        assert!(of_all(Samples::Tracepoints(Layouts::default())));
        assert!(!of_all(Samples::Faults));
    }

    #[test]
    fn what_is_dropped_tells_names_that_no_later_record_does() {
        let name = |thread, text: &[u8; 4]| What::Name {
            process: Some(7),
            thread,
            name: std::array::from_fn(|at| text.get(at).copied().unwrap_or(0)),
            exec: false,
        };
        let fork = |process, thread| What::Fork { process: Some(process), thread, parent: 7 };
        let told = [
            name(7, b"main"),
            fork(7, 8),
            fork(7, 9),
            name(8, b"work"),
            // Its own record on another CPU came first.
            name(10, b"late"),
            fork(10, 10),
        ];
        let mut before = Before::new(7, vec![7], false);
        before.add_events(&told.map(|what| event(10, what)));
        let mut threads = [7, 8, 9, 10].map(|id| Thread { id, ..Thread::default() });
        // What later records say stays.
        threads[1].name = "later".into();
        (threads[1].process, threads[1].created_by) = (3, Some(4));
        before.complete(&mut threads);
        let told = threads.map(|thread| (thread.process, thread.name, thread.created_by));
        let wanted =
            [(7, "main", None), (3, "later", Some(4)), (7, "main", Some(7)), (10, "late", Some(7))];
        let wanted = wanted.map(|(process, name, by)| (process, name.to_owned(), by));
        assert_eq!(told, wanted);
    }

    fn event(at_ns: u64, what: What) -> Event {
        Event { at_ns, cpu: 0, what }
    }

    fn asleep(thread: u32, call: Option<u32>, uninterruptible: bool) -> What {
        What::Asleep { thread, call, uninterruptible }
    }

    #[test]
    fn what_is_dropped_tells_who_sleeps() {
        let mut before = Before::new(7, vec![7, 8, 9, 10], false);
        let switch = |at_ns, out, state, into| event(at_ns, What::Switch { out, state, into });
        let enter = What::Enter { thread: 7, number: 35, arguments: [0; 3] };
        before.add_events(&[
            switch(10, 0, 0, 7),
            event(20, enter),
            switch(30, 7, 1, 9),
            switch(40, 9, 2, 0),
            switch(50, 0, 0, 9),
            switch(60, 10, 2, 0),
        ]);
        // Of another ring: 10 slept later.
        before.add_events(&[switch(55, 0, 0, 10)]);
        // 8 slept from the beginning on, 9 has run since.
        let first = vec![event(1, asleep(8, Some(1), true)), event(1, asleep(9, None, true))];
        let expected = [
            event(100, asleep(8, Some(1), true)),
            event(100, asleep(7, Some(35), false)),
            event(100, asleep(10, None, true)),
        ];
        assert_eq!(before.asleep(100, first.clone()), expected);
        // What was lost may have woken them.
        before.add_events(&[event(70, What::Lost(1))]);
        assert_eq!(before.asleep(100, first), []);
    }

    #[test]
    fn own_switches_that_are_dropped_tell_who_sleeps() {
        let mut before = Before::new(7, vec![7, 8], false);
        let own = |at_ns, thread, out, ready| event(at_ns, What::OwnSwitch { thread, out, ready });
        before.add_events(&[own(10, 7, true, false), own(20, 8, true, true)]);
        assert_eq!(before.asleep(100, Vec::new()), [own(100, 7, true, false)]);
        before.add_events(&[own(30, 7, false, false)]);
        assert_eq!(before.asleep(100, Vec::new()), []);
    }
}
