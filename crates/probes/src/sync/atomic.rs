//! An atomic addition that no other core wants.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, Over, Paired};
use meter::probe::Probe;
use std::sync::atomic::AtomicU64;

/// A counter on separate cache lines: 128 bytes are two lines on most machines,
/// which some fetch in pairs, and one on Apple's.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Counter(pub(super) AtomicU64);

pub(crate) fn atomic_probe() -> Probe {
    Probe {
        title: "atomic addition, uncontended".into(),
        operation: "One atomic addition to a number in L1 that no other core uses.".into(),
        method: format!(
            "{DIFFERENCE} Rust's fetch_add in relaxed order, as compiled; the sum is not used."
        )
        .into(),
        source: "Ours; locks are made of such operations.".into(),
        effort: EFFORT,
        make: Box::new(|_, _| Ok(Box::new(adding()))),
        ..Probe::blank("sync.atomic_add")
    }
}

fn adding() -> Paired<Over<Box<Counter>>> {
    Paired(Over {
        operand: Box::default(),
        single: |counter, turns| kernels::atomic_add_single(&counter.0, turns),
        double: |counter, turns| kernels::atomic_add_double(&counter.0, turns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::UNROLL;
    use meter::probe::Work;

    #[test]
    fn turns_are_added() {
        let mut adding = adding();
        adding.run(3, false);
        adding.run(1, true);
        assert_eq!(adding.0.operand.0.into_inner(), 5 * u64::from(UNROLL));
        assert_eq!(size_of::<Counter>(), 128);
        crate::engine::testing::run_row(&[atomic_probe()], "sync.atomic_add").expect("it runs");
    }
}
