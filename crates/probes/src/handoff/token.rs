//! A token between two threads: the sides, the means that hand it over, and where it went.

use std::io;

/// Names of the modes: where the two hand-offs of a round trip went, and whether other programs
/// had a CPU on which a thread was woken.
pub(super) const MODES: [&str; 4] = ["same CPU", "other CPU", "moved", model::estimate::BUSY_CPU];
pub(super) const SAME_CPU: u8 = 0;
pub(super) const OTHER_CPU: u8 = 1;
pub(super) const MOVED: u8 = 2;
pub(super) const BUSY_CPU: u8 = 3;

/// A CPU that nothing else runs on goes idle once per round trip whose other half is on another
/// one; where other programs keep it busy it never does.
const IDLE_FROM: f64 = 0.5;

/// The modes of a visit's events, of so many round trips each, in which the threads' CPUs went idle
/// so often, the one that did so less: to wake an idle CPU is another operation than to take a busy
/// one.
pub(super) fn with_busy_cpus(mut modes: Vec<u8>, trips_per_event: u32, went_idle: u64) -> Vec<u8> {
    let others = modes.iter().filter(|mode| **mode == OTHER_CPU).count() as f64;
    if (went_idle as f64) < IDLE_FROM * others * f64::from(trips_per_event) {
        let others = modes.iter_mut().filter(|mode| **mode == OTHER_CPU);
        others.for_each(|mode| *mode = BUSY_CPU);
    }
    modes
}

/// The mode of a round trip: the CPU on which the first thread gave, the one
/// on which the second took and gave, the one on which the first took.
pub(super) fn mode(gave: u32, partner: u32, took: u32) -> u8 {
    match (gave == partner, partner == took) {
        (true, true) => SAME_CPU,
        (false, false) => OTHER_CPU,
        _ => MOVED,
    }
}

/// One of the two threads; a place in an array of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one that stamps; it begins.
    First,
    /// Its partner.
    Second,
}

impl Side {
    pub(crate) fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// A means by which a token goes from one thread to the other.
pub(crate) trait Means: Sync {
    /// Hands the token over to the other side.
    fn give(&self, from: Side) -> io::Result<()>;

    fn take(&self, at: Side) -> io::Result<()>;

    /// Brings both sides back from waiting, now and later, for a pair that
    /// has come to an early end. A further token each does it for means
    /// that never wait to give.
    fn abandon(&self) {
        let _ = self.give(Side::First);
        let _ = self.give(Side::Second);
    }
}
