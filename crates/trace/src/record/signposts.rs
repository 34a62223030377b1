//! The memory that a traced command shares with us, and how it is emptied. The
//! command may write anything there at any time.

use super::process::has_thread;
use crate::signposts::{Chunk, Clock, Collected};
use latlas_signpost::layout::{
    CLOCK_COUNTER, CLOCK_RAW, CLOSED, FREE, MAGIC, NAME_BYTES, NAME_READY, NAME_WORDS, NAMES,
    NAMES_AT, RECORD_WORDS, RECORDS, RING_WORDS, RINGS, RINGS_AT, USED, VARIABLE, VERSION, WORDS,
    header, ring,
};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use sys::Counter;
use sys::shared_words::SharedWords;

/// How often the rings are emptied: one holds 32,768 records.
const INTERVAL: Duration = Duration::from_millis(20);
/// How often after a ring was a quarter full.
const SHORT_INTERVAL: Duration = Duration::from_millis(1);
/// How often the clocks are compared, and the rings of killed threads freed.
const LOOK: Duration = Duration::from_secs(1);

/// The shared memory.
#[derive(Debug)]
pub(super) struct Signposts {
    words: SharedWords,
    counter: Counter,
    rings: Vec<Reader>,
}

/// Our own account of a ring: the command can't change it.
#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    /// Records read, modulo 2^64.
    read: u64,
    /// Value of the ring's counter of dropped signposts when last read.
    dropped: u64,
    /// The last owner, if /proc listed its thread.
    seen: Option<u64>,
    /// Its head is impossible: it is no longer read.
    damaged: bool,
}

impl Signposts {
    pub(super) fn new() -> io::Result<Signposts> {
        let words = SharedWords::new("latlas-signposts", WORDS)?;
        let counter = Counter::best();
        let clock = if counter.counts_nanoseconds() { CLOCK_RAW } else { CLOCK_COUNTER };
        words[header::VERSION].store(VERSION, Ordering::Relaxed);
        words[header::CLOCK].store(clock, Ordering::Relaxed);
        words[header::MAGIC].store(MAGIC, Ordering::Release);
        Ok(Signposts { words, counter, rings: vec![Reader::default(); RINGS] })
    }

    /// The environment variable by which the command finds it.
    pub(super) fn variable(&self) -> (&'static str, String) {
        (VARIABLE, self.words.shared_path())
    }

    /// Collects records until `stop` is set. After more than `limit_bytes` it sets
    /// `stop` itself, and returns the time up to which all were read.
    pub(super) fn collect(
        mut self,
        stop: &AtomicBool,
        limit_bytes: u64,
    ) -> io::Result<(Collected, Option<u64>)> {
        let mut collected = Collected::default();
        let mut full_ns = None;
        let mut bytes = 0;
        self.compare_clocks(&mut collected.clock);
        let mut looked = Instant::now();
        loop {
            // What stops it is looked at after a last turn.
            let last = stop.load(Ordering::Acquire);
            let now_ns = sys::monotonic_raw_ns();
            let mut fullest = 0;
            for index in 0..self.rings_used() {
                if let Some(chunk) = self.read_new(index, &mut collected.dropped) {
                    fullest = fullest.max(chunk.records.len());
                    bytes += size_of_val(&chunk.records[..]) as u64;
                    collected.chunks.push(chunk);
                }
            }
            if last {
                break;
            }
            if bytes > limit_bytes {
                full_ns = Some(now_ns);
                stop.store(true, Ordering::Release);
                break;
            }
            if looked.elapsed() >= LOOK {
                self.compare_clocks(&mut collected.clock);
                self.free_orphans();
                looked = Instant::now();
            }
            std::thread::park_timeout(match fullest >= RECORDS / 4 {
                true => SHORT_INTERVAL,
                false => INTERVAL,
            });
        }
        self.compare_clocks(&mut collected.clock);
        collected.names = self.names();
        for at in [header::UNNAMED, header::RINGLESS] {
            let dropped = self.words[at].load(Ordering::Relaxed);
            collected.dropped = collected.dropped.saturating_add(dropped);
        }
        Ok((collected, full_ns))
    }

    /// Reads the counter and the clock together; of several tries the fastest counts.
    fn compare_clocks(&self, clock: &mut Clock) {
        const TRIES: usize = 32;
        let tries = (0..TRIES).map(|_| {
            let before = sys::monotonic_raw_ns();
            let ticks = self.counter.start();
            let after = sys::monotonic_raw_ns();
            (after.saturating_sub(before), ticks, before)
        });
        if let Some((took_ns, ticks, before)) = tries.min() {
            clock.add_reading(ticks, before + took_ns / 2);
        }
    }

    fn ring(&self, index: usize) -> &[AtomicU64] {
        &self.words[RINGS_AT + index * RING_WORDS..][..RING_WORDS]
    }

    fn rings_used(&self) -> usize {
        self.count_records(header::RINGS_USED, RINGS)
    }

    fn count_records(&self, at: usize, most: usize) -> usize {
        let count = self.words[at].load(Ordering::Relaxed);
        usize::try_from(count).map_or(most, |count| count.min(most))
    }

    /// What is new in a ring.
    fn read_new(&mut self, index: usize, dropped: &mut u64) -> Option<Chunk> {
        let mut reader = self.rings[index];
        if reader.damaged {
            return None;
        }
        let ring = self.ring(index);
        let state = ring[ring::STATE].load(Ordering::Acquire);
        let head = ring[ring::HEAD].load(Ordering::Acquire);
        let owner = ring[ring::OWNER].load(Ordering::Relaxed);
        let (process, thread) = ((owner >> 32) as u32, owner as u32);
        let there = head.wrapping_sub(reader.read);
        let lost = ring[ring::DROPPED].load(Ordering::Relaxed);
        *dropped = dropped.saturating_add(lost.wrapping_sub(reader.dropped));
        reader.dropped = lost;
        let chunk = (1..=RECORDS as u64).contains(&there).then(|| Chunk {
            ring: index,
            process,
            thread,
            records: (0..there)
                .map(|k| {
                    let place = reader.read.wrapping_add(k) as usize % RECORDS;
                    let at = ring::WORDS + place * RECORD_WORDS;
                    [0, 1].map(|word| ring[at + word].load(Ordering::Relaxed))
                })
                .collect(),
        });
        if there > RECORDS as u64 {
            reader.damaged = true;
            *dropped = dropped.saturating_add(1);
        } else {
            reader.read = head;
            ring[ring::TAIL].store(head, Ordering::Release);
            if there > 0 && reader.seen != Some(owner) {
                reader.seen = has_thread(process, thread).then_some(owner);
            }
            if state == CLOSED {
                reader.seen = None;
                ring[ring::STATE].store(FREE, Ordering::Release);
            }
        }
        self.rings[index] = reader;
        chunk
    }

    /// Frees the rings of threads that ended without closing them: their process
    /// was killed. Only of those that were seen: in another PID namespace they have
    /// other numbers.
    fn free_orphans(&mut self) {
        for index in 0..self.rings_used() {
            let Some(owner) = self.rings[index].seen else {
                continue;
            };
            let ring = self.ring(index);
            let is_read = ring[ring::HEAD].load(Ordering::Acquire) == self.rings[index].read;
            if is_read && !has_thread((owner >> 32) as u32, owner as u32) {
                let state = &ring[ring::STATE];
                // It fails if the thread has closed the ring itself since.
                let _ = state.compare_exchange(USED, FREE, Ordering::AcqRel, Ordering::Relaxed);
                self.rings[index].seen = None;
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let names = (0..self.count_records(header::NAMES, NAMES)).map(|index| {
            let entry = &self.words[NAMES_AT + index * NAME_WORDS..][..NAME_WORDS];
            let length = entry[0].load(Ordering::Acquire) & !NAME_READY;
            let words = entry[1..].iter();
            let bytes = words.flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
            let length = length.min(NAME_BYTES as u64) as usize;
            let bytes: Vec<u8> = bytes.take(length).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        names.collect()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use latlas_signpost::layout::{RecordKind, word};

    const ME: u64 = 7 << 32 | 8;

    /// What a client would do.
    fn write_words(of: &Signposts, index: usize, words: &[(usize, u64)]) {
        let used = &of.words[header::RINGS_USED];
        used.fetch_max(index as u64 + 1, Ordering::Relaxed);
        for &(at, value) in words {
            of.ring(index)[at].store(value, Ordering::Relaxed);
        }
    }

    fn collected(of: Signposts) -> Collected {
        let collected = of.collect(&AtomicBool::new(true), u64::MAX);
        collected.expect("collected").0
    }

    #[test]
    fn a_full_buffer_stops_the_recording() {
        let signposts = Signposts::new().expect("made");
        let owned = [(ring::STATE, USED), (ring::OWNER, ME), (ring::HEAD, 3)];
        write_words(&signposts, 0, &owned);
        write_words(&signposts, 0, &[(ring::DROPPED, 2)]);
        let name = u64::from_ne_bytes(*b"abc\0\0\0\0\0");
        let others = [(header::UNNAMED, 4), (header::RINGLESS, 8), (header::NAMES, 1)];
        let named = [(NAMES_AT, NAME_READY | 2), (NAMES_AT + 1, name)];
        for (at, value) in others.into_iter().chain(named) {
            signposts.words[at].store(value, Ordering::Relaxed);
        }
        let before_ns = sys::monotonic_raw_ns();
        let stop = AtomicBool::new(false);
        let (collected, full_ns) = signposts.collect(&stop, 1).expect("collected");
        assert!(stop.load(Ordering::Relaxed));
        assert!(full_ns.is_some_and(|full_ns| full_ns >= before_ns));
        let kept: usize = collected.chunks.iter().map(|of| of.records.len()).sum();
        assert_eq!((kept, collected.dropped), (3, 2 + 4 + 8));
        assert_eq!(collected.names, ["ab"]);
    }

    #[test]
    fn a_ring_is_read_once_and_freed_when_its_thread_has_ended() {
        let mut signposts = Signposts::new().expect("made");
        let begin = word(RecordKind::Begin, 3);
        let record = [(ring::WORDS, 100), (ring::WORDS + 1, begin)];
        let owned = [(ring::STATE, USED), (ring::OWNER, ME), (ring::HEAD, 1)];
        write_words(&signposts, 1, &[&record[..], &owned].concat());
        let mut dropped = 0;
        let wanted = Chunk { ring: 1, process: 7, thread: 8, records: vec![[100, begin]] };
        assert_eq!(signposts.read_new(1, &mut dropped), Some(wanted));
        assert_eq!(signposts.read_new(1, &mut dropped), None, "nothing new");
        let word = |signposts: &Signposts, at: usize| signposts.ring(1)[at].load(Ordering::Relaxed);
        assert_eq!(word(&signposts, ring::TAIL), 1);
        assert_eq!(word(&signposts, ring::STATE), USED);
        write_words(&signposts, 1, &[(ring::STATE, CLOSED), (ring::DROPPED, 5)]);
        assert_eq!(signposts.read_new(1, &mut dropped), None);
        assert_eq!((word(&signposts, ring::STATE), dropped), (FREE, 5));
        assert_eq!(signposts.read_new(1, &mut dropped), None);
        assert_eq!(dropped, 5, "counted once");
    }

    #[test]
    fn a_ring_with_more_than_it_has_room_for_is_damaged_for_good() {
        let mut signposts = Signposts::new().expect("made");
        let records = RECORDS as u64;
        for (index, head) in [(0, records), (1, records + 1)] {
            let owned = [(ring::STATE, USED), (ring::OWNER, ME), (ring::HEAD, head)];
            write_words(&signposts, index, &owned);
        }
        let mut dropped = 0;
        let full = signposts.read_new(0, &mut dropped).expect("a full ring");
        assert_eq!((full.records.len(), dropped), (RECORDS, 0));
        assert_eq!(signposts.read_new(1, &mut dropped), None);
        assert_eq!(dropped, 1);
        let tails = [0, 1].map(|of| signposts.ring(of)[ring::TAIL].load(Ordering::Relaxed));
        assert_eq!(tails, [records, 0]);
        // Also when its head could be right again.
        write_words(&signposts, 1, &[(ring::HEAD, 1)]);
        assert_eq!(signposts.read_new(1, &mut dropped), None);
        assert_eq!(dropped, 1);
    }

    #[test]
    fn the_ring_of_a_killed_thread_is_freed_if_it_was_seen() {
        let mut signposts = Signposts::new().expect("made");
        let id = u64::from(std::process::id());
        for (index, owner) in [(0, id << 32 | id), (1, ME)] {
            let owned = [(ring::STATE, USED), (ring::OWNER, owner), (ring::HEAD, 1)];
            write_words(&signposts, index, &owned);
            signposts.read_new(index, &mut 0);
        }
        let seen = [0, 1].map(|ring| signposts.rings[ring].seen);
        assert_eq!(seen, [Some(id << 32 | id), None]);
        let states = |signposts: &Signposts| {
            [0, 1].map(|ring| signposts.ring(ring)[ring::STATE].load(Ordering::Relaxed))
        };
        // 7 is not seen: perhaps of another namespace.
        signposts.free_orphans();
        assert_eq!(states(&signposts), [USED, USED]);
        signposts.rings[1].seen = Some(u64::MAX);
        signposts.free_orphans();
        assert_eq!(states(&signposts), [USED, FREE]);
    }

    #[test]
    fn a_client_may_write_anything() {
        let signposts = Signposts::new().expect("made");
        write_words(&signposts, 0, &[(ring::HEAD, u64::MAX), (ring::OWNER, ME)]);
        let records = RECORDS as u64;
        write_words(&signposts, 1, &[(ring::HEAD, records), (ring::STATE, 99)]);
        write_words(&signposts, 2, &[(ring::DROPPED, u64::MAX - 5)]);
        for at in [header::RINGS_USED, header::NAMES, header::UNNAMED] {
            signposts.words[at].store(u64::MAX, Ordering::Relaxed);
        }
        for at in 0..NAME_WORDS {
            signposts.words[NAMES_AT + at].store(u64::MAX, Ordering::Relaxed);
        }
        let collected = collected(signposts);
        assert_eq!(collected.dropped, u64::MAX);
        assert_eq!(collected.chunks.len(), 1, "the whole ring");
        assert_eq!(collected.names.len(), NAMES);
        assert_eq!(collected.names[0], "\u{fffd}".repeat(NAME_BYTES));
    }

    #[test]
    fn the_counter_is_compared_with_the_clock() {
        let signposts = Signposts::new().expect("made");
        let before_ns = sys::monotonic_raw_ns();
        let ticks = signposts.counter.start();
        let after_ns = sys::monotonic_raw_ns();
        let collected = collected(signposts);
        let at_ns = collected.clock.raw_ns(ticks).expect("two moments");
        // The moments are later: some µs, extended over 1 ms or less.
        let late_ns = 100_000;
        assert!((before_ns.saturating_sub(late_ns)..after_ns + late_ns).contains(&at_ns));
    }
}
