//! The body of an upload: how slowly it may arrive, and how much memory all
//! bodies that are still arriving may hold.

use crate::problem::Problem;
use axum::http::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds of uploads.
#[derive(Clone, Copy, Debug)]
pub struct UploadLimits {
    /// How far a sender may fall behind the least rate: also the longest pause,
    /// since what came fast earns no more than this.
    pub slack: Duration,
    /// Least rate, bytes a second. A sender whose bytes hold more memory must be
    /// faster: as fast as it takes to send what it holds within `whole`.
    pub bytes_per_s: u64,
    /// Longest time for the whole body.
    pub whole: Duration,
    /// Bytes of unfinished uploads in memory, all senders together.
    pub held_bytes: u64,
}

impl Default for UploadLimits {
    fn default() -> UploadLimits {
        UploadLimits {
            slack: Duration::from_secs(10),
            bytes_per_s: 4096,
            whole: Duration::from_secs(120),
            held_bytes: 256 << 20,
        }
    }
}

impl UploadLimits {
    /// When a body is ended unless more of it comes, since its beginning: `due`
    /// was that before a piece arrived `now`, with which `held` bytes are there.
    pub(crate) fn due(&self, due: Duration, now: Duration, piece: usize, held: usize) -> Duration {
        let earned = Duration::try_from_secs_f64(piece as f64 / self.least_rate(held));
        due.saturating_add(earned.unwrap_or(Duration::MAX))
            .min(now.saturating_add(self.slack))
            .min(self.whole)
    }

    /// Least rate of a sender that holds so much memory, bytes a second.
    fn least_rate(&self, held: usize) -> f64 {
        (self.bytes_per_s.max(1) as f64).max(held as f64 / self.whole.as_secs_f64())
    }

    /// 408, with the rule.
    pub(crate) fn too_slow(&self, held: usize) -> Problem {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the document came too slowly: after {held} bytes send at least {:.0} bytes a \
                 second, and all of it within {} s",
                self.least_rate(held),
                self.whole.as_secs_f64()
            ),
        )
    }
}

/// Unit of [`Memory`]: a semaphore counts no further than 32 bits at once.
const UNIT_BYTES: usize = 1 << 10;

/// Memory that unfinished uploads share. It is given as bytes arrive, never for
/// what a header promises, and never waited for: uploads that wait for each
/// other's memory would all wait until they time out.
pub(crate) struct Memory(Arc<Semaphore>);

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        let units = usize::try_from(bytes).unwrap_or(usize::MAX) / UNIT_BYTES;
        Memory(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }
}

/// What has arrived of a body. Its memory is given back when it is dropped.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    held: Option<OwnedSemaphorePermit>,
}

impl Received {
    /// Adds a piece, if there is memory for it.
    pub(crate) fn add(&mut self, piece: &[u8], memory: &Memory) -> Result<(), Problem> {
        let units = |bytes: usize| bytes.div_ceil(UNIT_BYTES);
        let more = units(self.bytes.len() + piece.len()) - units(self.bytes.len());
        let more = u32::try_from(more).map_err(|_| Problem::too_many_uploads())?;
        let permit = Arc::clone(&memory.0).try_acquire_many_owned(more);
        let permit = permit.map_err(|_| Problem::too_many_uploads())?;
        match &mut self.held {
            Some(held) => held.merge(permit),
            None => self.held = Some(permit),
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a body is ended whose pieces (second, bytes) arrive so.
    fn ended(pieces: impl IntoIterator<Item = (u64, usize)>) -> f64 {
        let limits = UploadLimits::default();
        let (mut due, mut held) = (limits.slack, 0);
        for (second, bytes) in pieces {
            let now = Duration::from_secs(second);
            if now >= due {
                break;
            }
            held += bytes;
            due = limits.due(due, now, bytes, held);
        }
        due.as_secs_f64()
    }

    #[test]
    fn a_steady_sender_has_the_whole_time_and_a_burst_buys_one_slack() {
        assert_eq!(ended([]), 10.0);
        assert_eq!(ended([(5, 2048)]), 10.5);
        for rate in [4096, 500_000] {
            assert_eq!(ended((0..120).map(|second| (second, rate))), 120.0);
        }
        // What came fast is no leave to idle, whatever trickles in after it.
        let burst = (0, (64 << 20) - 200);
        assert_eq!(ended([burst]), 10.0);
        let trickle = (1..=13).map(|k| (9 * k, 1));
        assert!(ended([burst].into_iter().chain(trickle)) < 10.1);
        // The least rate does not hold 60 MiB.
        let least = (1..120).map(|second| (second, 4096));
        assert!(ended([(0, 60 << 20)].into_iter().chain(least)) < 10.1);
        let detail = UploadLimits::default().too_slow(1).detail;
        assert!(detail.contains("4096 bytes a second"), "{detail}");
        assert!(detail.contains("within 120 s"), "{detail}");
    }

    #[test]
    fn memory_is_given_as_bytes_arrive_and_comes_back() {
        let memory = Memory::new(10 << 10);
        let mut one = Received::default();
        let mut two = Received::default();
        one.add(&[1; 700], &memory).expect("room");
        one.add(&[2; 700], &memory).expect("room");
        assert_eq!(memory.0.available_permits(), 8, "1400 bytes are two units");
        two.add(&[0; 8 << 10], &memory).expect("room");
        let refused = one.add(&[3; 2000], &memory).expect_err("full");
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(one.bytes.len(), 1400, "nothing of it was taken");
        drop(two);
        one.add(&[3; 2000], &memory).expect("room again");
        drop(one);
        assert_eq!(memory.0.available_permits(), 10);
    }
}
