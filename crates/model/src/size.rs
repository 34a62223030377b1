//! Byte sizes as people write them: `16KiB`, `256MiB`.

/// Writes a size in the largest binary unit that divides it exactly;
/// otherwise with one decimal of the unit below which it stays readable.
///
/// ```
/// assert_eq!(model::size::format_size(16 * 1024), "16KiB");
/// assert_eq!(model::size::format_size(1_448), "1448B");
/// assert_eq!(model::size::format_size(19_456), "19KiB");
/// assert_eq!(model::size::format_size(11_863_296), "11.3MiB");
/// ```
pub fn format_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (size, name) in UNITS {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{}{name}", bytes / size);
        }
    }
    for (size, name) in UNITS {
        if bytes >= 8 * size {
            return format!("{:.1}{name}", bytes as f64 / size as f64);
        }
    }
    format!("{bytes}B")
}

/// Writes a size to about three digits, for sizes that were not chosen.
///
/// ```
/// assert_eq!(model::size::about(535_773_184), "511MiB");
/// assert_eq!(model::size::about(1500), "1500B");
/// ```
pub fn about(bytes: u64) -> String {
    for (size, name) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= 4 * size {
            let value = bytes as f64 / size as f64;
            let decimals = usize::from(value < 100.0);
            return format!("{value:.decimals$}{name}");
        }
    }
    format!("{bytes}B")
}

/// Reads what [`format_size`] writes, and the decimal forms (`50kB`, `1MB`).
/// `None` for anything else.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" | "K" | "k" => 1024.0,
        "MiB" | "M" => 1024.0 * 1024.0,
        "GiB" | "G" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number * unit;
    (bytes.is_finite() && (0.0..9e15).contains(&bytes)).then_some(bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_back() {
        for bytes in [1, 512, 1024, 3072, 1 << 20, 3 << 20, 1 << 30] {
            assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }
        assert_eq!(parse_size("50kB"), Some(50_000));
        assert_eq!(parse_size("12 parsecs"), None);
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("1e9"), None);
    }
}
