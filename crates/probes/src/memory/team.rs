//! Threads on the other CPUs that stream through memory of their own when
//! told to, for the rows on several CPUs.

use kernels::checked::{Access, copy, stream, words_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::pages::{Buffer, PageKind};

/// A pass goes through its memory in pieces of at most this.
const CHUNK_BYTES: usize = 64 << 10;

/// Window of a partial load.
const WINDOW: Duration = Duration::from_micros(200);

/// What a thread does with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// `sum += p[i]` over 4-byte elements.
    Read,
    /// `p[i] = 1`.
    Write,
    /// memcpy from the first half to the second.
    Copy,
}

impl Job {
    /// Bytes of one pass over a memory of this size, as its row counts them.
    pub(super) fn bytes(self, memory: usize) -> usize {
        match self {
            Job::Read | Job::Write => memory,
            Job::Copy => memory / 2,
        }
    }

    /// One pass.
    pub(super) fn pass(self, memory: &mut [u8]) {
        match self {
            Job::Copy => {
                let half = memory.len() / 2;
                let (from, to) = memory.split_at_mut(half);
                for (to, from) in to.chunks_mut(CHUNK_BYTES).zip(from.chunks(CHUNK_BYTES)) {
                    copy(to, from);
                }
            }
            Job::Read | Job::Write => {
                let access = if self == Job::Read {
                    Access::Read
                } else {
                    Access::Write
                };
                for chunk in memory.chunks_mut(CHUNK_BYTES) {
                    stream(access, words_mut(chunk), false);
                }
            }
        }
    }
}

#[derive(Default)]
struct Board {
    /// Number of the order; each new one is a signal.
    order: AtomicU64,
    /// Passes of the order.
    passes: AtomicU64,
    /// Threads that have finished it.
    finished: AtomicU64,
    /// Threads that are ready.
    ready: AtomicU64,
    quit: AtomicBool,
    /// A thread could not be pinned.
    refused: AtomicBool,
    /// Bytes streamed by a load.
    streamed: AtomicU64,
}

/// Threads, one on each of the CPUs given, that live as long as this.
pub(super) struct Team {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// Threads that carry out passes of a job on order.
    pub(super) fn workers(cpus: &[u32], job: Job, bytes: usize) -> Result<Team, String> {
        Team::start(cpus, bytes, move |board, memory| {
            let mut done = 0;
            loop {
                let order = board.order.load(Ordering::Acquire);
                if board.quit.load(Ordering::Relaxed) {
                    return;
                }
                if order == done {
                    std::hint::spin_loop();
                    continue;
                }
                done = order;
                for _ in 0..board.passes.load(Ordering::Relaxed) {
                    job.pass(memory);
                }
                board.finished.fetch_add(1, Ordering::Release);
            }
        })
    }

    /// Threads that read for `percent` of their time until the team is
    /// dropped.
    pub(super) fn load(cpus: &[u32], bytes: usize, percent: u64) -> Result<Team, String> {
        Team::start(cpus, bytes, move |board, memory| {
            let busy = WINDOW.mul_f64(percent as f64 / 100.0);
            let mut at = 0;
            while !board.quit.load(Ordering::Relaxed) {
                let window = Instant::now();
                while window.elapsed() < busy {
                    let end = (at + CHUNK_BYTES).min(memory.len());
                    stream(Access::Read, words_mut(&mut memory[at..end]), false);
                    board
                        .streamed
                        .fetch_add((end - at) as u64, Ordering::Relaxed);
                    at = if end == memory.len() { 0 } else { end };
                }
                while window.elapsed() < WINDOW {
                    std::hint::spin_loop();
                }
            }
        })
    }

    fn start(
        cpus: &[u32],
        bytes: usize,
        work: impl Fn(&Board, &mut [u8]) + Clone + Send + 'static,
    ) -> Result<Team, String> {
        let mut team = Team {
            board: Arc::default(),
            threads: Vec::new(),
        };
        for &cpu in cpus {
            let mut buffer = Buffer::new(bytes, PageKind::Huge)
                .map_err(|e| format!("no memory for the thread on CPU {cpu}: {e}"))?;
            let (board, work) = (team.board.clone(), work.clone());
            let thread = std::thread::Builder::new().spawn(move || {
                // Unpinned it would stay on the measuring thread's CPU.
                if sys::affinity::pin_to(&[cpu]).is_err() {
                    board.refused.store(true, Ordering::Relaxed);
                }
                board.ready.fetch_add(1, Ordering::Release);
                work(&board, buffer.as_mut_slice());
            });
            team.threads
                .push(thread.map_err(|e| format!("no thread for CPU {cpu}: {e}"))?);
        }
        while team.board.ready.load(Ordering::Acquire) < team.threads.len() as u64 {
            std::thread::yield_now();
        }
        if team.board.refused.load(Ordering::Relaxed) {
            return Err("threads can't be pinned to the other CPUs".into());
        }
        Ok(team)
    }

    /// Orders passes; the threads begin at once.
    pub(super) fn begin(&self, passes: u64) {
        self.board.passes.store(passes, Ordering::Relaxed);
        self.board.finished.store(0, Ordering::Relaxed);
        self.board.order.fetch_add(1, Ordering::Release);
    }

    /// Waits until all threads have carried the order out.
    pub(super) fn finish(&self) {
        while self.board.finished.load(Ordering::Acquire) < self.threads.len() as u64 {
            std::hint::spin_loop();
        }
    }

    /// Bytes that a load has streamed so far.
    pub(super) fn streamed_bytes(&self) -> u64 {
        self.board.streamed.load(Ordering::Relaxed)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.board.quit.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The CPUs beside the one measured on.
pub(super) fn others(terrain: &meter::probe::Terrain) -> Vec<u32> {
    let here = sys::affinity::current_cpu().or(terrain.pinned);
    terrain
        .cpus
        .iter()
        .copied()
        .filter(|&cpu| Some(cpu) != here)
        .collect()
}

/// Why rows on several CPUs can't run, if they can't.
pub(super) fn alone(terrain: &meter::probe::Terrain) -> Option<String> {
    (terrain.cpus.len() < 2).then(|| "only one CPU may be used".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_does_what_it_is_told_and_ends() {
        let team = Team::workers(&[0, 0], Job::Write, 1 << 16).expect("threads");
        for passes in [1, 3] {
            team.begin(passes);
            team.finish();
        }
        assert_eq!(team.board.finished.load(Ordering::Relaxed), 2);
        let board = team.board.clone();
        drop(team);
        assert_eq!(Arc::strong_count(&board), 1, "the threads are gone");
    }

    #[test]
    fn a_pass_touches_all_of_its_memory() {
        let mut memory = vec![0_u8; 256 << 10];
        Job::Write.pass(&mut memory);
        assert!(memory.chunks(4).all(|word| word == 1_u32.to_ne_bytes()));
        memory[..128 << 10].fill(9);
        Job::Copy.pass(&mut memory);
        assert!(memory.iter().all(|&byte| byte == 9));
        assert_eq!(Job::Copy.bytes(1000), 500);
    }
}
