//! A token between two threads: the sides, the means that hand it over, and where it went.

use std::io;

/// Names of the modes: where the two hand-offs of a round trip went.
pub(super) const MODES: [&str; 3] = ["same CPU", "other CPU", "moved"];
pub(super) const SAME_CPU: u8 = 0;
pub(super) const OTHER_CPU: u8 = 1;
pub(super) const MOVED: u8 = 2;

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
