//! The logarithmic axis of times in lists: the report's ladder and table, the
//! terminal's overview.

use model::figure::time;

/// A logarithmic axis of whole decades, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Power of ten at the left end.
    from: i32,
    /// At the right end.
    to: i32,
}

impl Axis {
    /// The axis that holds all these times; those that are not above 0 have no
    /// place on it.
    pub(crate) fn over(times: impl Iterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for ns in times.filter(|ns| *ns > 0.0 && ns.is_finite()) {
            low = low.min(ns);
            high = high.max(ns);
        }
        if low > high {
            return Axis { from: 0, to: 1 };
        }
        let from = low.log10().floor() as i32;
        let to = (high.log10().ceil() as i32).max(from + 1);
        Axis { from, to }
    }

    /// Decades that it spans.
    pub(crate) fn decades(&self) -> i32 {
        self.to - self.from
    }

    /// Percent from the left; `None` for what has no place.
    pub(crate) fn percent(&self, ns: f64) -> Option<f64> {
        let log = (ns > 0.0 && ns.is_finite()).then(|| ns.log10())?;
        Some((log - f64::from(self.from)) / f64::from(self.decades()) * 100.0)
    }

    /// Every power of ten with its place, ns.
    pub(crate) fn powers(&self) -> impl Iterator<Item = (f64, i32)> {
        let (from, decades) = (self.from, f64::from(self.decades()));
        (from..=self.to).map(move |power| (f64::from(power - from) / decades * 100.0, power))
    }

    /// Names of the decades that are worth one, with their places: every third
    /// power of ten.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let named = |&(_, power): &(f64, i32)| power.rem_euclid(3) == 0 && power < self.to;
        let powers = self.powers().filter(named);
        powers.map(|(at, power)| (at, decade(power))).collect()
    }
}

/// `1 µs`, where a figure would be `1.00 µs`.
pub(crate) fn decade(power: i32) -> String {
    let unit = match power {
        ..-3 => return time(10_f64.powi(power)),
        -3..0 => "ps",
        0..3 => "ns",
        3..6 => "µs",
        6..9 => "ms",
        9.. => "s",
    };
    let digits = match power < 9 {
        true => power.rem_euclid(3),
        false => power - 9,
    };
    format!("{} {unit}", 10_i64.pow(digits.min(18) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_decades_around_all_times() {
        let axis = Axis::over([0.3, 250.0, 4.2e6, -7.0, 0.0].into_iter());
        assert_eq!(axis, Axis { from: -1, to: 7 });
        assert_eq!(axis.decades(), 8);
        assert_eq!(axis.percent(0.1), Some(0.0));
        assert_eq!(axis.percent(1e7), Some(100.0));
        assert_eq!(axis.percent(1e3), Some(50.0));
        assert_eq!(axis.percent(-7.0), None);
        assert_eq!(axis.percent(0.0), None);
    }

    #[test]
    fn ticks_are_units() {
        let axis = Axis { from: -1, to: 7 };
        let ticks = axis.ticks();
        let names: Vec<&str> = ticks.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["1 ns", "1 µs", "1 ms"]);
        assert_eq!(ticks[1].0, 50.0);
        let all: Vec<String> = axis.powers().map(|(_, power)| decade(power)).collect();
        let said = "100 ps, 1 ns, 10 ns, 100 ns, 1 µs, 10 µs, 100 µs, 1 ms, 10 ms";
        assert_eq!(all.join(", "), said);
    }

    #[test]
    fn nothing_to_place_is_no_reason_to_fail() {
        assert_eq!(Axis::over(std::iter::empty()).decades(), 1);
        assert_eq!(Axis::over([100.0].into_iter()).decades(), 1);
    }
}
