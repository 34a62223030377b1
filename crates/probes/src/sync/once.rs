//! Something that is made once, after it was made.

use super::EFFORT;
use crate::engine::paired::{DIFFERENCE, Paired, Short, Unrolled};
use meter::probe::Probe;
use std::hint::black_box;
use std::sync::OnceLock;

pub(crate) fn once_probe() -> Probe {
    Probe {
        title: "access to a OnceLock that is initialised".into(),
        operation: "One access to a number that is initialised at its first use, after that: the check whether it is initialised, and its value.".into(),
        method: format!("{DIFFERENCE} Rust's OnceLock with get_or_init, as compiled; each value goes to black_box, which stores it.").into(),
        source: "Ours: the cost of a lazily initialised static at each use.".into(),
        effort: EFFORT,
        make: Box::new(|worker, _| {
            let made = Box::new(OnceLock::from(worker.rng.u64(..)));
            Ok(Box::new(Paired(Unrolled(OnceWork(made)))))
        }),
        ..Probe::blank("sync.once")
    }
}

struct OnceWork(Box<OnceLock<u64>>);

impl Short for OnceWork {
    #[inline(always)]
    fn once(&self) {
        black_box(*self.0.get_or_init(make));
    }
}

/// Never called; apart, as what makes a value is.
#[cold]
#[inline(never)]
fn make() -> u64 {
    black_box(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_not_made_again() {
        let made = OnceWork(Box::new(OnceLock::from(7)));
        made.once();
        assert_eq!(made.0.get(), Some(&7));
        crate::engine::testing::run_row(&[once_probe()], "sync.once").expect("it runs");
    }
}
