//! What tests of pairs need.

use super::pair::{Manner, Means, Side, WARM_UP};
use super::placement::Placement;
use super::switches::Waiting;
pub(crate) use crate::smoke::terrain;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The CPUs that the test may use.
pub(crate) fn allowed() -> Vec<u32> {
    sys::affinity::allowed_cpus().expect("a set of CPUs")
}

/// One round trip an event, counted one way.
pub(crate) fn manner(placement: Placement, waiting: Waiting) -> Manner {
    Manner {
        placement,
        warm_up: WARM_UP,
        trips_per_event: 1,
        ops_per_trip: 2,
        waiting,
    }
}

/// A means whose tokens are counted: none may be taken that was not given.
pub(crate) struct Counted<M> {
    pub(crate) means: M,
    given: [AtomicU64; 2],
    taken: [AtomicU64; 2],
}

impl<M> Counted<M> {
    pub(crate) fn new(means: M) -> Counted<M> {
        Counted {
            means,
            given: Default::default(),
            taken: Default::default(),
        }
    }

    /// Tokens given by, and taken at, the first side and the second.
    pub(crate) fn counts(&self) -> [u64; 4] {
        let [a, b] = &self.given;
        let [c, d] = &self.taken;
        [a, b, c, d].map(|count| count.load(Ordering::SeqCst))
    }
}

impl<M: Means> Means for &Counted<M> {
    fn give(&self, from: Side) -> io::Result<()> {
        self.given[from.place()].fetch_add(1, Ordering::SeqCst);
        self.means.give(from)
    }
    fn take(&self, at: Side) -> io::Result<()> {
        self.means.take(at)?;
        let taken = self.taken[at.place()].fetch_add(1, Ordering::SeqCst) + 1;
        let given = self.given[at.other().place()].load(Ordering::SeqCst);
        if given == taken {
            Ok(())
        } else {
            Err(io::Error::other(format!("{taken} taken of {given} given")))
        }
    }
    fn abandon(&self) {
        self.means.abandon();
    }
}
