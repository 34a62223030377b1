//! What the rows of a table are sorted by: values, not their texts.

use model::story::{Cell, Column, Value};
use model::unit::Unit;

/// Kinds of values that are of one size: times and plain numbers first.
const BYTES: u8 = 1;
const RATE: u8 = 2;
const FREQUENCY: u8 = 3;

/// Names of units, each with its kind and size.
const UNITS: [(&str, u8, f64); 29] = [
    ("", 0, 1.0),
    ("ns", 0, 1.0),
    ("µs", 0, 1e3),
    ("us", 0, 1e3),
    ("ms", 0, 1e6),
    ("s", 0, 1e9),
    ("min", 0, 6e10),
    ("h", 0, 3.6e12),
    ("k", 0, 1e3),
    ("M", 0, 1e6),
    ("G", 0, 1e9),
    ("%", 0, 1.0),
    ("x", 0, 1.0),
    ("times", 0, 1.0),
    ("cycles", 0, 1.0),
    ("B", BYTES, 1.0),
    ("kB", BYTES, 1e3),
    ("MB", BYTES, 1e6),
    ("GB", BYTES, 1e9),
    ("KiB", BYTES, 1024.0),
    ("MiB", BYTES, 1048576.0),
    ("GiB", BYTES, 1073741824.0),
    ("B/s", RATE, 1.0),
    ("kB/s", RATE, 1e3),
    ("MB/s", RATE, 1e6),
    ("GB/s", RATE, 1e9),
    ("Hz", FREQUENCY, 1.0),
    ("MHz", FREQUENCY, 1e6),
    ("GHz", FREQUENCY, 1e9),
];

/// A kind, and the value in its base unit.
pub(super) type SortKey = (u8, f64);

/// What a cell is sorted by; `None` of one that is sorted by its text.
pub(super) fn sort_key(cell: &Cell, column: &Column) -> Option<SortKey> {
    match &cell.value {
        Value::Text(text) if column.right => quantity(text),
        Value::Text(_) | Value::Bar { .. } | Value::Strip { .. } => None,
        Value::Number(number) => Some((0, number.value)),
        // Its text has the unit that is right for it.
        Value::Figure { .. } | Value::Digits(_) => {
            quantity(&cell.parts("")[0]).map(|(kind, rounded)| match &cell.value {
                Value::Figure { ns, unit, .. } if *unit == Unit::Time => (kind, ns.value),
                _ => (kind, rounded),
            })
        }
    }
}

/// The value of a text that begins with a number and its unit: `12.3 ms`, `+40 %`,
/// `2.0x faster`.
fn quantity(text: &str) -> Option<SortKey> {
    let text = text.trim().replace('−', "-");
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c)));
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.parse().ok()?;
    let mut words = rest.split_whitespace();
    let unit = words.next().unwrap_or("");
    let after = words.next().unwrap_or("");
    let &(_, kind, size) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    match after {
        "faster" => Some((kind, 1.0 / number)),
        "" | "slower" | "longer" | "to" => Some((kind, number * size)),
        // An interval or a remark.
        other if other.starts_with(['(', '±', '+', '-']) => Some((kind, number * size)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::stats::Interval;
    use model::story::{left, right};

    #[test]
    fn values_not_texts() {
        assert_eq!(quantity("12.3 ms"), Some((0, 12.3e6)));
        assert_eq!(quantity("300 µs"), Some((0, 300e3)));
        assert_eq!(quantity("1.5 KiB"), Some((BYTES, 1536.0)));
        assert_eq!(quantity("+40 % (8 to 9)"), Some((0, 40.0)));
        assert_eq!(quantity("-3"), Some((0, -3.0)));
        assert_eq!(quantity("2.0x slower"), Some((0, 2.0)));
        assert_eq!(quantity("2.0x faster"), Some((0, 0.5)));
        for text in ["", "-", "ns", "3 of 4", "below resolution", "1.2.3", "5 parsecs"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn a_figure_keeps_the_digits_that_its_text_lacks() {
        let time = Cell::time(Some(Interval::about(150_123.0, 2e3)));
        assert_eq!(sort_key(&time, &right("time")), Some((0, 150_123.0)));
        assert_eq!(sort_key(&"12".into(), &right("times")), Some((0, 12.0)));
        assert_eq!(sort_key(&"12".into(), &left("name")), None);
    }
}
