//! The threads of the pool and what they share.

use crate::engine::reason::{Doing, Reason};
use crate::engine::switches::since;
use crate::engine::threads::{on_free_thread, own_id};
use crate::engine::waits::Waits;
use kernels::checked::{sum, words, words_mut};
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use sys::clock::Counter;
use sys::evidence::{Switches, thread_switches};
use sys::pages::{Buffer, PageKind};
use sys::semaphore::Semaphore;
use sys::thread::spawn_scoped;

/// Enough for a loop; the usual 2 MiB a thread would count against a limit on
/// the address space.
pub(super) const STACK_BYTES: usize = 128 << 10;

/// The pool as it is to be.
pub(super) struct PoolThreads {
    pub(super) threads: usize,
    /// Of one thread's buffer.
    pub(super) bytes: usize,
    /// Any of which the threads may run on.
    pub(super) cpus: Vec<u32>,
    /// Stack of the thread of this number.
    pub(super) stack_bytes: fn(usize) -> usize,
}

impl PoolThreads {
    /// Starts the threads, conducts the rounds, and ends the threads. In a
    /// separate thread, since threads inherit affinity and the calling one
    /// may be pinned.
    pub(super) fn conduct_all(&self, rounds: u32) -> Result<Story, Reason> {
        on_free_thread(&self.cpus, || self.conduct(rounds))
    }

    /// Everything the main thread of the pool does.
    fn conduct(&self, rounds: u32) -> Result<Story, Reason> {
        let mut memory = Buffer::untouched(self.threads * self.bytes, PageKind::Huge)
            .doing(format!("can't allocate {} buffers", self.threads))?;
        for (number, buffer) in memory.as_mut_slice().chunks_mut(self.bytes).enumerate() {
            words_mut(buffer).fill(number as u32 + 1);
        }
        let buffers: Vec<&[u32]> = memory.as_slice().chunks(self.bytes).map(words).collect();
        let board = PoolBoard::new().doing("no semaphores")?;
        std::thread::scope(|scope| {
            let mut handles = Vec::with_capacity(buffers.len());
            let done = self
                .start_threads(scope, &board, &buffers, rounds, &mut handles)
                .and_then(|()| board.conduct(&buffers, rounds).doing("a semaphore failed"));
            board.quit.store(true, Ordering::Release);
            for _ in &handles {
                // It can only fail at its largest value, which wakes all too.
                let _ = board.start.post();
            }
            // All are joined, whatever became of one of them.
            let ended: Vec<_> = handles.into_iter().map(ScopedJoinHandle::join).collect();
            let rounds = done?;
            let logs = ended
                .into_iter()
                .collect::<Result<Vec<Log>, _>>()
                .map_err(|_| Reason::Panicked("a thread of the pool"))?;
            Ok(Story { rounds, logs, main: own_id() })
        })
    }

    /// Starts all threads; those that could be started are in `handles` also
    /// where not all could.
    fn start_threads<'scope, 'env>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        board: &'env PoolBoard,
        buffers: &'env [&'env [u32]],
        rounds: u32,
        handles: &mut Vec<ScopedJoinHandle<'scope, Log>>,
    ) -> Result<(), Reason> {
        // One early thread might do all operations.
        let most = self.threads * rounds as usize;
        for (number, buffer) in buffers.iter().enumerate() {
            let thread = Builder::new().name("pool".into()).stack_size((self.stack_bytes)(number));
            let thread = spawn_scoped(scope, thread, move || board.operate(buffer, most));
            let what = format!("more than {number} of {} threads", self.threads);
            handles.push(thread.map_err(|e| Reason::not_started(what, &e))?);
        }
        for _ in 0..self.threads {
            board.done.wait().doing("a semaphore failed")?;
        }
        Ok(())
    }
}

/// What the threads share.
struct PoolBoard {
    start: Semaphore,
    done: Semaphore,
    quit: AtomicBool,
    counter: Counter,
}

/// One round of all threads, in ticks.
pub(super) struct Round {
    pub(super) from: u64,
    pub(super) to: u64,
    /// What the main thread needed for the same right before.
    pub(super) inline_ticks: u64,
    /// Of the main thread, in the round.
    pub(super) switches: Option<Switches>,
    /// How long the main thread waited for a CPU before it, where it needs one all the time, and
    /// of how long, ns.
    pub(super) inline_wait_ns: Option<(u64, u64)>,
}

/// One operation of a thread, in ticks.
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) sum: u32,
}

#[derive(Default)]
pub(super) struct Log {
    pub(super) spans: Vec<Span>,
    pub(super) thread: Option<u32>,
    /// From before its first wait to after its last operation.
    pub(super) switches: Option<Switches>,
}

/// All that was stamped and counted.
pub(super) struct Story {
    pub(super) rounds: Vec<Round>,
    /// Of each thread of the pool.
    pub(super) logs: Vec<Log>,
    /// The main thread.
    pub(super) main: Option<u32>,
}

impl PoolBoard {
    fn new() -> io::Result<PoolBoard> {
        Ok(PoolBoard {
            start: Semaphore::new(0)?,
            done: Semaphore::new(0)?,
            quit: AtomicBool::new(false),
            counter: Counter::best(),
        })
    }

    /// The life of a thread of the pool.
    fn operate(&self, buffer: &[u32], most: usize) -> Log {
        let mut log = Log { spans: Vec::with_capacity(most), thread: own_id(), ..Log::default() };
        let before = thread_switches();
        // Of a thread that comes too late for every operation, too.
        log.switches = since(before);
        let mut ready = self.done.post();
        while ready.and_then(|()| self.start.wait()).is_ok() {
            let from = self.counter.start();
            if self.quit.load(Ordering::Acquire) {
                break;
            }
            let sum = sum(buffer);
            let to = self.counter.stop();
            log.spans.push(Span { from, to, sum });
            ready = self.done.post();
            log.switches = since(before);
        }
        log
    }

    /// The rounds, as the main thread conducts them.
    fn conduct(&self, buffers: &[&[u32]], rounds: u32) -> io::Result<Vec<Round>> {
        let mut all = Vec::with_capacity(rounds as usize);
        for _ in 0..rounds {
            let waits = Waits::of_thread(own_id());
            let inline_from = self.counter.start();
            for buffer in buffers {
                black_box(sum(buffer));
            }
            let inline_to = self.counter.stop();
            let inline_wait_ns = waits.and_then(|waits| waits.until_now());
            let before = thread_switches();
            let from = self.counter.start();
            for _ in buffers {
                self.start.post()?;
            }
            for _ in buffers {
                self.done.wait()?;
            }
            let to = self.counter.stop();
            all.push(Round {
                from,
                to,
                inline_ticks: inline_to.wrapping_sub(inline_from),
                switches: since(before),
                inline_wait_ns,
            });
        }
        Ok(all)
    }
}
