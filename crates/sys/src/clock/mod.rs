//! The counter that brackets a sample (TSC, CNTVCT_EL0, else CLOCK_MONOTONIC_RAW): a file for each
//! architecture, `calibration.rs` for its rate, `cost.rs` for its own cost, `skew.rs` for what CPUs differ
//! by. The kernel's clocks are in `monotonic.rs`; `on_raw.rs` converts stamps to the kernel's.

mod calibration;
mod cost;
mod monotonic;
mod on_raw;
mod skew;

#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod hardware;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod hardware;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "absent.rs"]
mod hardware;

pub use calibration::{Calibration, calibrate};
pub use cost::{ClockCost, measure_cost};
pub(crate) use monotonic::timespec_ns;
pub use monotonic::{boot_ns, later, monotonic_raw_ns, realtime_unix_ms, realtime_unix_ns};
pub use on_raw::{Anchor, OnRaw};
pub use skew::{Exchange, Skew, measure_skew};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CounterKind {
    Hardware,
    MonotonicRaw,
}

/// The counter that this process reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    kind: CounterKind,
}

impl Counter {
    /// The best this machine has: the TSC where the CPU (or the hypervisor)
    /// declares it invariant, CNTVCT_EL0 on AArch64, else CLOCK_MONOTONIC_RAW.
    /// A hardware counter that stands still is not taken.
    pub fn best() -> Counter {
        let hardware = Counter { kind: CounterKind::Hardware };
        if hardware::available() && hardware.advances() {
            hardware
        } else {
            Counter::monotonic_raw()
        }
    }

    /// CLOCK_MONOTONIC_RAW, which every supported system has. One tick is 1 ns.
    pub fn monotonic_raw() -> Counter {
        Counter { kind: CounterKind::MonotonicRaw }
    }

    /// What is read: `invariant TSC`, `CNTVCT_EL0` or `CLOCK_MONOTONIC_RAW`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            CounterKind::Hardware => hardware::NAME,
            CounterKind::MonotonicRaw => "CLOCK_MONOTONIC_RAW",
        }
    }

    /// Reads the counter at the start of a bracket, in ticks: everything
    /// before is done, nothing after has begun.
    ///
    /// This holds for the CPU. The compiler does not move memory accesses
    /// across it, but may move arithmetic in registers: a measured body pins
    /// its own values with `asm!`.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        match self.kind {
            CounterKind::Hardware => hardware::start_ticks(),
            CounterKind::MonotonicRaw => monotonic_raw_ns(),
        }
    }

    /// Reads the counter at the end of a bracket, in ticks: everything before
    /// is done. Subtract wrapping, and check for a counter that went back.
    #[inline(always)]
    pub fn stop(&self) -> u64 {
        match self.kind {
            CounterKind::Hardware => hardware::stop(),
            CounterKind::MonotonicRaw => monotonic_raw_ns(),
        }
    }

    /// How many ticks a sample should last at least, so that a step of the
    /// counter at either end is no more than 0.1 % of it. It does not cover
    /// the cost of the bracket itself: see [`measure_cost`].
    pub fn min_sample_ticks(&self) -> u64 {
        match self.kind {
            CounterKind::Hardware => hardware::MIN_SAMPLE_TICKS,
            // Behind it lies some clock source: the coarse ones (ACPI PM
            // timer, 280 ns) are rare, 26 ns a call and 19-52 ns a tick usual.
            CounterKind::MonotonicRaw => 50_000,
        }
    }

    /// The rate the hardware itself declares, in Hz.
    fn declared_hz(&self) -> Option<f64> {
        match self.kind {
            CounterKind::Hardware => hardware::declared_hz(),
            CounterKind::MonotonicRaw => None,
        }
    }

    /// Whether its ticks are the nanoseconds of CLOCK_MONOTONIC_RAW.
    pub fn counts_nanoseconds(&self) -> bool {
        self.kind == CounterKind::MonotonicRaw
    }

    /// Whether the counter moves within a millisecond.
    fn advances(&self) -> bool {
        let first = self.start();
        let begin = monotonic_raw_ns();
        while monotonic_raw_ns().saturating_sub(begin) < 1_000_000 {
            if self.stop() > first {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never_goes_back(counter: Counter) {
        let mut last = counter.start();
        let first = last;
        for _ in 0..10_000 {
            let (start, stop) = (counter.start(), counter.stop());
            assert!(last <= start && start <= stop, "{}", counter.name());
            last = stop;
        }
        assert!(last > first, "{} stands still", counter.name());
    }

    #[test]
    fn the_best_counter_never_goes_back() {
        never_goes_back(Counter::best());
    }

    #[test]
    fn the_kernels_clock_never_goes_back() {
        never_goes_back(Counter::monotonic_raw());
    }

    #[test]
    fn names_say_what_is_read() {
        assert_eq!(Counter::monotonic_raw().name(), "CLOCK_MONOTONIC_RAW");
        let best = Counter::best();
        assert_eq!(best.name() == hardware::NAME, best.kind == CounterKind::Hardware);
        assert_eq!(Counter::best(), best, "the choice is stable");
    }

    #[test]
    fn the_wall_clock_is_after_this_was_written() {
        assert!(realtime_unix_ms() > 1_767_225_600_000, "before 2026");
    }
}
