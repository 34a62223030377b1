//! An atomic reference count.

use crate::engine::paired::{DIFFERENCE, Loops, Paired};
use crate::engine::reason::Reason;
use meter::probe::{Effort, Probe, WorkError};
use std::sync::Arc;

pub(crate) fn refcount_probe() -> Probe {
    Probe {
        title: "atomic reference count, up and down".into(),
        operation: "One more reference to a shared number and its end: the count goes up and down by an atomic operation each, and no other core uses it.".into(),
        method: format!("{DIFFERENCE} A clone of Rust's Arc and its drop, as compiled, with their checks for an overflow and for the last reference.").into(),
        source: "What Ash's retain and release do without Objective-C; his are C functions of its runtime, which keeps the count in a table or in the object.".into(),
        effort: Effort::visits(8),
        make: Box::new(|worker, _| Ok(Box::new(Paired(CountedReference(Arc::new(worker.rng.u64(..))))))),
        ..Probe::blank("alloc.refcount")
    }
}

struct CountedReference(Arc<u64>);

impl Loops for CountedReference {
    fn single(&self, turns: u64) {
        kernels::refcount_single(&self.0, turns);
    }
    fn double(&self, turns: u64) {
        kernels::refcount_double(&self.0, turns);
    }
    fn verify(&self) -> Result<(), WorkError> {
        match Arc::strong_count(&self.0) {
            1 => Ok(()),
            left => {
                Err(Reason::wrong(format!("the count went up and down and is {left}, not 1"))
                    .into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_count_is_restored() {
        crate::engine::testing::run_row(&[super::refcount_probe()], "alloc.refcount")
            .expect("it runs");
        let counted = super::Paired(super::CountedReference(std::sync::Arc::new(1)));
        let kept = counted.0.0.clone();
        assert!(meter::probe::Work::verify(&counted).is_err(), "{kept}");
    }
}
