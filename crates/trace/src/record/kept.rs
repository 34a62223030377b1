//! The records that are kept: all of them, or those of the last seconds.

use super::buffers::{Chunk, Traced};
use super::process;
use super::{Request, ns};
use crate::decode::{Decoded, Samples};
use crate::event::{Event, What, text_of};
use crate::stacks::Reader;
use crate::states::{Settings, kernel_state};
use model::trace::{State, Thread};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What was recorded.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) chunks: Vec<Chunk>,
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

/// What the rings of all CPUs held at one time.
#[derive(Debug)]
struct Batch {
    /// When all of them were empty: later records are in later batches.
    drained_ns: u64,
    bytes: u64,
    chunks: Vec<Chunk>,
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
    samples: Samples,
}

/// The last records are read no later than this after the end of the trace; else it is
/// a little shorter.
const LATEST: Duration = Duration::from_millis(100);

impl Kept {
    pub(super) fn new(root: u32, traced: &Traced, request: &Request, samples: Samples) -> Kept {
        let of_own = matches!(samples, Samples::Faults);
        let threads = match traced {
            Traced::Command => vec![root],
            Traced::Process(id) => process::threads(*id).unwrap_or_default(),
        };
        Kept {
            last: request.last.map(|last| last.saturating_add(LATEST)),
            limit_bytes: request.limit_bytes,
            bytes: 0,
            batches: VecDeque::new(),
            from_ns: None,
            short_ns: None,
            before: Before::new(root, threads, request.scheduler_only, of_own),
            samples,
        }
    }

    /// Adds what the rings held until this time, and drops what is too old; whether there is
    /// room for more. Others keep so many bytes in addition.
    pub(super) fn add(&mut self, chunks: Vec<Chunk>, others: u64, drained_ns: u64) -> bool {
        let bytes = chunks.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        self.bytes += bytes + others;
        if bytes > 0 {
            self.batches.push_back(Batch { drained_ns, bytes, chunks });
        }
        let Some(last) = self.last else {
            return self.bytes <= self.limit_bytes;
        };
        let from_ns = drained_ns.saturating_sub(ns(last));
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
            self.before.add(&decoded(&self.samples, &oldest.chunks));
        }
        true
    }

    pub(super) fn collected(self) -> Collected {
        let batches = self.batches.into_iter();
        Collected {
            chunks: batches.flat_map(|batch| batch.chunks).collect(),
            full_ns: None,
            stacks: None,
            from_ns: self.from_ns,
            short_ns: self.short_ns,
            before: self.before,
        }
    }
}

fn decoded(samples: &Samples, chunks: &[Chunk]) -> Vec<Event> {
    let mut decoded = Decoded::default();
    for (cpu, bytes) in chunks {
        decoded.add(samples, *cpu, bytes);
    }
    decoded.sort();
    decoded.events
}

/// What dropped records tell of threads that have not ended in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    threads: BTreeMap<u32, Known>,
    /// Threads of others leave records too.
    of_all: bool,
    /// Only the threads' own switches are recorded.
    of_own: bool,
}

/// A thread as far as dropped records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
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

impl Known {
    fn runs(&mut self) {
        self.left = None;
        self.is_woken = false;
    }
}

impl Before {
    fn new(process: u32, threads: Vec<u32>, of_all: bool, of_own: bool) -> Before {
        let known = Known { process, ..Known::default() };
        let threads = threads.into_iter();
        Before { threads: threads.map(|id| (id, known.clone())).collect(), of_all, of_own }
    }

    /// Adds what records tell, in the order of their time.
    pub(super) fn add(&mut self, events: &[Event]) {
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
                known.process = process;
                known.name = Some(text_of(&name));
            }
            What::Exit { thread } => drop(self.threads.remove(&thread)),
            What::Switch { out, state, into } => {
                let settings = Settings::default();
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
                self.switched(into, at_ns, Known::runs);
            }
            What::OwnSwitch { thread, out: false, .. } => self.switched(thread, at_ns, Known::runs),
            // Else `sched_switch` says it, and more.
            What::OwnSwitch { thread, ready, .. } if self.of_own => {
                self.switched(thread, at_ns, |known| known.left = (!ready).then_some(event));
            }
            What::Waking { thread, .. } => self.switched(thread, at_ns, |known| {
                known.left = None;
                known.is_woken = true;
            }),
            What::Enter { thread, number, .. } => self.switched(thread, at_ns, |known| {
                known.runs();
                known.call = Some(number);
            }),
            What::Return { thread, .. } => self.switched(thread, at_ns, |known| {
                known.runs();
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
    fn switched(&mut self, thread: u32, at_ns: u64, change: impl FnOnce(&mut Known)) {
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

    fn kept(last: Option<Duration>, limit_bytes: u64) -> Kept {
        Kept {
            last,
            limit_bytes,
            bytes: 0,
            batches: VecDeque::new(),
            from_ns: None,
            short_ns: None,
            before: Before::new(7, vec![7], false, true),
            samples: Samples::Faults,
        }
    }

    /// Lengths of what is kept, and from when on.
    fn lengths(kept: Kept) -> (Vec<usize>, Option<u64>) {
        let collected = kept.collected();
        let chunks = collected.chunks.iter();
        (chunks.map(|(_, bytes)| bytes.len()).collect(), collected.from_ns)
    }

    #[test]
    fn all_is_kept_as_long_as_there_is_room() {
        let mut all = kept(None, 10);
        assert!(all.add(vec![(0, vec![0; 6])], 0, 1_000));
        assert!(all.add(vec![(0, vec![0; 1])], 3, 9_000_000_000));
        assert!(!all.add(vec![(1, vec![0; 1])], 0, 9_000_000_001));
        assert_eq!(lengths(all), (vec![6, 1, 1], None));
    }

    #[test]
    fn the_end_may_be_longer_than_a_clock_runs() {
        // One more than 64 bits of ns.
        let mut end = kept(Some(Duration::new(18_446_744_073, 709_551_617)), 10);
        assert!(end.add(vec![(0, vec![0; 3])], 0, 1_000));
        assert!(end.add(vec![(0, vec![0; 4])], 0, 9_000));
        assert_eq!(lengths(end), (vec![3, 4], None));
    }

    #[test]
    fn the_end_is_kept() {
        let mut end = kept(Some(Duration::from_nanos(100)), 10);
        assert!(end.add(vec![(0, vec![0; 3]), (1, vec![0; 2])], 0, 1_000));
        assert!(end.add(vec![(0, vec![0; 4])], 0, 1_100));
        assert!(end.add(Vec::new(), 0, 1_100));
        // Of the first, something is older.
        assert!(end.add(vec![(0, vec![0; 1])], 0, 1_101));
        // There is no room for the second.
        assert!(end.add(vec![(0, vec![0; 8])], 0, 1_150));
        assert_eq!(lengths(end), (vec![1, 8], Some(1_100)));
    }

    #[test]
    fn the_newest_is_kept_even_if_it_alone_is_too_large() {
        let mut end = kept(Some(Duration::from_nanos(100)), 10);
        end.add(vec![(0, vec![0; 3])], 0, 1_000);
        end.add(vec![(0, vec![0; 11])], 0, 1_010);
        assert_eq!(end.short_ns, Some(1_000));
        assert_eq!(lengths(end), (vec![11], Some(1_000)));
        // What is too old was not asked for.
        let mut old = kept(Some(Duration::from_nanos(100)), 10);
        old.add(vec![(0, vec![0; 3])], 0, 1_000);
        old.add(vec![(0, vec![0; 11])], 0, 1_101);
        assert_eq!(old.short_ns, None);
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
        let mut before = Before::new(7, vec![7], false, true);
        let told = [task(7, (7, 8), 7), task(7, (9, 9), 8), task(4, (7, 8), 7)].concat();
        before.add(&decoded(&Samples::Faults, &[(0, told)]));
        assert_eq!(before.threads(), [(7, 7), (9, 9)]);
        let mut threads = [9, 10].map(|id| Thread { id, ..Thread::default() });
        before.complete(&mut threads);
        assert_eq!((threads[0].process, threads[0].created_by), (9, Some(8)));
        assert_eq!(threads[1].process, 0);
        // Of all threads of the machine, those of others are left out.
        let mut of_all = Before::new(7, vec![7], true, true);
        let told = [task(7, (50, 50), 49), task(7, (9, 9), 7)].concat();
        of_all.add(&decoded(&Samples::Faults, &[(0, told)]));
        assert_eq!(of_all.threads(), [(7, 7), (9, 9)]);
    }

    #[test]
    fn what_is_dropped_tells_names_that_no_later_record_does() {
        let name = |thread, text: &[u8; 4]| What::Name {
            process: 7,
            thread,
            name: std::array::from_fn(|at| text.get(at).copied().unwrap_or(0)),
            exec: false,
        };
        let fork = |process, thread| What::Fork { process, thread, parent: 7 };
        let told = [
            name(7, b"main"),
            fork(7, 8),
            fork(7, 9),
            name(8, b"work"),
            // Its own record on another CPU came first.
            name(10, b"late"),
            fork(10, 10),
        ];
        let mut before = Before::new(7, vec![7], false, true);
        before.add(&told.map(|what| event(10, what)));
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
        let mut before = Before::new(7, vec![7, 8, 9, 10], false, false);
        let switch = |at_ns, out, state, into| event(at_ns, What::Switch { out, state, into });
        let enter = What::Enter { thread: 7, number: 35, arguments: [0; 3] };
        before.add(&[
            switch(10, 0, 0, 7),
            event(20, enter),
            switch(30, 7, 1, 9),
            switch(40, 9, 2, 0),
            switch(50, 0, 0, 9),
            switch(60, 10, 2, 0),
        ]);
        // Of another ring: 10 slept later.
        before.add(&[switch(55, 0, 0, 10)]);
        // 8 slept from the beginning on, 9 has run since.
        let first = vec![event(1, asleep(8, Some(1), true)), event(1, asleep(9, None, true))];
        let expected = [
            event(100, asleep(8, Some(1), true)),
            event(100, asleep(7, Some(35), false)),
            event(100, asleep(10, None, true)),
        ];
        assert_eq!(before.asleep(100, first.clone()), expected);
        // What was lost may have woken them.
        before.add(&[event(70, What::Lost(1))]);
        assert_eq!(before.asleep(100, first), []);
    }

    #[test]
    fn own_switches_that_are_dropped_tell_who_sleeps() {
        let mut before = Before::new(7, vec![7, 8], false, true);
        let own = |at_ns, thread, out, ready| event(at_ns, What::OwnSwitch { thread, out, ready });
        before.add(&[own(10, 7, true, false), own(20, 8, true, true)]);
        assert_eq!(before.asleep(100, Vec::new()), [own(100, 7, true, false)]);
        before.add(&[own(30, 7, false, false)]);
        assert_eq!(before.asleep(100, Vec::new()), []);
    }
}
