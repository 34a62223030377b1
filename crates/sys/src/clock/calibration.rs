//! What one tick is worth. The arithmetic lies apart from the reading, so
//! that tests can script the readings.

use std::time::Duration;

use super::{Counter, monotonic_raw_ns};

/// Readings at each end of the window. At about 80 ns each they take some
/// 20 µs, so that at least one falls between two interrupts.
const BRACKETS: u32 = 256;
/// Windows tried before a counter is given up, each twice as long.
const ATTEMPTS: u32 = 4;

/// What one tick of a [`Counter`] is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Nanoseconds per tick. NaN if the counter did not advance against the
    /// kernel's clock: see [`is_usable`](Calibration::is_usable).
    pub ns_per_tick: f64,
    /// Ticks per second, 1e9 / `ns_per_tick`.
    pub frequency_hz: f64,
    /// Brackets read in all, at both ends; 0 where nothing had to be measured.
    pub brackets: u32,
    /// Width of the wider of the two brackets that were used, in ns: over
    /// the window, this bounds the relative error.
    pub narrowest_ns: f64,
    /// Where the figure comes from, for example `calibrated against
    /// CLOCK_MONOTONIC_RAW over 20 ms` or `cntfrq_el0`.
    pub source: String,
}

impl Calibration {
    /// Whether ticks can be turned into time at all.
    pub fn is_usable(&self) -> bool {
        self.ns_per_tick.is_finite() && self.ns_per_tick > 0.0
    }
}

/// Finds what a tick of `counter` is worth: from the rate the hardware
/// declares, else by reading it between two readings of CLOCK_MONOTONIC_RAW
/// at both ends of `window` (20 ms is good for about 3 parts in a million).
/// Sleeps through the window.
pub fn calibrate(counter: &Counter, window: Duration) -> Calibration {
    if counter.counts_nanoseconds() {
        return declared(1e9, "CLOCK_MONOTONIC_RAW counts nanoseconds");
    }
    if let Some(hz) = counter.declared_hz() {
        return declared(hz, "cntfrq_el0");
    }
    calibrate_with(|| Bracket::take(counter), std::thread::sleep, window)
}

fn declared(hz: f64, source: &str) -> Calibration {
    Calibration {
        ns_per_tick: 1e9 / hz,
        frequency_hz: hz,
        brackets: 0,
        narrowest_ns: 0.0,
        source: source.to_owned(),
    }
}

/// One reading of the counter between two of the kernel's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    pub(super) before_ns: u64,
    pub(super) ticks: u64,
    pub(super) after_ns: u64,
}

impl Bracket {
    fn take(counter: &Counter) -> Bracket {
        Bracket {
            before_ns: monotonic_raw_ns(),
            ticks: counter.start(),
            after_ns: monotonic_raw_ns(),
        }
    }

    /// The narrowest of many.
    pub(super) fn narrowest(counter: &Counter) -> Bracket {
        narrowest(&mut || Bracket::take(counter))
    }

    pub(super) fn width_ns(&self) -> u64 {
        // A clock that goes back makes the worst bracket, not the best.
        self.after_ns.checked_sub(self.before_ns).unwrap_or(u64::MAX)
    }
}

fn calibrate_with(
    mut read: impl FnMut() -> Bracket,
    mut wait: impl FnMut(Duration),
    window: Duration,
) -> Calibration {
    let mut brackets = BRACKETS;
    let first = narrowest(&mut read);
    let mut solved = None;
    let mut waited = Duration::ZERO;
    for attempt in 0..ATTEMPTS {
        let wait_now = window * 2_u32.pow(attempt);
        wait(wait_now);
        waited += wait_now;
        let last = narrowest(&mut read);
        brackets += BRACKETS;
        if let Some(rate) = ns_per_tick(&first, &last) {
            solved = Some((rate, first.width_ns().max(last.width_ns())));
            break;
        }
    }
    let waited_ms = waited.as_secs_f64() * 1e3;
    match solved {
        Some((rate, width)) => Calibration {
            ns_per_tick: rate,
            frequency_hz: 1e9 / rate,
            brackets,
            narrowest_ns: width as f64,
            source: format!("calibrated against CLOCK_MONOTONIC_RAW over {waited_ms} ms"),
        },
        None => Calibration {
            ns_per_tick: f64::NAN,
            frequency_hz: f64::NAN,
            brackets,
            narrowest_ns: f64::NAN,
            source: format!(
                "not usable: it did not advance against CLOCK_MONOTONIC_RAW in {waited_ms} ms"
            ),
        },
    }
}

fn narrowest(read: &mut impl FnMut() -> Bracket) -> Bracket {
    let mut best = read();
    for _ in 1..BRACKETS {
        let next = read();
        if next.width_ns() < best.width_ns() {
            best = next;
        }
    }
    best
}

/// Time over ticks between the middles of two brackets. The counter was read
/// somewhere inside each, so the middle is off by half a width at most.
fn ns_per_tick(first: &Bracket, last: &Bracket) -> Option<f64> {
    if first.width_ns() == u64::MAX || last.width_ns() == u64::MAX {
        return None;
    }
    let ticks = last.ticks.checked_sub(first.ticks)?;
    // Twice the middles, to stay in integers: an f64 can't hold ns since boot
    // to the half after 52 days.
    let twice = |b: &Bracket| u128::from(b.before_ns) + u128::from(b.after_ns);
    let ns = twice(last).checked_sub(twice(first))? as f64 / 2.0;
    (ticks > 0 && ns > 0.0).then(|| ns / ticks as f64)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn ticks_are_time_only_at_a_rate() {
        let of = |ns_per_tick| {
            let calibration =
                Calibration { ns_per_tick, ..scripted(1e9, Duration::from_millis(20)) };
            calibration.is_usable()
        };
        let rates = [0.0, -0.4, f64::INFINITY, f64::NAN, 0.4];
        assert_eq!(rates.map(of), [false, false, false, false, true]);
    }

    /// A machine whose time passes only by being read: the counter runs at
    /// `hz`, each reading takes 30 ns, every third bracket is hit by an
    /// interrupt between the counter and the second time.
    fn scripted(hz: f64, window: Duration) -> Calibration {
        let now = Cell::new(5_000_000_000_000_000_u64); // two months of uptime
        let reads = Cell::new(0);
        let read = || {
            let before_ns = now.get();
            now.set(now.get() + 15);
            let ticks = (now.get() as f64 * hz / 1e9) as u64;
            now.set(now.get() + 15);
            reads.set(reads.get() + 1);
            if reads.get() % 3 == 1 {
                now.set(now.get() + 400_000);
            }
            Bracket { before_ns, ticks, after_ns: now.get() }
        };
        let wait = |d: Duration| now.set(now.get() + d.as_nanos() as u64);
        calibrate_with(read, wait, window)
    }

    #[test]
    fn interrupted_brackets_are_not_used() {
        for hz in [24e6, 2_249_998_765.0, 5.7e9] {
            let found = scripted(hz, Duration::from_millis(20));
            let error = (found.frequency_hz / hz - 1.0).abs();
            // The script's own rounding to a tick is the limit.
            assert!(error < 3e-6, "{hz}: off by {error}");
            assert_eq!(found.narrowest_ns, 30.0);
            assert_eq!(found.brackets, 2 * BRACKETS);
            assert_eq!(found.source, "calibrated against CLOCK_MONOTONIC_RAW over 20 ms");
            assert!(found.is_usable());
        }
    }

    #[test]
    fn a_stopped_counter_is_not_usable() {
        let found = scripted(0.0, Duration::from_millis(1));
        assert!(!found.is_usable());
        assert!(found.source.starts_with("not usable"), "{}", found.source);
        assert!(found.source.contains("15 ms"), "1 + 2 + 4 + 8: {}", found.source);
    }

    #[test]
    fn a_counter_or_clock_that_goes_back_gives_no_rate() {
        let at = |before_ns, ticks, after_ns| Bracket { before_ns, ticks, after_ns };
        let first = at(100, 1000, 120);
        assert_eq!(ns_per_tick(&first, &at(300, 1100, 320)), Some(2.0));
        assert_eq!(ns_per_tick(&first, &at(300, 900, 320)), None);
        assert_eq!(ns_per_tick(&first, &at(10, 1100, 20)), None);
        assert_eq!(ns_per_tick(&first, &at(300, 1100, 299)), None);
    }

    #[test]
    fn the_kernels_clock_needs_no_calibration() {
        let found = calibrate(&Counter::monotonic_raw(), Duration::ZERO);
        assert_eq!((found.ns_per_tick, found.brackets), (1.0, 0));
    }

    /// Correctness, not speed: the calibrated counter and the kernel agree
    /// about a stretch of 30 ms. A preemption between the two readings spoils
    /// an attempt, so several are made; a wrong rate spoils all of them.
    #[test]
    fn ticks_agree_with_the_kernel() {
        let counter = Counter::best();
        let found = calibrate(&counter, Duration::from_millis(20));
        let disagreement = (0..20)
            .map(|_| {
                let (ns, ticks) = (monotonic_raw_ns(), counter.start());
                std::thread::sleep(Duration::from_millis(30));
                let (ticks, ns) = (counter.stop() - ticks, monotonic_raw_ns() - ns);
                (ticks as f64 * found.ns_per_tick / ns as f64 - 1.0).abs()
            })
            .find(|off| *off < 0.01);
        assert!(disagreement.is_some(), "{found:?}");
    }
}
