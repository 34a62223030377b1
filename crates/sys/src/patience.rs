//! How long an answer of a child process is waited for: a child that has no CPU because others do is not late.

use crate::evidence::run_delay_ns_of;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// No more than this of what a child waited for a CPU is forgiven it.
const MOST_FORGIVEN: Duration = Duration::from_secs(110);

/// The time that a child process has for an answer, not counting what its first thread waits for a CPU (where
/// the system counts that: Linux with schedstat).
pub struct Patience {
    child: u32,
    limit: Duration,
    began: Instant,
    /// What it had waited at the first look. A child that answers soon costs no look at all.
    before: Cell<Option<Duration>>,
}

impl Patience {
    /// Begins now, for the child with this process id.
    pub fn for_child(child: u32, limit: Duration) -> Patience {
        let (began, before) = (Instant::now(), Cell::new(None));
        Patience { child, limit, began, before }
    }

    /// Whether the child is late. To be asked some times within the limit: what it waited before the first
    /// question is not known, and counts.
    pub fn is_over(&self) -> bool {
        let elapsed = self.began.elapsed();
        if self.before.get().is_some() && elapsed <= self.limit {
            return false;
        }
        let waited = Duration::from_nanos(run_delay_ns_of(self.child).unwrap_or(0));
        let before = self.before.get().unwrap_or(waited);
        self.before.set(Some(before));
        is_late(elapsed, waited.saturating_sub(before), self.limit)
    }
}

fn is_late(elapsed: Duration, waited_for_cpu: Duration, limit: Duration) -> bool {
    elapsed.saturating_sub(waited_for_cpu.min(MOST_FORGIVEN)) > limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_without_a_cpu_is_not_late() {
        let late = |elapsed, waited| {
            let of = Duration::from_secs;
            is_late(of(elapsed), of(waited), of(10))
        };
        assert!(late(11, 0) && !late(10, 0));
        assert!(!late(30, 25) && late(30, 19));
        assert!(!late(120, 119) && late(121, 121), "not for ever");
        assert!(!late(5, 6), "the two are not read at once");
    }

    #[test]
    fn a_child_that_waits_for_nothing_is_late_after_the_limit() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().expect("it sleeps");
        let patience = Patience::for_child(child.id(), Duration::from_millis(50));
        let began = Instant::now();
        while !patience.is_over() {
            assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(began.elapsed() >= Duration::from_millis(50));
        child.kill().and_then(|()| child.wait()).expect("ended");
    }
}
