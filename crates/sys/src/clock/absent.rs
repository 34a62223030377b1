//! An architecture whose counter latlas does not know: never chosen.

pub(super) const NAME: &str = "no hardware counter";
pub(super) const MIN_SAMPLE_TICKS: u64 = 1;

pub(super) fn available() -> bool {
    false
}

pub(super) fn declared_hz() -> Option<f64> {
    None
}

#[inline(always)]
pub(super) fn start_ticks() -> u64 {
    0
}

#[inline(always)]
pub(super) fn stop() -> u64 {
    0
}
