//! An atomic addition that no other core wants.

use super::EFFORT;
use crate::paired::DIFFERENCE;
use kernels::UNROLL;
use meter::probe::{Probe, Work};
use std::sync::atomic::AtomicU64;

/// A counter on lines of its own: 128 bytes are two lines on most machines,
/// which some fetch in pairs, and one on Apple's.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Counter(pub(super) AtomicU64);

pub(crate) fn probe() -> Probe {
    Probe {
        title: "atomic addition, uncontended".into(),
        operation: "One atomic addition to a number in L1 that no other core wants.".into(),
        method: format!(
            "{DIFFERENCE} Rust's fetch_add in relaxed order, as compiled; the sum is not looked at."
        )
        .into(),
        source: "Ours; a lock is made of such operations.".into(),
        effort: EFFORT,
        make: Box::new(|_, _| Ok(Box::new(Adding(Box::default())))),
        ..Probe::blank("sync.atomic_add")
    }
}

struct Adding(Box<Counter>);

impl Work for Adding {
    fn ops_per_turn(&self) -> f64 {
        f64::from(UNROLL)
    }
    fn paired(&self) -> bool {
        true
    }
    fn restore(&mut self) {
        self.run(64, false);
        self.run(64, true);
    }
    fn run(&mut self, turns: u64, double: bool) {
        if double {
            kernels::atomic_add_double(&self.0.0, turns);
        } else {
            kernels::atomic_add_single(&self.0.0, turns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_added() {
        let mut adding = Adding(Box::default());
        adding.run(3, false);
        adding.run(1, true);
        assert_eq!(adding.0.0.into_inner(), 5 * u64::from(UNROLL));
        assert_eq!(size_of::<Counter>(), 128);
        crate::smoke::run(&[probe()], "sync.atomic_add").expect("it runs");
    }
}
