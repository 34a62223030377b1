//! Signposts: what a traced program wrote into the rings of its threads
//! (`latlas_signpost::layout`). It may have written anything. Operations on memory come the same way.

use latlas_signpost::layout::{MEMORY_LOADED, MEMORY_PREFIX, RecordKind, end_bytes, kind_and_name};
use model::trace::{HeapCall, MemoryOperation, Segment, Signpost, State, Thread, Tier, Trace};
use std::collections::{BTreeMap, HashMap};

/// Records that were read from a ring at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub ring: usize,
    /// The process of its thread,
    pub process: u32,
    /// and the thread.
    pub thread: u32,
    /// Stamp, and kind and name, of each.
    pub records: Vec<[u64; 2]>,
}

/// All that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// In the order in which they were read.
    pub chunks: Vec<Chunk>,
    /// The table of names.
    pub names: Vec<String>,
    /// The clock of the stamps beside CLOCK_MONOTONIC_RAW, now and then.
    pub clock: Clock,
    /// Signposts that found no room, and rings that could not be read.
    pub dropped: u64,
}

/// A counter beside CLOCK_MONOTONIC_RAW.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<(u64, u64)>);

impl Clock {
    /// Adds a moment: ticks of the counter, and ns. One that goes back is left
    /// out.
    pub fn add_reading(&mut self, ticks: u64, raw_ns: u64) {
        let last = self.0.last();
        if last.is_none_or(|&(before, ns)| before < ticks && ns < raw_ns) {
            self.0.push((ticks, raw_ns));
        }
    }

    /// The time at a tick: on the line through the moments around it, or the
    /// nearest two.
    pub(crate) fn raw_ns(&self, ticks: u64) -> Option<u64> {
        let after = self.0.partition_point(|&(at, _)| at < ticks);
        let first = after.saturating_sub(1).min(self.0.len().checked_sub(2)?);
        let [(from, from_ns), (to, to_ns)] = [self.0[first], self.0[first + 1]];
        let signed = |n: u64| i128::from(n);
        // Of ticks that no clock had, the product may be more than fits.
        let ns = (signed(ticks) - signed(from)).checked_mul(signed(to_ns - from_ns))?;
        u64::try_from(signed(from_ns) + ns / signed(to - from)).ok()
    }
}

impl Collected {
    /// Whether a program loaded the library that records its calls of the allocator.
    pub(crate) fn has_heap(&self) -> bool {
        self.names.iter().any(|name| name == MEMORY_LOADED)
    }
}

impl Mark {
    /// A signpost by the place of its name, a moment without an end.
    pub(crate) fn of_signpost(name: u32, from_ns: u64, to_ns: Option<u64>) -> Mark {
        Mark { from_ns, to_ns, what: Marked::Signpost(name), bytes: None }
    }

    /// One that did not end.
    pub(crate) fn unfinished(name: u32, from_ns: u64) -> Mark {
        Mark::of_signpost(name, from_ns, Some(UNFINISHED))
    }
}

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marked {
    /// A signpost: its place in [`Trace::signpost_names`].
    Signpost(u32),
    /// An operation on memory.
    Heap(MemoryOperation),
    /// Nothing: the name alone says that the library was loaded.
    Loaded,
}

/// A stretch or moment of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    from_ns: u64,
    to_ns: Option<u64>,
    what: Marked,
    bytes: Option<u64>,
}

/// Stretches that a thread has begun: what they are, and their beginnings.
type Open = Vec<(Marked, u64)>;

/// Puts what was read on the threads of a trace. Records that make no sense are
/// counted as dropped.
pub fn add_to_trace(trace: &mut Trace, collected: &Collected) {
    let names = Names::new(trace, &collected.names);
    let mut threads: BTreeMap<(u32, u32), Vec<Mark>> = BTreeMap::new();
    let mut open: HashMap<(usize, u32, u32), Open> = HashMap::new();
    let mut wrong = 0;
    for chunk in &collected.chunks {
        let owner = (chunk.process, chunk.thread);
        let all = threads.entry(owner).or_default();
        let open: &mut Open = open.entry((chunk.ring, owner.0, owner.1)).or_default();
        for &[stamp, word] in &chunk.records {
            let read = kind_and_name(word).and_then(|(kind, name)| {
                let at_ns = collected.clock.raw_ns(stamp)?;
                let what = names.marked(name)?;
                let bytes = end_bytes(word);
                let makes_sense = match what {
                    Marked::Signpost(_) => bytes.is_none(),
                    Marked::Heap(_) => true,
                    Marked::Loaded => false,
                };
                makes_sense.then_some((kind, what, at_ns, bytes))
            });
            match read {
                Some((RecordKind::Begin, what, at_ns, _)) => open.push((what, at_ns)),
                Some((RecordKind::Moment, what @ Marked::Signpost(_), from_ns, bytes)) => {
                    all.push(Mark { from_ns, to_ns: None, what, bytes })
                }
                Some((RecordKind::End, what, at_ns, bytes)) => {
                    let begun = open.iter().rposition(|&(of, _)| of == what);
                    let begun = begun.map(|at| open.remove(at).1);
                    match begun.filter(|&from_ns| from_ns <= at_ns) {
                        Some(from_ns) => {
                            all.push(Mark { from_ns, to_ns: Some(at_ns), what, bytes })
                        }
                        None => wrong += 1,
                    }
                }
                Some((RecordKind::Moment, ..)) | None => wrong += 1,
            }
        }
    }
    for ((_, process, thread), open) in open {
        let all = threads.entry((process, thread)).or_default();
        let open = open.into_iter().map(|(what, from_ns)| Mark {
            from_ns,
            to_ns: Some(UNFINISHED),
            what,
            bytes: None,
        });
        all.extend(open);
    }
    trace.signpost_names = names.all;
    place_all(trace, threads);
    let dropped = collected.dropped.saturating_add(wrong);
    trace.losses.signposts = trace.losses.signposts.saturating_add(dropped);
}

/// Puts marks on the threads that have these processes and numbers; process 0 is any.
pub(crate) fn place_all(
    trace: &mut Trace,
    marks: impl IntoIterator<Item = ((u32, u32), Vec<Mark>)>,
) {
    let mut by_id: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, thread) in trace.threads.iter().enumerate() {
        by_id.entry(thread.id).or_default().push(at);
    }
    for (owner, marks) in marks {
        let same = by_id.entry(owner.1).or_default();
        place_marks(trace, owner, same, marks);
    }
    for thread in &mut trace.threads {
        // Of those that begin together, the one around the others first.
        let key = |s: &Signpost| (s.from_ns, std::cmp::Reverse(s.to_ns.unwrap_or(s.from_ns)));
        thread.signposts.sort_by_key(key);
        thread.heap.sort_by_key(|call| call.from_ns);
    }
}

/// Names of signposts, each once, and what those of the table are.
struct Names {
    all: Vec<String>,
    marked: Vec<Marked>,
}

impl Names {
    fn new(trace: &mut Trace, table: &[String]) -> Names {
        let mut all = std::mem::take(&mut trace.signpost_names);
        let marked = table.iter().map(|name| {
            let of_memory = name.strip_prefix(MEMORY_PREFIX).and_then(|name| {
                MemoryOperation::OF_HEAP.into_iter().find(|operation| operation.name() == name)
            });
            if let Some(operation) = of_memory {
                return Marked::Heap(operation);
            }
            if name == MEMORY_LOADED {
                return Marked::Loaded;
            }
            let known = all.iter().position(|known| known == name);
            let known = known.unwrap_or_else(|| {
                all.push(name.clone());
                all.len() - 1
            });
            Marked::Signpost(known as u32)
        });
        let marked = marked.collect();
        Names { all, marked }
    }

    fn marked(&self, name: u32) -> Option<Marked> {
        self.marked.get(name as usize).copied()
    }
}

/// Puts the marks of a thread on the trace's, of which those at these places have its number.
/// Times become those since its beginning; what begins after its end is not part of it.
fn place_marks(
    trace: &mut Trace,
    (process, id): (u32, u32),
    same: &mut Vec<usize>,
    marks: Vec<Mark>,
) {
    let (began_ns, end_ns) = (trace.began.raw_ns, trace.duration_ns);
    let relative = |at_ns: u64| at_ns.checked_sub(began_ns).filter(|&at| at <= end_ns);
    let ours: Vec<Mark> = marks
        .into_iter()
        .filter_map(|mark| {
            Some(Mark {
                from_ns: relative(mark.from_ns)?,
                to_ns: mark.to_ns.map(|to_ns| match to_ns {
                    UNFINISHED => UNFINISHED,
                    to_ns => relative(to_ns).unwrap_or(end_ns),
                }),
                ..mark
            })
        })
        .collect();
    let Some(first_ns) = ours.iter().map(|mark| mark.from_ns).min() else {
        return;
    };
    let is_it = |at: &usize| process == 0 || [process, 0].contains(&trace.threads[*at].process);
    let mut places: Vec<usize> = same.iter().copied().filter(is_it).collect();
    if places.is_empty() {
        places.push(trace.threads.len());
        same.push(trace.threads.len());
        trace.threads.push(unknown(trace, process, id, first_ns));
    }
    // Numbers are used again: the thread that was there, or nearly.
    let of_this_time = |threads: &[Thread], at_ns: u64| {
        let distance = |&at: &usize| {
            let before = threads[at].from_ns.saturating_sub(at_ns);
            before.max(at_ns.saturating_sub(threads[at].to_ns))
        };
        places.iter().copied().min_by_key(distance)
    };
    // Threads that are sampled end later than their last sample.
    for mark in &ours {
        let last_ns = mark.to_ns.filter(|&to_ns| to_ns != UNFINISHED);
        let last_ns = last_ns.unwrap_or(mark.from_ns) + 1;
        if let Some(at) = of_this_time(&trace.threads, mark.from_ns)
            && trace.threads[at].segments.is_empty()
        {
            let thread = &mut trace.threads[at];
            thread.from_ns = thread.from_ns.min(mark.from_ns);
            thread.to_ns = thread.to_ns.max(last_ns.min(end_ns));
        }
    }
    for Mark { from_ns, to_ns, what, bytes } in ours {
        if let Some(at) = of_this_time(&trace.threads, from_ns) {
            let thread = &mut trace.threads[at];
            let ended_ns = to_ns.filter(|&to_ns| to_ns != UNFINISHED);
            match what {
                Marked::Signpost(name) => {
                    let to_ns = to_ns.map(|_| ended_ns.unwrap_or(thread.to_ns.max(from_ns)));
                    thread.signposts.push(Signpost { from_ns, to_ns, name });
                }
                Marked::Heap(operation) => {
                    thread.heap.push(HeapCall { from_ns, to_ns: ended_ns, operation, bytes });
                }
                Marked::Loaded => {}
            }
        }
    }
}

/// The end of a stretch that did not end.
const UNFINISHED: u64 = u64::MAX;

/// A thread of which no more is known than its signposts.
fn unknown(trace: &Trace, process: u32, id: u32, from_ns: u64) -> Thread {
    let segment = Segment { from_ns, to_ns: trace.duration_ns, state: State::Unknown };
    Thread {
        id,
        process,
        from_ns,
        to_ns: trace.duration_ns,
        // The tier of samples has no segments.
        segments: match trace.tier {
            Tier::Minimal => Vec::new(),
            _ if segment.duration_ns() == 0 => Vec::new(),
            _ => vec![segment],
        },
        ..Thread::default()
    }
}
