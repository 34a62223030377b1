//! Sorting boxed numbers through a comparator.

use crate::engine::reason::Reason;
use fastrand::Rng;
use meter::probe::{Effort, Probe, Work, WorkError};
use std::cmp::Ordering;
use std::hint::black_box;

type Comparator = dyn Fn(&Box<i64>, &Box<i64>) -> Ordering;

pub(crate) fn sort_probe() -> Probe {
    Probe {
        variants: (1..=10).map(|k| (k * 1000).to_string().into()).collect(),
        title: "sorting boxed numbers through a comparator".into(),
        operation: "One sort of so many boxed integers, all different and in random order, through a comparator that the compiler does not see.".into(),
        method: "Rust's stable sort of a vector of pointers to numbers, the comparator called through a trait object; a new random order before each sample, outside the time; one sort a sample.".into(),
        source: "Dmitry Kurkin's study has it in its code (1000 to 10000 boxed numbers of Objective-C, sorted into a new array through a comparator block); this row sorts in place.".into(),
        effort: Effort::stamped(3, 4, 400_000.0),
        make: Box::new(|worker, site| {
            let count = site.variant.parse().map_err(|_| "a count of numbers")?;
            Ok(Box::new(Sorting::new(count, worker.rng.fork())))
        }),
        ..Probe::blank("collections.sort")
    }
}

#[expect(clippy::vec_box, reason = "that the numbers are boxed is the point")]
struct Sorting {
    numbers: Vec<Box<i64>>,
    comparator: Box<Comparator>,
    rng: Rng,
    /// Since the last disorder.
    sorted: bool,
    wrong: bool,
}

impl Sorting {
    fn new(count: usize, mut rng: Rng) -> Sorting {
        // Different, since equal ones would be less work; their low bits are
        // independent of their order.
        let numbers =
            (0..count as i64).map(|k| Box::new(k << 32 | i64::from(rng.u32(..)))).collect();
        Sorting {
            numbers,
            comparator: black_box(Box::new(|a, b| a.cmp(b))),
            rng,
            sorted: false,
            wrong: false,
        }
    }

    fn is_wrong(&self) -> bool {
        self.wrong || self.sorted && !self.numbers.is_sorted()
    }
}

impl Work for Sorting {
    /// A second sort would find its numbers sorted.
    fn turn_limits(&self) -> (u64, u64) {
        (1, 1)
    }
    fn ready(&mut self) {
        self.wrong = self.is_wrong();
        self.rng.shuffle(&mut self.numbers);
        self.sorted = false;
    }
    fn run(&mut self, _turns: u64, _double: bool) {
        self.numbers.sort_by(&*self.comparator);
        self.sorted = true;
    }
    fn verify(&self) -> Result<(), WorkError> {
        if self.is_wrong() {
            return Err(Reason::wrong("the numbers are not sorted after the sort").into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_vector_is_sorted() {
        let mut sorting = Sorting::new(1000, Rng::with_seed(1));
        for _ in 0..3 {
            sorting.ready();
            assert!(!sorting.numbers.is_sorted());
            sorting.run(1, false);
            assert!(sorting.numbers.is_sorted());
            sorting.verify().expect("sorted");
        }
        let mut last = None;
        assert!(sorting.numbers.iter().all(|n| last.replace(**n) < Some(**n)));
        sorting.numbers.swap(3, 4);
        sorting.verify().expect_err("no longer");
        sorting.ready();
        sorting.verify().expect_err("it was not sorted then");
        let rows = sort_probe().row_ids();
        assert_eq!(rows.len(), 10);
        for row in rows {
            crate::engine::testing::run_row(&[sort_probe()], &row).expect("it runs");
        }
    }

    #[test]
    fn orders_differ() {
        let mut sorting = Sorting::new(100, Rng::with_seed(1));
        let mut order = || {
            sorting.ready();
            sorting.numbers.clone()
        };
        assert_ne!(order(), order());
    }
}
