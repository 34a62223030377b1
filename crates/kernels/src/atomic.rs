//! Atomic operations as compiled Rust, on a line that no other core wants
//! unless the caller lets one: counting up, and a reference count.

use crate::unrolled;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

/// Adds 1 to the counter [`UNROLL`](crate::UNROLL) times a turn, in no order with
/// other memory; the sum is not used, so that a core may use the form of
/// the instruction that returns nothing.
#[inline(never)]
pub fn atomic_add_single(counter: &AtomicU64, turns: u64) {
    for _ in 0..turns {
        unrolled!(counter.fetch_add(1, Ordering::Relaxed));
    }
}

/// Adds 1 to the counter twice [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn atomic_add_double(counter: &AtomicU64, turns: u64) {
    for _ in 0..turns {
        unrolled!(counter.fetch_add(1, Ordering::Relaxed));
        unrolled!(counter.fetch_add(1, Ordering::Relaxed));
    }
}

/// Clones the `Arc` and drops the clone, [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn refcount_single(counted: &Arc<u64>, turns: u64) {
    for _ in 0..turns {
        unrolled!(drop(Arc::clone(counted)));
    }
}

/// Clones the `Arc` and drops the clone, twice [`UNROLL`](crate::UNROLL) times a turn.
#[inline(never)]
pub fn refcount_double(counted: &Arc<u64>, turns: u64) {
    for _ in 0..turns {
        unrolled!(drop(Arc::clone(counted)));
        unrolled!(drop(Arc::clone(counted)));
    }
}
