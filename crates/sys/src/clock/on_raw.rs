//! Stamps of the counter on CLOCK_MONOTONIC_RAW, on which the kernel stamps its
//! own records.

use super::Counter;
use super::calibration::Bracket;

/// The counter and CLOCK_MONOTONIC_RAW, read at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Anchor(Bracket);

impl Anchor {
    /// Reads both: the narrowest of many readings, about 20 µs.
    pub fn narrowest(counter: &Counter) -> Anchor {
        Anchor(Bracket::narrowest(counter))
    }

    fn middle_ns(self) -> f64 {
        self.0.width_ns() as f64 / 2.0
    }
}

/// The counter's stamps between two anchors, on CLOCK_MONOTONIC_RAW.
#[derive(Clone, Copy, Debug)]
pub struct OnRaw {
    first: Anchor,
    last: Anchor,
}

impl OnRaw {
    /// `None` if the counter did not advance from one to the other.
    pub fn between(first: Anchor, last: Anchor) -> Option<OnRaw> {
        let clocks_went_on =
            last.0.before_ns > first.0.before_ns && last.0.after_ns > first.0.after_ns;
        (clocks_went_on && last.0.ticks > first.0.ticks).then_some(OnRaw { first, last })
    }

    /// A stamp, in ns.
    pub fn ns(&self, ticks: u64) -> u64 {
        let (first, last) = (self.first, self.last);
        // Relative to the first: an f64 can't hold ns since boot to the ns.
        let end_ns = (last.0.before_ns - first.0.before_ns) as f64 + last.middle_ns();
        let begin_ns = first.middle_ns();
        let whole = (last.0.ticks - first.0.ticks) as f64;
        let part = ticks.wrapping_sub(first.0.ticks).cast_signed() as f64;
        let since_ns = begin_ns + (end_ns - begin_ns) * part / whole;
        first.0.before_ns.saturating_add_signed(since_ns.round() as i64)
    }

    /// A length of time, in ns.
    pub fn length_ns(&self, ticks: u64) -> f64 {
        let begin = self.first.0.ticks;
        let whole = self.last.0.ticks - begin;
        let whole_ns = self.ns(self.last.0.ticks) - self.ns(begin);
        ticks as f64 * whole_ns as f64 / whole as f64
    }

    /// How far a stamp between the anchors may be off: half of the wider reading.
    pub fn error_ns(&self) -> u64 {
        let wider = self.first.0.width_ns().max(self.last.0.width_ns());
        wider.div_ceil(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(before_ns: u64, ticks: u64, after_ns: u64) -> Anchor {
        Anchor(Bracket { before_ns, ticks, after_ns })
    }

    #[test]
    fn stamps_lie_on_the_line_between_the_anchors() {
        // Months of uptime, a counter of 3 ticks a ns.
        let began = 5_000_000_000_000_001;
        let on_raw = OnRaw::between(
            anchor(began, 9_000, began + 40),
            anchor(began + 1_000_000, 3_009_000, began + 1_000_050),
        )
        .expect("both go on");
        assert_eq!(on_raw.ns(9_000), began + 20);
        assert_eq!(on_raw.ns(3_009_000), began + 1_000_025);
        // Halfway, and a little before the first.
        assert_eq!(on_raw.ns(1_509_000), began + 500_023);
        assert_eq!(on_raw.ns(8_970), began + 10);
        assert_eq!(on_raw.error_ns(), 25);
        assert!((on_raw.length_ns(3000) - 1000.0).abs() < 0.1);
    }

    #[test]
    fn a_counter_that_stands_still_has_no_line() {
        let (first, still) = (anchor(10, 5, 20), anchor(1000, 5, 1010));
        assert!(OnRaw::between(first, still).is_none());
        assert!(OnRaw::between(first, anchor(10, 6, 20)).is_none());
    }

    #[test]
    fn a_stamp_lies_between_the_kernels_readings() {
        let counter = Counter::best();
        let first = Anchor::narrowest(&counter);
        let before_ns = super::super::monotonic_raw_ns();
        let ticks = counter.start();
        let after_ns = super::super::monotonic_raw_ns();
        let on_raw = OnRaw::between(first, Anchor::narrowest(&counter)).expect("it goes on");
        let (ns, error_ns) = (on_raw.ns(ticks), on_raw.error_ns());
        assert!(before_ns <= ns + error_ns && ns <= after_ns + error_ns);
    }
}
