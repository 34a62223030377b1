//! How slowly uploads may arrive, and how much memory unfinished ones share.

use crate::problem::Problem;
use crate::share::{Client, Held, Shares};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct UploadLimits {
    /// How far a sender may fall behind the minimum rate. Also the longest
    /// pause: a burst earns no more than this.
    pub slack: Duration,
    /// Minimum rate, bytes a second. A sender that holds much memory must be
    /// faster: as fast as it takes to send that much within `whole`.
    pub bytes_per_s: u64,
    /// Longest time for the whole body.
    pub whole: Duration,
    /// Memory for unfinished uploads, bytes, shared by all senders.
    pub memory_bytes: u64,
}

impl Default for UploadLimits {
    fn default() -> UploadLimits {
        UploadLimits {
            slack: Duration::from_secs(10),
            bytes_per_s: 4096,
            whole: Duration::from_secs(120),
            memory_bytes: 256 << 20,
        }
    }
}

impl UploadLimits {
    /// The deadline of a body's next piece, since the body began: `deadline`
    /// was the one before, `size` bytes arrived `now`, `received` in all.
    pub(super) fn next_deadline(
        &self,
        deadline: Duration,
        now: Duration,
        size: usize,
        received: usize,
    ) -> Duration {
        let earned = Duration::try_from_secs_f64(size as f64 / self.minimum_rate(received));
        deadline
            .saturating_add(earned.unwrap_or(Duration::MAX))
            .min(now.saturating_add(self.slack))
            .min(self.whole)
    }

    fn minimum_rate(&self, received: usize) -> f64 {
        (self.bytes_per_s.max(1) as f64).max(received as f64 / self.whole.as_secs_f64())
    }

    pub(super) fn too_slow(&self, received: usize) -> Problem {
        Problem::TooSlow {
            received,
            bytes_per_s: self.minimum_rate(received),
            whole_s: self.whole.as_secs_f64(),
        }
    }
}

/// Unit of [`UploadMemory`]: a semaphore hands out at most 32 bits at once.
const UNIT_BYTES: usize = 1 << 10;

/// Memory that unfinished uploads share. Taken as bytes arrive, not for what
/// Content-Length announces, and never waited for: uploads that wait for each
/// other would all time out.
pub(crate) struct UploadMemory(Shares);

impl UploadMemory {
    pub(crate) fn new(bytes: u64) -> UploadMemory {
        let units = usize::try_from(bytes).unwrap_or(usize::MAX) / UNIT_BYTES;
        UploadMemory(Shares::new(units))
    }
}

/// What has arrived of a body. Dropping it returns its memory.
#[derive(Default)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    memory: Option<Held>,
}

impl Received {
    pub(super) fn receive_piece(
        &mut self,
        piece: &[u8],
        memory: &UploadMemory,
        client: Client,
    ) -> Result<(), Problem> {
        let units = |bytes: usize| bytes.div_ceil(UNIT_BYTES);
        let more = units(self.bytes.len() + piece.len()) - units(self.bytes.len());
        let more = memory.0.take(client, more);
        let more = more.ok_or(Problem::TooManyUploads)?;
        match &mut self.memory {
            Some(memory) => memory.merge(more),
            None => self.memory = Some(more),
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// When a body ends whose pieces (second, bytes) arrive so.
    fn body_end(pieces: impl IntoIterator<Item = (u64, usize)>) -> f64 {
        let limits = UploadLimits::default();
        let (mut deadline, mut received) = (limits.slack, 0);
        for (second, bytes) in pieces {
            let now = Duration::from_secs(second);
            if now >= deadline {
                break;
            }
            received += bytes;
            deadline = limits.next_deadline(deadline, now, bytes, received);
        }
        deadline.as_secs_f64()
    }

    #[test]
    fn a_steady_sender_has_the_whole_time_and_a_burst_earns_one_slack() {
        assert_eq!(body_end([]), 10.0);
        assert_eq!(body_end([(5, 2048)]), 10.5);
        for rate in [4096, 500_000] {
            assert_eq!(body_end((0..120).map(|second| (second, rate))), 120.0);
        }
        // A burst earns no pause, even if bytes trickle in after it.
        let burst = (0, (64 << 20) - 200);
        assert_eq!(body_end([burst]), 10.0);
        let trickle = (1..=13).map(|k| (9 * k, 1));
        assert!(body_end([burst].into_iter().chain(trickle)) < 10.1);
        // The minimum rate does not hold 60 MiB.
        let minimum = (1..120).map(|second| (second, 4096));
        assert!(body_end([(0, 60 << 20)].into_iter().chain(minimum)) < 10.1);
        assert!(matches!(
            UploadLimits::default().too_slow(1),
            Problem::TooSlow { received: 1, bytes_per_s: 4096.0, whole_s: 120.0 }
        ));
    }

    #[test]
    fn memory_is_taken_as_bytes_arrive_and_returned() {
        let memory = UploadMemory::new(10 << 10);
        let [first, second] = [1, 2].map(|n| Client(Ipv4Addr::new(127, 0, 0, n).into()));
        let mut one = Received::default();
        let mut two = Received::default();
        one.receive_piece(&[1; 700], &memory, first).expect("room");
        one.receive_piece(&[2; 700], &memory, first).expect("room");
        assert_eq!(memory.0.free(), 8, "1400 bytes are two units");
        two.receive_piece(&[0; 8 << 10], &memory, second).expect("room");
        let refused = one.receive_piece(&[3; 2000], &memory, first);
        assert!(matches!(refused, Err(Problem::TooManyUploads)));
        assert_eq!(one.bytes.len(), 1400, "no part of it was taken");
        drop(two);
        one.receive_piece(&[3; 2000], &memory, first).expect("room again");
        drop(one);
        assert_eq!(memory.0.free(), 10);
    }
}
