//! Signposts: what a traced program wrote into the rings of its threads
//! (`latlas_signpost::layout`). It may have written anything.

use latlas_signpost::layout::{Kind, parts};
use model::trace::{Segment, Signpost, State, Thread, Tier, Trace};
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
    pub fn add(&mut self, ticks: u64, raw_ns: u64) {
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
        let ns = (signed(ticks) - signed(from)) * signed(to_ns - from_ns) / signed(to - from);
        u64::try_from(signed(from_ns) + ns).ok()
    }
}

/// Stretches that a thread has begun: their names and beginnings.
type Open = Vec<(u32, u64)>;

/// Puts what was read on the threads of a trace. Records that make no sense are
/// counted as dropped.
pub fn add(trace: &mut Trace, collected: &Collected) {
    let names = Names::new(trace, &collected.names);
    let mut threads: BTreeMap<(u32, u32), Vec<Signpost>> = BTreeMap::new();
    let mut open: HashMap<(usize, u32, u32), Open> = HashMap::new();
    let mut wrong = 0;
    for chunk in &collected.chunks {
        let owner = (chunk.process, chunk.thread);
        let all = threads.entry(owner).or_default();
        let open: &mut Open = open.entry((chunk.ring, owner.0, owner.1)).or_default();
        for &[stamp, word] in &chunk.records {
            let read = parts(word).and_then(|(kind, name)| {
                let at_ns = collected.clock.raw_ns(stamp)?;
                Some((kind, names.index(name)?, at_ns))
            });
            match read {
                Some((Kind::Begin, name, at_ns)) => open.push((name, at_ns)),
                Some((Kind::Moment, name, from_ns)) => {
                    all.push(Signpost { from_ns, to_ns: None, name })
                }
                Some((Kind::End, name, at_ns)) => {
                    let begun = open.iter().rposition(|&(of, _)| of == name);
                    let begun = begun.map(|at| open.remove(at).1);
                    match begun.filter(|&from_ns| from_ns <= at_ns) {
                        Some(from_ns) => all.push(Signpost { from_ns, to_ns: Some(at_ns), name }),
                        None => wrong += 1,
                    }
                }
                None => wrong += 1,
            }
        }
    }
    for ((_, process, thread), open) in open {
        let all = threads.entry((process, thread)).or_default();
        let open = open.into_iter().map(|(name, from_ns)| Signpost {
            from_ns,
            to_ns: Some(UNFINISHED),
            name,
        });
        all.extend(open);
    }
    trace.signpost_names = names.all;
    let mut by_id: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, thread) in trace.threads.iter().enumerate() {
        by_id.entry(thread.id).or_default().push(at);
    }
    for (owner, signposts) in threads {
        let same = by_id.entry(owner.1).or_default();
        place(trace, owner, same, signposts);
    }
    for thread in &mut trace.threads {
        // Of those that begin together, the one around the others first.
        let key = |s: &Signpost| (s.from_ns, std::cmp::Reverse(s.to_ns.unwrap_or(s.from_ns)));
        thread.signposts.sort_by_key(key);
    }
    let dropped = collected.dropped.saturating_add(wrong);
    trace.losses.signposts = trace.losses.signposts.saturating_add(dropped);
}

/// Names, each once, and where the table's are among them.
struct Names {
    all: Vec<String>,
    indices: Vec<u32>,
}

impl Names {
    fn new(trace: &mut Trace, table: &[String]) -> Names {
        let mut all = std::mem::take(&mut trace.signpost_names);
        let indices = table.iter().map(|name| {
            let known = all.iter().position(|known| known == name);
            known.unwrap_or_else(|| {
                all.push(name.clone());
                all.len() - 1
            }) as u32
        });
        let indices = indices.collect();
        Names { all, indices }
    }

    fn index(&self, name: u32) -> Option<u32> {
        self.indices.get(name as usize).copied()
    }
}

/// Puts the signposts of a thread on the trace's, of which those at these places have its number.
/// Times become those since its beginning; what begins after its end is not part of it.
fn place(
    trace: &mut Trace,
    (process, id): (u32, u32),
    same: &mut Vec<usize>,
    signposts: Vec<Signpost>,
) {
    let (began_ns, end_ns) = (trace.began.raw_ns, trace.duration_ns);
    let relative = |at_ns: u64| at_ns.checked_sub(began_ns).filter(|&at| at <= end_ns);
    let mut ours: Vec<Signpost> = signposts
        .into_iter()
        .filter_map(|signpost| {
            Some(Signpost {
                from_ns: relative(signpost.from_ns)?,
                to_ns: signpost.to_ns.map(|to_ns| match to_ns {
                    UNFINISHED => UNFINISHED,
                    to_ns => relative(to_ns).unwrap_or(end_ns),
                }),
                ..signpost
            })
        })
        .collect();
    let Some(first_ns) = ours.iter().map(|signpost| signpost.from_ns).min() else {
        return;
    };
    let is_it = |at: &usize| [process, 0].contains(&trace.threads[*at].process);
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
    for signpost in &ours {
        let last_ns = signpost.to_ns.filter(|&to_ns| to_ns != UNFINISHED);
        let last_ns = last_ns.unwrap_or(signpost.from_ns) + 1;
        if let Some(at) = of_this_time(&trace.threads, signpost.from_ns)
            && trace.threads[at].segments.is_empty()
        {
            let thread = &mut trace.threads[at];
            thread.from_ns = thread.from_ns.min(signpost.from_ns);
            thread.to_ns = thread.to_ns.max(last_ns.min(end_ns));
        }
    }
    for signpost in &mut ours {
        if let Some(at) = of_this_time(&trace.threads, signpost.from_ns) {
            let thread = &mut trace.threads[at];
            if signpost.to_ns == Some(UNFINISHED) {
                signpost.to_ns = Some(thread.to_ns.max(signpost.from_ns));
            }
            thread.signposts.push(*signpost);
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
