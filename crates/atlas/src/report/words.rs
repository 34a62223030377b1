//! An axis's numbers as text, with their units. The page's script writes them
//! in the same way.

use crate::chart::{Axis, Quantity};
use crate::utc;
use model::figure::{decimals, value};
use model::size;
use model::unit::Unit;

/// What an axis shows.
pub(super) fn label(axis: &Axis) -> &str {
    &axis.label
}

/// A number of an axis: three digits, or all of a whole one.
pub(super) fn text(quantity: Quantity, number: f64) -> String {
    let digits = || format!("{number:.*}", decimals(number, 0.0));
    match quantity {
        Quantity::Nanoseconds => model::figure::time(number),
        Quantity::Bytes if number >= 0.0 && number.fract() == 0.0 => size::text(number as u64),
        Quantity::Bytes => value(&Unit::Bytes, number),
        Quantity::GigabytesPerSecond if number.abs() < 1.0 => {
            let megabytes = number * 1e3;
            format!("{megabytes:.*} MB/s", decimals(megabytes, 0.0))
        }
        Quantity::GigabytesPerSecond => format!("{} GB/s", digits()),
        Quantity::Cycles => format!("{} cycles", digits()),
        Quantity::Ratio => format!("{}x", digits()),
        Quantity::Percent => format!("{} %", digits()),
        Quantity::Count if number.fract() == 0.0 => format!("{number:.0}"),
        Quantity::Count => digits(),
        Quantity::UnixMilliseconds => utc::text(number.max(0.0) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_its_unit() {
        let of = |quantity, number| text(quantity, number);
        assert_eq!(of(Quantity::Nanoseconds, 3.6149), "3.61 ns");
        assert_eq!(of(Quantity::Nanoseconds, 52_226_907.0), "52.2 ms");
        assert_eq!(of(Quantity::Bytes, 32_768.0), "32KiB");
        assert_eq!(of(Quantity::GigabytesPerSecond, 12.34), "12.3 GB/s");
        assert_eq!(of(Quantity::GigabytesPerSecond, 0.0205), "20.5 MB/s");
        assert_eq!(of(Quantity::Cycles, 4.0), "4.00 cycles");
        assert_eq!(of(Quantity::Ratio, 1.034), "1.03x");
        assert_eq!(of(Quantity::Percent, 12.5), "12.5 %");
        assert_eq!(of(Quantity::Count, 161.0), "161");
        assert_eq!(
            of(Quantity::UnixMilliseconds, 0.0),
            "1970-01-01 00:00:00 UTC"
        );
    }
}
