//! Points of time as text. The calendar is the proleptic Gregorian one; days
//! to dates after Howard Hinnant's `civil_from_days`.

/// Year, month, day, hour, minute and second of a time in ms since 1970 UTC.
fn fields(unix_ms: u64) -> [u64; 6] {
    let seconds = unix_ms / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of the year 0, so that leap days end a year.
    let day = days + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    [
        era * 400 + year_of_era + u64::from(month <= 2),
        month,
        day_of_year - (153 * shifted + 2) / 5 + 1,
        second / 3_600,
        second / 60 % 60,
        second % 60,
    ]
}

/// For people: `2026-11-21 01:52:44 UTC`.
pub fn readable_utc(unix_ms: u64) -> String {
    let [year, month, day, hour, minute, second] = fields(unix_ms);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// As ISO 8601 has it: `2026-11-21T01:52:44+00:00`.
pub fn iso(unix_ms: u64) -> String {
    let [year, month, day, hour, minute, second] = fields(unix_ms);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+00:00")
}

/// For file names, which sort by time: `20261121T015244.007Z`.
pub fn stamp(unix_ms: u64) -> String {
    let [year, month, day, hour, minute, second] = fields(unix_ms);
    let ms = unix_ms % 1000;
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        assert_eq!(readable_utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(readable_utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(readable_utc(1_709_251_199_999), "2024-02-29 23:59:59 UTC");
        assert_eq!(readable_utc(1_709_251_200_000), "2024-03-01 00:00:00 UTC");
        assert_eq!(readable_utc(4_102_444_799_000), "2099-12-31 23:59:59 UTC");
        assert_eq!(stamp(1_795_225_964_000), "20261121T015244.000Z");
        assert_eq!(stamp(1_795_225_964_007), "20261121T015244.007Z");
    }
}
