//! Options of `latlas history`.

use super::Color;
use clap::Args;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Every kept run of this machine that has the row, the oldest first, with marks where the machine's
setup or the program changed, and where the level did. docs/history.md tells the test.

Examples:
  latlas history memory.latency/L2               a row
  latlas history memory.latency --at 16KiB       a point of a curve
  latlas history memory.mountain --at 8MiB,64    a point of a map: line, column
  latlas history cpu.div_i64 --since 2026-11-01  from a day on (also 30d: of the last 30 days)
  latlas history cpu.div_i64 --machine lab1      another machine, by its host or its key
  latlas history sched.switch --last 20 --json

Exit codes: 0 shown, whatever it says; 2 there is no such row, machine or run; 3 no run has a figure
of it.";

/// Which row, where, how.
#[derive(Args, Debug, Clone)]
pub(crate) struct HistoryOptions {
    /// The row
    #[arg(value_name = "ROW")]
    pub(crate) row: String,
    /// The point of a curve, or line and column of a map: numbers or sizes
    #[arg(long, value_name = "X[,Y]", value_parser = point, value_delimiter = ',')]
    pub(crate) at: Vec<u64>,
    /// Another machine than this one: its host's name, or the beginning of its key
    #[arg(long, value_name = "KEY|HOST")]
    pub(crate) machine: Option<String>,
    /// Only so many of the newest runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: Option<u32>,
    /// Only runs from then on: 2026-11-01, "2026-11-01 12:00:00" (UTC), or 30d for the last 30 days
    #[arg(long, value_name = "DATE", value_parser = since)]
    pub(crate) since: Option<u64>,
    /// In clock cycles (rows bound by the core are without asking, where they are known)
    #[arg(long, conflicts_with = "ns")]
    pub(crate) cycles: bool,
    /// In ns
    #[arg(long)]
    pub(crate) ns: bool,
    /// List every run, with its id and its verdict's reason
    #[arg(long)]
    pub(crate) wide: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Colour the verdicts
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn point(text: &str) -> Result<u64, String> {
    model::size::parse(text).ok_or_else(|| "give a number or a size, such as 4 or 16KiB".into())
}

/// ms since 1970 UTC of a date, or of so long ago.
fn since(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let day = text.len() == 10 && text.as_bytes()[4] == b'-';
    let date = match day {
        true => format!("{text} 00:00:00"),
        false => text.to_owned(),
    };
    let ago = |ago: Duration| SystemTime::now().checked_sub(ago);
    let time = humantime::parse_rfc3339_weak(&date)
        .ok()
        .or_else(|| humantime::parse_duration(text).ok().and_then(ago));
    let unix = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    unix.map(|unix| unix.as_millis() as u64)
        .ok_or_else(|| "give a date such as 2026-11-01, or how long ago, such as 30d".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_spans_are_times() {
        assert_eq!(since("1970-01-02"), Ok(86_400_000));
        assert_eq!(since("1970-01-01 00:01:00"), Ok(60_000));
        assert_eq!(since("1970-01-01T00:01:00Z"), Ok(60_000));
        let day_ago = since("1d").expect("a span");
        let now = since("0s").expect("a span");
        assert!((now - day_ago).abs_diff(86_400_000) < 10_000);
        for bad in ["", "yesterday", "2026-13-01", "1969-12-31", "5", "999999y"] {
            assert!(since(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn points_are_numbers_or_sizes() {
        assert_eq!(point("16KiB"), Ok(16_384));
        assert_eq!(point("3"), Ok(3));
        assert!(point("L2").is_err());
    }
}
