//! Adding a number to an array.

use crate::engine::repeated::Repeated;
use meter::probe::{Effort, Probe};
use model::run::Bound;
use std::hint::black_box;
use std::io;

/// Pushes of one growth: it ends at a capacity of 131072 numbers, 1 MiB.
const NUMBERS: u64 = 100_000;

pub(crate) fn push_probe() -> Probe {
    Probe {
        title: "adding a number to an array".into(),
        operation: "One push of a 64-bit number to the end of a vector, on average over its growth from empty to 100000 numbers.".into(),
        method: "A vector of Rust begins empty, gets 100000 numbers one by one, doubling its memory 15 times on the way, and is dropped; allocating, moving what is there and freeing are inside the time, divided by 100000. It grows again and again, so that the allocator may hand out memory it knows: the row's note has the page faults of a growth.".into(),
        source: "Ours: the cost of adding a number to an array.".into(),
        // It moves a mebibyte, and may take fresh pages for it.
        bound: Bound::Memory,
        effort: Effort::visits(8),
        make: Box::new(|_, _| growing().boxed()),
        ..Probe::blank("collections.push")
    }
}

fn growing() -> Repeated<impl FnMut(u64) -> io::Result<()>> {
    let grow = |turns| {
        let mut length = NUMBERS;
        for _ in 0..turns {
            length = grown(NUMBERS).len() as u64;
        }
        match length {
            NUMBERS => Ok(()),
            other => Err(io::Error::other(format!("it ended with {other} numbers"))),
        }
    };
    Repeated::new("growing a vector", grow).ops_per_turn(NUMBERS as f64).restored_by(2).faulting()
}

#[inline(never)]
fn grown(numbers: u64) -> Vec<u64> {
    let mut vector = Vec::new();
    for number in 0..black_box(numbers) {
        vector.push(number);
    }
    black_box(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_grows_to_its_length() {
        assert!(grown(1000).into_iter().eq(0..1000));
    }

    #[test]
    fn the_text_has_the_growth() {
        let (mut vector, mut moves) = (Vec::new(), 0);
        for number in 0..NUMBERS {
            let before = vector.capacity();
            vector.push(number);
            moves += u64::from(before > 0 && vector.capacity() != before);
        }
        assert_eq!(vector.capacity() * size_of::<u64>(), 1 << 20);
        assert!(push_probe().method.contains(&format!("doubling its memory {moves} times")));
    }
}
