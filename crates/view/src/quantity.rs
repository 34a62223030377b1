//! Numbers of an axis as text, by what it measures.

use model::chart::Quantity;
use model::figure::{self, decimals, magnitude, time_scale, without_zeros};
use model::unit::Unit;
use model::utc;

/// A number of an axis: three digits, or all of a whole one.
pub(crate) fn axis_number(quantity: Quantity, number: f64) -> String {
    match quantity {
        Quantity::Nanoseconds => model::figure::time(number),
        _ => in_unit(quantity, number, |number| format!("{number:.*}", decimals(number, 0.0))),
    }
}

/// A number in the unit that suits it, set with these digits; whole ones of bytes and counts with all
/// of theirs.
pub(crate) fn in_unit(quantity: Quantity, number: f64, digits: impl Fn(f64) -> String) -> String {
    let whole = number.fract() == 0.0;
    match quantity {
        Quantity::Bytes => {
            let (scale, unit) = figure::scale_of(&Unit::Bytes, number);
            match number / scale {
                whole if whole.fract() == 0.0 => format!("{whole:.0} {unit}"),
                part => format!("{} {unit}", digits(part)),
            }
        }
        Quantity::Percentile => format!("p{}", percentile(number)),
        Quantity::Count if whole => format!("{number:.0}"),
        Quantity::UnixMilliseconds => utc::readable_utc(number.max(0.0) as u64),
        Quantity::Ratio => format!("{}x", digits(number)),
        _ => {
            let (scale, unit) = scale_of(quantity, number);
            format!("{} {unit}", digits(number / scale)).trim_end().into()
        }
    }
}

/// Divisor and unit of numbers of which this is the largest.
pub(crate) fn scale_of(quantity: Quantity, largest: f64) -> (f64, &'static str) {
    match quantity {
        Quantity::Nanoseconds => time_scale(largest),
        Quantity::GigabytesPerSecond if largest.abs() < 1.0 => (1e-3, "MB/s"),
        Quantity::GigabytesPerSecond => (1.0, "GB/s"),
        Quantity::Gigahertz => (1.0, "GHz"),
        Quantity::Cycles => (1.0, "cycles"),
        Quantity::Percent => (1.0, "%"),
        _ => (1.0, ""),
    }
}

/// The percentile above which one of so many lies: `99.9` of 1000.
pub(crate) fn percentile(one_of: f64) -> String {
    let percent = 100.0 * (1.0 - 1.0 / one_of.max(1.0));
    // As many digits as tell it from its neighbours.
    let places = magnitude(one_of.max(1.0)).clamp(1, 9) as usize;
    without_zeros(&format!("{percent:.places$}")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_its_unit() {
        let of = |quantity, number| axis_number(quantity, number);
        assert_eq!(of(Quantity::Nanoseconds, 3.6149), "3.61 ns");
        assert_eq!(of(Quantity::Nanoseconds, 52_226_907.0), "52.2 ms");
        let bytes = [0.0, 500.0, 1472.0, 32_768.0, 370_790.0, 1_482_854.0, 104_857_600.0];
        assert_eq!(
            bytes.map(|bytes| of(Quantity::Bytes, bytes)),
            ["0 B", "500 B", "1.44 KiB", "32 KiB", "362 KiB", "1.41 MiB", "100 MiB"]
        );
        assert_eq!(of(Quantity::GigabytesPerSecond, 12.34), "12.3 GB/s");
        assert_eq!(of(Quantity::GigabytesPerSecond, 0.0205), "20.5 MB/s");
        assert_eq!(of(Quantity::Gigahertz, 4.1234), "4.12 GHz");
        let percentiles = [1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 853.0];
        assert_eq!(
            percentiles.map(|one_of| of(Quantity::Percentile, one_of)),
            ["p0", "p50", "p90", "p99", "p99.9", "p99.99", "p99.88"]
        );
        assert_eq!(of(Quantity::Cycles, 4.0), "4.00 cycles");
        assert_eq!(of(Quantity::Ratio, 1.034), "1.03x");
        assert_eq!(of(Quantity::Percent, 12.5), "12.5 %");
        assert_eq!(of(Quantity::Count, 161.0), "161");
        assert_eq!(of(Quantity::UnixMilliseconds, 0.0), "1970-01-01 00:00:00 UTC");
    }
}
