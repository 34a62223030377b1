//! Something that is made once, after it was made.

use super::EFFORT;
use crate::paired::{DIFFERENCE, Paired, Short, Unrolled};
use meter::probe::Probe;
use std::hint::black_box;
use std::sync::OnceLock;

pub(crate) fn probe() -> Probe {
    Probe {
        title: "something made once, already made".into(),
        operation: "One access to a number that is made at its first use and was made long ago: the question whether it is there, and its value.".into(),
        method: format!("{DIFFERENCE} Rust's OnceLock with get_or_init, as compiled; each value is handed to an optimiser's barrier, which stores it.").into(),
        source: "Ours: what a lazily made static costs at each use.".into(),
        effort: EFFORT,
        make: Box::new(|bench, _| {
            let made = Box::new(OnceLock::from(bench.rng.u64(..)));
            Ok(Box::new(Paired(Unrolled(Made(made)))))
        }),
        ..Probe::blank("sync.once")
    }
}

struct Made(Box<OnceLock<u64>>);

impl Short for Made {
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
        let made = Made(Box::new(OnceLock::from(7)));
        made.once();
        assert_eq!(made.0.get(), Some(&7));
        crate::smoke::run(&[probe()], "sync.once").expect("it runs");
    }
}
