//! Every kernel that ships, against plain Rust.

use ::kernels;

mod suite;

#[test]
fn virtual_calls_run_any_number_of_turns_or_say_why_not() {
    let (pair, why) = (kernels::virtual_call(), kernels::VIRTUAL_CALL_MISSING);
    assert_eq!(pair.is_none(), why.is_some());
    if let Some(pair) = pair {
        for turns in [0, 1, 2, 1000] {
            (pair.single)(turns);
            (pair.double)(turns);
        }
    }
}

#[test]
fn counters_count_and_references_are_given_back() {
    let (counter, counted) = (std::sync::atomic::AtomicU64::new(0), std::sync::Arc::new(5));
    for turns in [0, 1, 1000] {
        counter.store(0, std::sync::atomic::Ordering::Relaxed);
        kernels::atomic_add_single(&counter, turns);
        kernels::atomic_add_double(&counter, turns);
        let sum = counter.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(sum, 3 * u64::from(kernels::UNROLL) * turns);
        kernels::refcount_single(&counted, turns);
        kernels::refcount_double(&counted, turns);
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    }
}
