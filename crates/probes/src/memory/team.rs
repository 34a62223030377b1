//! Teams whose threads stream through their own memory.

use crate::engine::reason::{Doing, Reason};
use crate::engine::team::Team;
use kernels::checked::{Access, copy, stream, words_mut};
use std::time::{Duration, Instant};
use sys::pages::{Buffer, PageKind};

/// A pass goes through its memory in pieces of at most this.
const CHUNK_BYTES: usize = 64 << 10;

/// Window of a partial load.
const WINDOW: Duration = Duration::from_micros(200);

/// What a thread does with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TeamJob {
    /// `sum += p[i]` over 4-byte elements.
    Read,
    /// `p[i] = 1`.
    Write,
    /// memcpy from the first half to the second.
    Copy,
}

impl TeamJob {
    /// Bytes of one pass over a memory of this size, as its row counts them.
    pub(super) fn bytes(self, memory: usize) -> usize {
        match self {
            TeamJob::Read | TeamJob::Write => memory,
            TeamJob::Copy => memory / 2,
        }
    }

    pub(super) fn pass(self, memory: &mut [u8]) {
        match self {
            TeamJob::Copy => {
                let half = memory.len() / 2;
                let (from, to) = memory.split_at_mut(half);
                for (to, from) in to.chunks_mut(CHUNK_BYTES).zip(from.chunks(CHUNK_BYTES)) {
                    copy(to, from);
                }
            }
            TeamJob::Read | TeamJob::Write => {
                let access = if self == TeamJob::Read { Access::Read } else { Access::Write };
                for chunk in memory.chunks_mut(CHUNK_BYTES) {
                    stream(access, words_mut(chunk), false);
                }
            }
        }
    }
}

/// Threads that carry out passes of a job on order.
pub(super) fn workers(cpus: &[u32], job: TeamJob, bytes: usize) -> Result<Team, Reason> {
    Team::on_order(
        cpus,
        |cpu| memory_for(cpu, bytes),
        move |memory| job.pass(memory.as_mut_slice()),
    )
}

/// Threads that read for `percent` of their time until the team is dropped;
/// what is done is bytes.
pub(super) fn load(cpus: &[u32], bytes: usize, percent: u64) -> Result<Team, Reason> {
    let busy = WINDOW.mul_f64(percent as f64 / 100.0);
    Team::until_dropped(
        cpus,
        |cpu| Ok((memory_for(cpu, bytes)?, 0)),
        move |(memory, at)| {
            let memory = memory.as_mut_slice();
            let window = Instant::now();
            let mut streamed = 0;
            while window.elapsed() < busy {
                let end = (*at + CHUNK_BYTES).min(memory.len());
                stream(Access::Read, words_mut(&mut memory[*at..end]), false);
                streamed += (end - *at) as u64;
                *at = if end == memory.len() { 0 } else { end };
            }
            while window.elapsed() < WINDOW {
                std::hint::spin_loop();
            }
            streamed
        },
    )
}

fn memory_for(cpu: u32, bytes: usize) -> Result<Buffer, Reason> {
    Buffer::new(bytes, PageKind::Huge)
        .doing(format!("can't allocate memory for the thread on CPU {cpu}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::here;

    #[test]
    fn a_pass_touches_all_of_its_memory() {
        let mut memory = vec![0_u8; 256 << 10];
        TeamJob::Write.pass(&mut memory);
        assert!(memory.chunks(4).all(|word| word == 1_u32.to_ne_bytes()));
        memory[..128 << 10].fill(9);
        TeamJob::Copy.pass(&mut memory);
        assert!(memory.iter().all(|&byte| byte == 9));
        assert_eq!(TeamJob::Copy.bytes(1000), 500);
    }

    #[test]
    fn teams_stream() {
        let team = workers(&[here(), here()], TeamJob::Write, 1 << 16).expect("threads");
        team.begin_passes(3);
        team.finish();
        let team = load(&[here()], 1 << 16, 50).expect("a thread");
        while team.done() == 0 {
            std::thread::yield_now();
        }
        assert!(team.done().is_multiple_of(1 << 16));
    }
}
