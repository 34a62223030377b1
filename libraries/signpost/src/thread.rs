//! The ring of a thread: found at its first signpost, given back at its end.

use crate::layout::{
    CLOCK_COUNTER, CLOSED, FREE, NAME_BYTES, NAME_READY, NAME_WORDS, NAMES, NAMES_AT, RECORD_WORDS,
    RECORDS, RING_WORDS, RINGS, RINGS_AT, RecordKind, USED, header, ring, word,
};
use crate::system::{self, MemoryWords};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Nothing was looked for yet.
const UNKNOWN: u8 = 0;
/// The program is not traced.
const OFF: u8 = 1;
/// It is, with stamps of CLOCK_MONOTONIC_RAW.
const RAW: u8 = 2;
/// It is, with stamps of the CPU's counter.
const COUNTER: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static MEMORY: OnceLock<Option<&'static MemoryWords>> = OnceLock::new();

/// Whether the program is traced.
#[inline]
pub fn is_traced() -> bool {
    match STATE.load(Ordering::Relaxed) {
        OFF => false,
        UNKNOWN => find(),
        _ => true,
    }
}

#[cold]
fn find() -> bool {
    let memory = MEMORY.get_or_init(|| {
        let memory = system::shared_memory();
        if memory.is_some() {
            system::after_fork(forget);
        }
        memory
    });
    let clock = memory.map(|words| words[header::CLOCK].load(Ordering::Relaxed));
    let state = match clock {
        None => OFF,
        Some(CLOCK_COUNTER) => COUNTER,
        Some(_) => RAW,
    };
    STATE.store(state, Ordering::Relaxed);
    memory.is_some()
}

fn memory() -> Option<&'static MemoryWords> {
    MEMORY.get().copied().flatten()
}

#[inline]
fn now() -> u64 {
    match STATE.load(Ordering::Relaxed) {
        COUNTER => system::ticks(),
        _ => system::raw_ns(),
    }
}

type RingMemory = [AtomicU64; RING_WORDS];

#[derive(Clone, Copy)]
enum ThreadRing {
    /// The thread has not asked for a ring.
    Unasked,
    /// There was none, or the thread is ending.
    None,
    Ring(&'static RingMemory),
}

thread_local! {
    static PLACE: Cell<ThreadRing> = const { Cell::new(ThreadRing::Unasked) };
    static CLOSER: Closer = const { Closer };
}

/// Gives the ring back when the thread ends.
struct Closer;

impl Drop for Closer {
    fn drop(&mut self) {
        if let ThreadRing::Ring(ring) = PLACE.replace(ThreadRing::None) {
            ring[ring::STATE].store(CLOSED, Ordering::Release);
        }
    }
}

/// A forked process has its parent's memory, and needs a ring of its own.
extern "C" fn forget() {
    PLACE.set(ThreadRing::Unasked);
}

/// Writes a record that begins a stretch or is a moment: whether there was room.
#[inline]
pub(crate) fn mark(kind: RecordKind, name: u32) -> bool {
    let ring = match PLACE.get() {
        ThreadRing::Ring(ring) => ring,
        ThreadRing::None => return ringless(),
        ThreadRing::Unasked => match attach() {
            Some(ring) => ring,
            None => return ringless(),
        },
    };
    let open = ring[ring::OPEN].load(Ordering::Relaxed);
    let head = ring[ring::HEAD].load(Ordering::Relaxed);
    let used = head.wrapping_sub(ring[ring::TAIL].load(Ordering::Acquire));
    // An end never lacks room: its beginning takes it along.
    let begins = u64::from(matches!(kind, RecordKind::Begin));
    if used.saturating_add(open).saturating_add(begins) >= RECORDS as u64 {
        let dropped = ring[ring::DROPPED].load(Ordering::Relaxed);
        ring[ring::DROPPED].store(dropped.wrapping_add(1), Ordering::Relaxed);
        return false;
    }
    ring[ring::OPEN].store(open + begins, Ordering::Relaxed);
    write_record(ring, head, now(), word(kind, name - 1));
    true
}

/// Ends a stretch that this thread began.
#[inline]
pub(crate) fn end(name: u32) {
    let now = now();
    // None after a fork, or late in the end of the thread.
    let ThreadRing::Ring(ring) = PLACE.get() else {
        return;
    };
    let open = ring[ring::OPEN].load(Ordering::Relaxed);
    if open > 0 {
        ring[ring::OPEN].store(open - 1, Ordering::Relaxed);
        let head = ring[ring::HEAD].load(Ordering::Relaxed);
        write_record(ring, head, now, word(RecordKind::End, name - 1));
    }
}

#[inline]
fn write_record(ring: &RingMemory, head: u64, stamp: u64, word: u64) {
    let at = ring::WORDS + head as usize % RECORDS * RECORD_WORDS;
    ring[at].store(stamp, Ordering::Relaxed);
    ring[at + 1].store(word, Ordering::Relaxed);
    ring[ring::HEAD].store(head.wrapping_add(1), Ordering::Release);
}

#[cold]
fn attach() -> Option<&'static RingMemory> {
    PLACE.set(ThreadRing::None);
    // Fails late in the end of the thread.
    CLOSER.try_with(|_| {}).ok()?;
    let memory = memory()?;
    // The first free one: so that few are ever touched.
    let (index, ring) = (0..RINGS).find_map(|index| {
        let ring = &memory[RINGS_AT + index * RING_WORDS..][..RING_WORDS];
        let ring: &RingMemory = ring.try_into().ok()?;
        let state = &ring[ring::STATE];
        let is_free = state.load(Ordering::Relaxed) == FREE;
        let take = || state.compare_exchange(FREE, USED, Ordering::Acquire, Ordering::Relaxed);
        (is_free && take().is_ok()).then_some((index, ring))
    })?;
    memory[header::RINGS_USED].fetch_max(index as u64 + 1, Ordering::Relaxed);
    let owner = u64::from(std::process::id()) << 32 | u64::from(system::thread_id());
    ring[ring::OWNER].store(owner, Ordering::Relaxed);
    ring[ring::OPEN].store(0, Ordering::Relaxed);
    PLACE.set(ThreadRing::Ring(ring));
    Some(ring)
}

#[cold]
fn ringless() -> bool {
    count(header::RINGLESS);
    false
}

/// Counts a signpost whose name found no room.
#[cold]
pub(crate) fn unnamed() {
    count(header::UNNAMED);
}

fn count(at: usize) {
    if let Some(memory) = memory() {
        memory[at].fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of a name in the shared table, which it enters if it is new.
#[cold]
pub(crate) fn intern(name: &str) -> Option<u32> {
    let memory = memory()?;
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let mut words = [0; NAME_WORDS];
    words[0] = end as u64 | NAME_READY;
    for (word, bytes) in words[1..].iter_mut().zip(name.as_bytes()[..end].chunks(8)) {
        let mut text = [0; 8];
        text[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(text);
    }
    let entry = |index: usize| &memory[NAMES_AT + index * NAME_WORDS..][..NAME_WORDS];
    let taken = memory[header::NAMES].load(Ordering::Relaxed) as usize;
    let known = (0..taken.min(NAMES)).find(|&index| {
        let entry = entry(index);
        entry[0].load(Ordering::Acquire) == words[0]
            && entry[1..]
                .iter()
                .zip(&words[1..])
                .all(|(there, word)| there.load(Ordering::Relaxed) == *word)
    });
    if let Some(index) = known {
        return Some(index as u32);
    }
    if taken >= NAMES {
        return None;
    }
    let index = memory[header::NAMES].fetch_add(1, Ordering::Relaxed) as usize;
    if index >= NAMES {
        return None;
    }
    let entry = entry(index);
    for (to, word) in entry[1..].iter().zip(&words[1..]) {
        to.store(*word, Ordering::Relaxed);
    }
    entry[0].store(words[0], Ordering::Release);
    Some(index as u32)
}
