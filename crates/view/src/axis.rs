//! Axes: where a number stands, which numbers are written, and how: in pictures, in the
//! terminal, and in the lists of a page.

use crate::quantity::{in_unit, percentile};
use model::chart::{Axis, Quantity};
use model::figure::{is_zero, magnitude, without_zeros};
use model::utc;

/// An axis that does not begin at 0 spans at least this share of its numbers.
const NEAREST: f64 = 0.04;

/// A number's place between two ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    quantity: Quantity,
    log: bool,
    low: f64,
    high: f64,
    /// Places of the low end and of the high end: pixels, dots, percent.
    from: f64,
    to: f64,
}

/// A number that is written at the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// The lowest and the highest of some numbers.
pub(crate) fn span(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// Every third power of ten has a name: a unit.
pub(crate) fn is_unit(power: i32) -> bool {
    power.rem_euclid(3) == 0
}

impl Scale {
    /// The logarithmic axis of a list of times, in percent: whole powers of ten around all of them.
    pub(crate) fn of_decades(times_ns: impl IntoIterator<Item = f64>) -> Scale {
        let times_ns = times_ns.into_iter().filter(|ns| *ns > 0.0 && ns.is_finite());
        let [from, to] = match span(times_ns) {
            Some((low, high)) => [magnitude(low), high.log10().ceil() as i32],
            None => [0, 1],
        };
        let [low, high] = [from, to.max(from + 1)].map(|power| 10_f64.powi(power));
        Scale { quantity: Quantity::Nanoseconds, log: true, low, high, from: 0.0, to: 100.0 }
    }

    /// Powers of ten from its low end to its high end.
    fn powers(&self) -> std::ops::RangeInclusive<i32> {
        magnitude(self.low)..=self.high.log10().ceil() as i32
    }

    /// Powers of ten that it spans.
    pub(crate) fn decade_count(&self) -> i32 {
        self.powers().count() as i32 - 1
    }

    /// Every power of ten with what is written there.
    pub(crate) fn powers_of_ten(&self) -> impl Iterator<Item = (i32, Tick)> {
        self.powers().map(|power| {
            let value = 10_f64.powi(power);
            (power, Tick { value, label: label(self.quantity, value) })
        })
    }

    /// Those that are named on an axis of decades, each with its share of it. The last would
    /// stand outside.
    pub(crate) fn units(&self) -> Vec<(f64, String)> {
        let powers = self.powers_of_ten().filter(|(power, _)| is_unit(*power));
        let within = powers.filter_map(|(_, tick)| Some((self.share(tick.value)?, tick.label)));
        within.filter(|(share, _)| *share < 0.999).collect()
    }

    /// Where a number stands on an axis in percent, as an attribute.
    pub(crate) fn percent_at(&self, value: f64) -> Option<String> {
        Some(format!("{:.2}%", self.position(value)?))
    }

    /// A scale that all of these numbers stand on. Logarithmic ones skip what
    /// is not above 0; a linear one begins at 0, but for times of day and where
    /// it is not to.
    pub(crate) fn over(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
    ) -> Scale {
        let log = axis.log;
        let placed = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let (mut low, mut high) = span(placed).unwrap_or((1.0, 10.0));
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
    pub(crate) fn between(axis: &Axis, edges: &[f64], (from, to): (f64, f64)) -> Scale {
        let (low, high) = match edges {
            [low, .., high] if low < high => (*low, *high),
            _ => (1.0, 10.0),
        };
        Scale { quantity: axis.quantity, log: axis.log, low, high, from, to }
    }

    /// Where its first number stands, px.
    pub(crate) fn start(&self) -> f64 {
        self.from
    }

    /// Where its last number stands, px.
    pub(crate) fn end(&self) -> f64 {
        self.to
    }

    /// Where a number stands; nothing where the axis has no place for it.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
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
    pub(crate) fn at_most(&self, value: f64) -> f64 {
        let place = self.position(value).unwrap_or(self.from);
        place.clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// Whether a number stands on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let share = self.share(value);
        share.is_some_and(|share| (0.0..=1.0).contains(&share))
    }

    /// Whether an interval reaches beyond the axis: one without an upper end does.
    pub(crate) fn cuts(&self, low: Option<f64>, high: Option<f64>) -> bool {
        let beyond = |end: Option<f64>| end.is_some_and(|end| !self.holds(end));
        beyond(low) || beyond(high) || (low.is_some() && high.is_none())
    }

    /// The share of the axis below a number, 0 to 1.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        Some((self.position(value)? - self.from) / (self.to - self.from))
    }

    /// Numbers to write, rising, about `most` of them.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = match (self.log, self.quantity) {
            (true, Quantity::Bytes | Quantity::Count) => self.powers_of_two(most),
            (true, Quantity::Percentile) => self.percentiles(most),
            (true, _) => self.decades(most),
            (false, Quantity::UnixMilliseconds) => self.time_ticks(most),
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

    /// As many numbers as stand apart by a gap at least, given how wide their texts are.
    pub(crate) fn ticks_apart(&self, width: impl Fn(&str) -> f64, gap: f64) -> Vec<Tick> {
        // Fewer until they don't touch.
        for most in (2..=14).rev() {
            let ticks = self.ticks(most);
            let widest = ticks.iter().map(|t| width(&t.label)).fold(0.0, f64::max) + gap;
            let places: Vec<f64> = ticks.iter().filter_map(|t| self.position(t.value)).collect();
            let nearest = places.windows(2).map(|w| (w[1] - w[0]).abs());
            if nearest.fold((self.to - self.from).abs(), f64::min) >= widest {
                return ticks;
            }
        }
        self.ticks(2)
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
        let within = |v: &f64| *v >= self.low && *v <= self.high;
        let most = most.max(2);
        let all = |factors: &[f64]| -> Vec<f64> {
            let powers = self.powers().map(|power| 10_f64.powi(power));
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
        // Of the smallest numbers there are, steps are not distinguishable.
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
    fn time_ticks(&self, most: usize) -> Vec<f64> {
        /// In minutes.
        const STEPS: [u32; 16] = [
            1, 5, 15, 60, 180, 360, 720, 1440, 2880, 10_080, 20_160, 43_200, 86_400, 259_200,
            525_600, 2_628_000,
        ];
        let mut steps = STEPS.iter().map(|&minutes| f64::from(minutes) * 60_000.0);
        let enough = |step: &f64| (self.high - self.low) / step <= most.max(2) as f64;
        // A document may say any number: what is further apart than calendars
        // reach has even steps.
        let Some(step) = steps.find(enough) else {
            return self.even(most, &[1.0, 2.0, 5.0], 10.0);
        };
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// What is written of a number of an axis: `16 KiB`, `100 µs`, `20 GB/s`; no more digits than it
/// needs, up to six places.
fn label(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Nanoseconds | Quantity::GigabytesPerSecond if value == 0.0 => "0".into(),
        Quantity::Percentile => percentile(value),
        Quantity::UnixMilliseconds => {
            let text = utc::readable_utc(value.max(0.0) as u64);
            let (day, time) = text.split_once(' ').unwrap_or((&text, ""));
            match time.get(..5) {
                Some("00:00") | None => day.into(),
                Some(clock) => format!("{} {clock}", day.get(5..).unwrap_or(day)),
            }
        }
        _ => in_unit(quantity, value, |value| match format!("{value:.6}") {
            text if is_zero(&text) => "0".into(),
            text => without_zeros(&text).into(),
        }),
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
                "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB",
                "64 MiB", "256 MiB"
            ]
        );
        assert_eq!(labels(&axis, [1.0, 8.0], 10), ["1 B", "2 B", "4 B", "8 B"]);
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
        assert!(below.position(-5.0).expect("a place") > 0.0);
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
        let at = |value| scale.position(value).expect("a place");
        assert!((at(10.0) - 50.0).abs() < 1e-9);
        assert!((at(100.0) + at(1.0) - 100.0).abs() < 1e-9);
        assert_eq!(scale.position(0.0), None);
        assert_eq!(scale.position(f64::NAN), None);
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

    #[test]
    fn a_list_has_whole_decades_around_its_times() {
        let axis = Scale::of_decades([0.3, 250.0, 4.2e6, -7.0, 0.0]);
        assert_eq!(axis.decade_count(), 8);
        let places = [0.1, 1e3, 1e7].map(|ns| axis.percent_at(ns).expect("a place"));
        assert_eq!(places, ["0.00%", "50.00%", "100.00%"]);
        assert_eq!([axis.position(-7.0), axis.position(0.0)], [None, None]);
        let units: Vec<String> = axis.units().into_iter().map(|(_, name)| name).collect();
        assert_eq!(units, ["1 ns", "1 µs", "1 ms"]);
        let all: Vec<String> = axis.powers_of_ten().map(|(_, tick)| tick.label).collect();
        let said = "0.1 ns, 1 ns, 10 ns, 100 ns, 1 µs, 10 µs, 100 µs, 1 ms, 10 ms";
        assert_eq!(all.join(", "), said);
        assert_eq!(Scale::of_decades([]).decade_count(), 1);
        assert_eq!(Scale::of_decades([100.0]).decade_count(), 1);
        assert_eq!(Scale::of_decades([1e-9, 1e13]).decade_count(), 22);
    }
}
