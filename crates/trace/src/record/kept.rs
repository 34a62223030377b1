//! The records that are kept: all of them, or those of the last seconds.

use super::Request;
use super::process;
use super::rings::{Chunk, Collected, Traced};
use crate::event::text_of;
use model::trace::Thread;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use sys::perf::{Body, records};

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
    before: Before,
}

impl Kept {
    pub(super) fn new(root: u32, traced: &Traced, request: &Request) -> Kept {
        let threads = match traced {
            Traced::Command => vec![root],
            Traced::Process(id) => process::threads(*id).unwrap_or_default(),
        };
        Kept {
            last: request.last,
            limit_bytes: request.limit_bytes,
            bytes: 0,
            batches: VecDeque::new(),
            from_ns: None,
            before: Before::new(root, threads, request.scheduler_only),
        }
    }

    /// Adds what the rings held until this time, and drops what is too old; whether there is
    /// room for more. Others keep so many bytes in addition.
    pub(super) fn add(&mut self, chunks: Vec<Chunk>, others: u64, drained_ns: u64) -> bool {
        let bytes = chunks.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        self.bytes += bytes + others;
        if bytes > 0 {
            self.batches.push_back(Batch {
                drained_ns,
                bytes,
                chunks,
            });
        }
        let Some(last) = self.last else {
            return self.bytes <= self.limit_bytes;
        };
        let from_ns = drained_ns.saturating_sub(last.as_nanos() as u64);
        while let Some(oldest) = self.batches.front() {
            // The newest is kept, however large it is.
            let fits = self.bytes <= self.limit_bytes || self.batches.len() == 1;
            if oldest.drained_ns >= from_ns && fits {
                break;
            }
            let Some(oldest) = self.batches.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes;
            self.from_ns = Some(oldest.drained_ns);
            for (_, bytes) in &oldest.chunks {
                self.before.add(bytes);
            }
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
            before: self.before,
        }
    }
}

/// What dropped records tell of threads that have not ended in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    threads: BTreeMap<u32, Known>,
    /// Threads of others leave records too.
    of_all: bool,
}

/// A thread as far as dropped records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    process: u32,
    name: Option<String>,
    created_by: Option<u32>,
}

impl Before {
    fn new(process: u32, threads: Vec<u32>, of_all: bool) -> Before {
        let known = Known {
            process,
            ..Known::default()
        };
        let threads = threads.into_iter();
        Before {
            threads: threads.map(|id| (id, known.clone())).collect(),
            of_all,
        }
    }

    /// Adds the records of a CPU.
    fn add(&mut self, bytes: &[u8]) {
        for record in records(bytes) {
            match record.body {
                Body::Fork(task) => {
                    let parent = self.threads.get(&task.parent_thread);
                    if self.of_all && parent.is_none() {
                        continue;
                    }
                    let name = parent.and_then(|parent| parent.name.clone());
                    // A record of its own on another CPU may come first.
                    let known = self.threads.entry(task.thread).or_default();
                    known.process = task.process;
                    known.created_by = Some(task.parent_thread);
                    known.name = known.name.take().or(name);
                }
                Body::Name {
                    process,
                    thread,
                    name,
                    ..
                } => {
                    if self.of_all && !self.threads.contains_key(&thread) {
                        continue;
                    }
                    let known = self.threads.entry(thread).or_default();
                    known.process = process;
                    known.name = Some(text_of(name));
                }
                Body::Exit(task) => {
                    self.threads.remove(&task.thread);
                }
                _ => {}
            }
        }
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
            before: Before::new(7, vec![7], false),
        }
    }

    /// Lengths of what is kept, and from when on.
    fn lengths(kept: Kept) -> (Vec<usize>, Option<u64>) {
        let collected = kept.collected();
        let chunks = collected.chunks.iter();
        (
            chunks.map(|(_, bytes)| bytes.len()).collect(),
            collected.from_ns,
        )
    }

    #[test]
    fn all_is_kept_as_long_as_there_is_room() {
        let mut all = kept(None, 10);
        assert!(all.add(vec![(0, vec![0; 6])], 0, 1_000));
        assert!(all.add(vec![(0, vec![0; 4])], 0, 9_000_000_000));
        assert!(!all.add(vec![(1, vec![0; 1])], 0, 9_000_000_001));
        assert_eq!(lengths(all), (vec![6, 4, 1], None));
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
        assert_eq!(lengths(end), (vec![11], Some(1_000)));
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
        before.add(&[task(7, (7, 8), 7), task(7, (9, 9), 8), task(4, (7, 8), 7)].concat());
        assert_eq!(before.threads(), [(7, 7), (9, 9)]);
        let mut threads = [9, 10].map(|id| Thread {
            id,
            ..Thread::default()
        });
        before.complete(&mut threads);
        assert_eq!((threads[0].process, threads[0].created_by), (9, Some(8)));
        assert_eq!(threads[1].process, 0);
        // Of all threads of the machine, those of others are left out.
        let mut of_all = Before::new(7, vec![7], true);
        of_all.add(&[task(7, (50, 50), 49), task(7, (9, 9), 7)].concat());
        assert_eq!(of_all.threads(), [(7, 7), (9, 9)]);
    }
}
