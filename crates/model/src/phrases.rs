//! The small change of sentences: counts with their plural, lists cut short, ranges, short ids.

/// `1 row`, `2 rows`.
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Some of several names, and how many more there are: `a, b and 3 more`.
pub fn several<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A time of so many ms, rounded up: `12 s`, `3 min`.
pub fn rounded_up(ms: u64) -> String {
    in_unit(ms, u64::div_ceil)
}

/// A time of so many ms that has passed, to the nearest: `12 s`, `10 min`. What is planned is [`rounded_up`].
pub fn rounded(ms: u64) -> String {
    in_unit(ms, |ms, unit_ms| (ms + unit_ms / 2) / unit_ms)
}

fn in_unit(ms: u64, round: fn(u64, u64) -> u64) -> String {
    let (unit_ms, unit) = match ms {
        0..120_000 => (1_000, "s"),
        120_000..7_200_000 => (60_000, "min"),
        _ => (3_600_000, "h"),
    };
    format!("{} {unit}", round(ms, unit_ms))
}

/// Numbers as ranges: `0-3, 6`.
pub fn ranges(numbers: &[u32]) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let ranges = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let texts: Vec<String> = ranges
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.to_string(),
            [] => String::new(),
        })
        .collect();
    if texts.is_empty() { "none".into() } else { texts.join(", ") }
}

/// The beginning of a text of a file in a message: it may be as long as the file.
pub fn cut(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of a run's id, by which people name it.
pub fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A text that begins with a capital letter.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_told_to_the_nearest_and_what_is_planned_rounded_up() {
        let both = |ms| (rounded(ms), rounded_up(ms));
        let of = |ms: u64| {
            let (a, b) = both(ms);
            format!("{a}, {b}")
        };
        assert_eq!(of(605_000), "10 min, 11 min");
        assert_eq!(of(1_400), "1 s, 2 s");
        assert_eq!(of(10_000_000), "3 h, 3 h");
    }

    #[test]
    fn numbers_are_listed_as_ranges() {
        assert_eq!(ranges(&[3, 0, 1, 2, 6]), "0-3, 6");
        assert_eq!(ranges(&[]), "none");
        assert_eq!(ranges(&[u32::MAX]), u32::MAX.to_string());
    }
}
