//! Axes: where a number stands, which numbers are written, and how.

use crate::chart::table::percentile;
use crate::chart::{Axis, Quantity};
use model::size;
use model::utc;

/// An axis that does not begin at 0 spans at least this share of its numbers.
const NEAREST: f64 = 0.04;

/// A number's place between two ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    quantity: Quantity,
    log: bool,
    low: f64,
    high: f64,
    /// Pixels of the low end and of the high end.
    from: f64,
    to: f64,
}

/// A number that is written at the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

impl Scale {
    /// A scale that all of these numbers stand on. Logarithmic ones skip what
    /// is not above 0; a linear one begins at 0, but for times of day and where
    /// it is not to.
    pub(super) fn over(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
    ) -> Scale {
        let log = axis.log;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| v.is_finite() && (!log || *v > 0.0)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if log {
            // A single number stands in the middle.
            if high < low * 1.02 {
                (low, high) = (low / 1.5, high * 1.5);
            }
            let margin = ((high.ln() - low.ln()) * 0.03).exp();
            // Neither end may leave the numbers that there are.
            low = (low / margin).max(f64::from_bits(1));
            high = (high * margin).min(f64::MAX);
        } else if axis.quantity == Quantity::UnixMilliseconds {
            let margin = ((high - low) * 0.03).max(1000.0);
            (low, high) = (low - margin, high + margin);
        } else if !axis.from_zero {
            // Not so near that nothing looks like much.
            let least = NEAREST * low.abs().max(high.abs()).max(f64::MIN_POSITIVE);
            let margin = ((least - (high - low)) / 2.0).max((high - low) * 0.08);
            (low, high) = (low - margin, high + margin);
        } else {
            (low, high) = (low.min(0.0), high.max(0.0));
            if low == high {
                high = low + 1.0;
            }
            // Room above, none below 0.
            let margin = (high - low) * 0.04;
            high += margin;
            if low < 0.0 {
                low -= margin;
            }
        }
        Scale { quantity: axis.quantity, log, low, high, from, to }
    }

    /// A scale from the first of these numbers to the last.
    pub(super) fn between(axis: &Axis, edges: &[f64], (from, to): (f64, f64)) -> Scale {
        let (low, high) = match edges {
            [low, .., high] if low < high => (*low, *high),
            _ => (1.0, 10.0),
        };
        Scale { quantity: axis.quantity, log: axis.log, low, high, from, to }
    }

    /// Where its first number stands, px.
    pub(super) fn start(&self) -> f64 {
        self.from
    }

    /// Where its last number stands, px.
    pub(super) fn end(&self) -> f64 {
        self.to
    }

    /// Where a number stands; nothing where the axis has no place for it.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || self.log && value <= 0.0 {
            return None;
        }
        let share = match self.log {
            true => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            false => (value - self.low) / (self.high - self.low),
        };
        Some(self.from + share * (self.to - self.from))
    }

    /// The same, but the end of the axis for what lies beyond it: for ends of
    /// intervals.
    pub(super) fn at_most(&self, value: f64) -> f64 {
        let place = self.at(value).unwrap_or(self.from);
        place.clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// Whether a number stands on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        let share = self.share(value);
        share.is_some_and(|share| (0.0..=1.0).contains(&share))
    }

    /// Whether an interval reaches beyond the axis: one without an upper end does.
    pub(super) fn cuts(&self, low: Option<f64>, high: Option<f64>) -> bool {
        let beyond = |end: Option<f64>| end.is_some_and(|end| !self.holds(end));
        beyond(low) || beyond(high) || (low.is_some() && high.is_none())
    }

    /// The share of the axis below a number, 0 to 1.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        Some((self.at(value)? - self.from) / (self.to - self.from))
    }

    /// Numbers to write, rising, about `most` of them.
    pub(super) fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = match (self.log, self.quantity) {
            (true, Quantity::Bytes | Quantity::Count) => self.powers_of_two(most),
            (true, Quantity::Percentile) => self.percentiles(most),
            (true, _) => self.decades(most),
            (false, Quantity::UnixMilliseconds) => self.times(most),
            (false, Quantity::Bytes) => self.even(most, &[1.0, 2.0, 4.0, 8.0, 16.0], 1024.0),
            (false, _) => self.even(most, &[1.0, 2.0, 5.0], 10.0),
        };
        let label = |value| Tick { value, label: label(self.quantity, value) };
        let within = |value: &f64| {
            let slack = 1e-9 * (self.high - self.low);
            *value >= self.low - slack && *value <= self.high + slack
        };
        values.into_iter().filter(within).map(label).collect()
    }

    fn powers_of_two(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        if last < first {
            return self.decades(most);
        }
        let step =
            (1..).find(|step| ((last - first) / step + 1) as usize <= most.max(2)).unwrap_or(1);
        // Places that are multiples of the step: 1 KiB, 4 KiB, 16 KiB.
        (first..=last)
            .filter(|power| power.rem_euclid(step) == 0)
            .map(|power| f64::from(power).exp2())
            .collect()
    }

    /// 50, 90, 99, 99.9, with 75 and 95 where there is room.
    fn percentiles(&self, most: usize) -> Vec<f64> {
        let last = self.high.log10().ceil() as i32;
        let decades = || (1..=last).map(|power| 10_f64.powi(power));
        let within = |values: Vec<f64>| -> Vec<f64> {
            let within = |v: &f64| *v >= self.low && *v <= self.high;
            values.into_iter().filter(within).collect()
        };
        let few = within([2.0].into_iter().chain(decades()).collect());
        let more = [1.0, 2.0, 4.0, 10.0, 20.0].into_iter();
        let more = within(more.chain(decades().skip(1)).collect());
        match (more.len() <= most, few.len().div_ceil(most.max(2))) {
            (true, _) => more,
            (false, step) => few.into_iter().step_by(step.max(1)).collect(),
        }
    }

    /// 1, 10, 100; with 2 and 5 where there is room; even steps over less than
    /// that.
    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let within = |v: &f64| *v >= self.low && *v <= self.high;
        let most = most.max(2);
        let all = |factors: &[f64]| -> Vec<f64> {
            let powers = (first..=last).map(|power| 10_f64.powi(power));
            let all = powers.flat_map(|power| factors.iter().map(move |f| f * power));
            all.filter(within).collect()
        };
        let (some, decades) = (all(&[1.0, 2.0, 5.0]), all(&[1.0]));
        let fits = |values: &[f64]| (2..=most).contains(&values.len());
        // Where none fits, every other of them or fewer.
        let values = match (fits(&some), decades.len()) {
            (false, 2..) => decades,
            _ => some,
        };
        match values.len() {
            0 | 1 => self.even(most, &[1.0, 2.0, 5.0], 10.0),
            count => {
                let step = count.div_ceil(most);
                values.into_iter().step_by(step).collect()
            }
        }
    }

    /// Multiples of a step that reads well.
    fn even(&self, most: usize, steps: &[f64], base: f64) -> Vec<f64> {
        let rough = (self.high - self.low) / most.max(2) as f64;
        // Of the smallest numbers there are, steps can't be told apart.
        if !(rough > 0.0 && rough.is_normal()) {
            return Vec::new();
        }
        let mut power = base.powf(rough.log(base).floor());
        let step = loop {
            if let Some(step) = steps.iter().map(|s| s * power).find(|s| *s >= rough) {
                break step;
            }
            power *= base;
        };
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }

    /// Multiples of minutes, hours, days.
    fn times(&self, most: usize) -> Vec<f64> {
        const MINUTE: f64 = 60_000.0;
        const STEPS: [f64; 16] = [
            1.0,
            5.0,
            15.0,
            60.0,
            180.0,
            360.0,
            720.0,
            1440.0,
            2880.0,
            10_080.0,
            20_160.0,
            43_200.0,
            86_400.0,
            259_200.0,
            525_600.0,
            2_628_000.0,
        ];
        let enough = |step: &&f64| (self.high - self.low) / (*step * MINUTE) <= most.max(2) as f64;
        // A document may say any number: what is further apart than calendars
        // reach has even steps.
        let Some(step) = STEPS.iter().find(enough) else {
            return self.even(most, &[1.0, 2.0, 5.0], 10.0);
        };
        let step = step * MINUTE;
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// A number of an axis in its unit: `16KiB`, `100 µs`, `20 GB/s`.
pub(super) fn label(quantity: Quantity, value: f64) -> String {
    let scaled = |steps: &[(f64, &str)]| {
        let (scale, unit) = steps
            .iter()
            .find(|(scale, _)| value.abs() >= *scale * 0.999_999)
            .or(steps.last())
            .copied()
            .unwrap_or((1.0, ""));
        format!("{} {unit}", plain(value / scale))
    };
    match quantity {
        Quantity::Nanoseconds if value == 0.0 => "0".into(),
        Quantity::Nanoseconds => scaled(&[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]),
        Quantity::GigabytesPerSecond if value == 0.0 => "0".into(),
        Quantity::GigabytesPerSecond => scaled(&[(1.0, "GB/s"), (1e-3, "MB/s")]),
        Quantity::Bytes if value >= 1.0 && value.fract() == 0.0 => size::text(value as u64),
        Quantity::Bytes => format!("{}B", plain(value)),
        Quantity::Gigahertz => format!("{} GHz", plain(value)),
        Quantity::Percentile => percentile(value),
        Quantity::Cycles => format!("{} cycles", plain(value)),
        Quantity::Ratio => format!("{}x", plain(value)),
        Quantity::Percent => format!("{} %", plain(value)),
        Quantity::Count => plain(value),
        Quantity::UnixMilliseconds => {
            let text = utc::text(value.max(0.0) as u64);
            let (day, time) = text.split_once(' ').unwrap_or((&text, ""));
            match time.get(..5) {
                Some("00:00") | None => day.into(),
                Some(clock) => format!("{} {clock}", day.get(5..).unwrap_or(day)),
            }
        }
    }
}

/// A number with no more digits than it needs, up to six places.
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "" | "-0" => "0".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::{linear, log};

    fn labels(axis: &Axis, values: [f64; 2], most: usize) -> Vec<String> {
        let scale = Scale::over(axis, values.into_iter(), (0.0, 100.0));
        scale.ticks(most).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn bytes_stand_at_powers_of_two() {
        let axis = log("", Quantity::Bytes);
        assert_eq!(
            labels(&axis, [1024.0, 268_435_456.0], 10),
            [
                "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB",
                "256MiB"
            ]
        );
        assert_eq!(labels(&axis, [1.0, 8.0], 10), ["1B", "2B", "4B", "8B"]);
        let threads = log("", Quantity::Count);
        assert_eq!(labels(&threads, [1.0, 16.0], 8), ["1", "2", "4", "8", "16"]);
    }

    #[test]
    fn times_stand_at_decades_with_their_unit() {
        let axis = log("", Quantity::Nanoseconds);
        assert_eq!(
            labels(&axis, [0.3, 2e7], 9),
            ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]
        );
        assert_eq!(
            labels(&axis, [1.0, 140.0], 9),
            ["1 ns", "2 ns", "5 ns", "10 ns", "20 ns", "50 ns", "100 ns"]
        );
        // A narrow one has at least two.
        assert_eq!(labels(&axis, [2300.0, 24_000.0], 2), ["5 µs", "20 µs"]);
        // Less than a decade still has numbers.
        assert!(labels(&axis, [11.0, 13.0], 6).len() >= 2);
        assert_eq!(
            labels(&log("", Quantity::GigabytesPerSecond), [0.002, 15.0], 6),
            ["10 MB/s", "100 MB/s", "1 GB/s", "10 GB/s"]
        );
    }

    #[test]
    fn percentiles_stand_at_nines() {
        let axis = log("", Quantity::Percentile);
        assert_eq!(labels(&axis, [1.0, 1500.0], 9), ["0", "50", "75", "90", "95", "99", "99.9"]);
        assert_eq!(labels(&axis, [1.0, 2e5], 6), ["50", "90", "99", "99.9", "99.99", "99.999"]);
        assert_eq!(labels(&axis, [1.0, 2e5], 3), ["50", "99", "99.99"]);
    }

    #[test]
    fn a_linear_axis_begins_at_0_and_steps_evenly() {
        let axis = linear("", Quantity::Percent);
        assert_eq!(labels(&axis, [20.0, 100.0], 5), ["0 %", "50 %", "100 %"]);
        assert_eq!(
            labels(&linear("", Quantity::Nanoseconds), [0.0, 68_000.0], 5),
            ["0", "20 µs", "40 µs", "60 µs"]
        );
        let below = Scale::over(&axis, [-5.0, 10.0].into_iter(), (0.0, 1.0));
        assert!(below.at(-5.0).expect("a place") > 0.0);
        let times = linear("", Quantity::UnixMilliseconds);
        assert_eq!(
            labels(&times, [1_795_219_200_000.0, 1_795_478_400_000.0], 5),
            ["2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"]
        );
    }

    #[test]
    fn places_are_in_proportion() {
        let scale = Scale::over(
            &log("", Quantity::Nanoseconds),
            [1.0, 10.0, 100.0].into_iter(),
            (0.0, 100.0),
        );
        let at = |value| scale.at(value).expect("a place");
        assert!((at(10.0) - 50.0).abs() < 1e-9);
        assert!((at(100.0) + at(1.0) - 100.0).abs() < 1e-9);
        assert_eq!(scale.at(0.0), None);
        assert_eq!(scale.at(f64::NAN), None);
        assert_eq!(scale.at_most(-3.0), 0.0);
        assert_eq!(scale.at_most(1e9), 100.0);
    }

    #[test]
    fn numbers_that_no_one_measures_end_nothing() {
        for quantity in [Quantity::Nanoseconds, Quantity::Bytes, Quantity::Count] {
            for axis in [log("", quantity), linear("", quantity)] {
                for values in [[5e-324, 5e-324], [1e308, 1.7e308], [5e-324, 1e308]] {
                    assert!(labels(&axis, values, 8).len() <= 64, "{axis:?} {values:?}");
                }
            }
        }
        let times = linear("", Quantity::UnixMilliseconds);
        assert!(labels(&times, [0.0, 1e19], 8).len() <= 16);
    }

    #[test]
    fn nothing_and_a_single_number_have_an_axis() {
        for axis in [log("", Quantity::Count), linear("", Quantity::Count)] {
            for values in [&[][..], &[7.0], &[0.0]] {
                let scale = Scale::over(&axis, values.iter().copied(), (0.0, 9.0));
                assert!(scale.low < scale.high, "{scale:?}");
                assert!(!scale.ticks(5).is_empty(), "{scale:?}");
            }
        }
    }
}
