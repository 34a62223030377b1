//! One thread with its stamps.

use super::stamps::Life;
use crate::engine::reason::Reason;
use crate::engine::threads::{NO_CPU, mode, own_id, some_cpu};
use crate::thread::end::{Observer, Witness};
use crate::thread::joins::Joins;
use kernels::checked::sum;
use meter::probe::Event;
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sys::affinity::current_cpu;
use sys::clock::Counter;
use sys::evidence::thread_switches;
use sys::thread::create_and_join;

/// What a thread does, and what it leaves.
pub(super) struct ThreadTask<'a> {
    memory: &'a [u32],
    counter: Counter,
    observer: Option<&'a Observer>,
    /// Its first and last stamp.
    first: AtomicU64,
    last: AtomicU64,
    /// The CPU that it began on.
    cpu: AtomicU32,
    sum: AtomicU32,
    pub(super) joins: Joins,
}

impl<'a> ThreadTask<'a> {
    pub(super) fn new(
        memory: &'a [u32],
        counter: Counter,
        observer: Option<&'a Observer>,
    ) -> ThreadTask<'a> {
        ThreadTask {
            memory,
            counter,
            observer,
            first: AtomicU64::new(0),
            last: AtomicU64::new(0),
            cpu: AtomicU32::new(NO_CPU),
            sum: AtomicU32::new(0),
            joins: Joins::default(),
        }
    }

    /// The procedure alone.
    pub(super) fn procedure(&self) {
        self.cpu.store(current_cpu().unwrap_or(NO_CPU), Ordering::Relaxed);
        self.sum.store(sum(self.memory), Ordering::Relaxed);
    }

    /// The procedure between the thread's two stamps.
    pub(super) fn stamped(&self) {
        let first = self.counter.start();
        if let Some(observer) = self.observer {
            observer.watch_me();
        }
        self.first.store(first, Ordering::Relaxed);
        self.procedure();
        self.last.store(self.counter.stop(), Ordering::Relaxed);
    }

    pub(super) fn mode(&self, creator: Option<u32>) -> u8 {
        let cpu = some_cpu(self.cpu.load(Ordering::Relaxed));
        mode(creator, cpu)
    }

    /// Brings the memory back to the creator's caches, before each sum.
    fn warm(&self) {
        black_box(sum(self.memory));
    }
}

/// From the time of the procedure inline to that of a thread with it.
pub(super) fn overhead(task: &ThreadTask) -> Result<Event, Reason> {
    let counter = task.counter;
    task.warm();
    let begin = counter.start();
    task.procedure();
    let inline = counter.stop().wrapping_sub(begin);
    let before = thread_switches();
    let here = current_cpu();
    let t0 = counter.start();
    let outcome = create_and_join(task, ThreadTask::procedure, || ());
    let t5 = counter.stop();
    task.joins.add_joined_thread(before);
    outcome.map_err(|e| Reason::not_started("threads", &e))?;
    Ok(Event {
        series: 0,
        from_ticks: inline,
        to_ticks: t5.wrapping_sub(t0),
        ops: 1,
        mode: task.mode(here),
        // A difference of two lengths.
        place: None,
    })
}

/// One thread's stamps; `None` if its end was not recorded.
pub(super) fn life(task: &ThreadTask, witness: &mut Witness) -> Result<Option<Life>, Reason> {
    let counter = task.counter;
    task.warm();
    let created = Cell::new(0);
    let before = thread_switches();
    let here = current_cpu();
    let t0 = counter.start();
    let outcome = create_and_join(task, ThreadTask::stamped, || created.set(counter.stop()));
    let t5 = counter.stop();
    task.joins.add_joined_thread(before);
    outcome.map_err(|e| Reason::not_started("threads", &e))?;
    let gone = witness.end_of_last()?;
    if gone.is_none() && !matches!(witness, Witness::Unseen) {
        return Ok(None);
    }
    Ok(Some(Life {
        call: t0,
        created: created.get(),
        first: task.first.load(Ordering::Relaxed),
        last: task.last.load(Ordering::Relaxed),
        gone,
        joined: t5,
        mode: task.mode(here),
        thread: own_id(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{cpus, worker};
    use kernels::checked::words;

    const BYTES: u64 = 1 << 20;

    #[test]
    fn the_thread_sums_what_is_there() {
        let mut worker = worker(cpus());
        let (memory, ..) = worker.huge(BYTES).expect("memory");
        memory.fill(1);
        let counter = Counter::best();
        let task = ThreadTask::new(words(memory), counter, None);
        let inline = overhead(&task).expect("a thread").from_ticks;
        // 2^18 integers of 0x01010101, wrapped to 32 bits.
        let wanted = 0x0101_0101_u32.wrapping_mul(1 << 18);
        assert_eq!(task.sum.swap(0, Ordering::Relaxed), wanted);
        assert!(inline > 0);
        create_and_join(&task, ThreadTask::stamped, || ()).expect("a thread");
        assert_eq!(task.sum.load(Ordering::Relaxed), wanted);
        assert!(task.first.load(Ordering::Relaxed) < task.last.load(Ordering::Relaxed));
    }

    #[test]
    fn overhead_is_the_whole_thread_against_the_sum_alone() {
        let mut worker = worker(cpus());
        let (memory, ..) = worker.huge(BYTES).expect("memory");
        memory.fill(1);
        let task = ThreadTask::new(words(memory), Counter::best(), None);
        let event = overhead(&task).expect("a thread");
        assert_eq!((event.series, event.ops), (0, 1));
        // Both are whole lengths, not stamps: neither is 0.
        assert!(event.from_ticks > 0 && event.to_ticks > 0);
    }
}
