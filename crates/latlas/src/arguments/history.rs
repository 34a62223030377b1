//! Options of `latlas history`.

use super::{Color, InvalidValue};
use clap::Args;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Prints the row in all stored runs of a machine, oldest first, and marks changes of the machine's
setup, of latlas, and of the level. docs/history.md describes the change detection.

Examples:
  latlas history memory.latency/L2               Show a row
  latlas history memory.latency --at 16KiB       Show a point of a curve
  latlas history memory.mountain --at 8MiB,64    Show a point of a map (row, column)
  latlas history cpu.div_i64 --since 2026-11-01  Show runs since a date
  latlas history cpu.div_i64 --machine lab1      Show another machine
  latlas history sched.switch --last 20 --json

Exit codes:
  0  printed
  2  no such row, machine or run
  3  no run has a figure for the row";

/// Options of `latlas history`.
#[derive(Args, Debug, Clone)]
pub(crate) struct HistoryOptions {
    /// The row
    #[arg(value_name = "ROW")]
    pub(crate) row: String,
    /// A point of a curve, or row and column of a map: numbers or sizes
    #[arg(long, value_name = "X[,Y]", value_parser = point, value_delimiter = ',')]
    pub(crate) at: Vec<u64>,
    /// Show another machine: a host name, or the start of a machine key
    #[arg(long, value_name = "KEY|HOST")]
    pub(crate) machine: Option<String>,
    /// Show the N newest runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: Option<u32>,
    /// Show runs since then: 2026-11-01, "2026-11-01 12:00:00" (UTC), or 30d (ago)
    #[arg(long, value_name = "DATE", value_parser = since)]
    pub(crate) since: Option<u64>,
    /// Print clock cycles (default for rows bound by the core clock)
    #[arg(long, conflicts_with = "ns")]
    pub(crate) cycles: bool,
    /// Print nanoseconds
    #[arg(long)]
    pub(crate) ns: bool,
    /// List all runs with id and the reason of the verdict
    #[arg(long)]
    pub(crate) wide: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn point(text: &str) -> Result<u64, InvalidValue> {
    model::size::parse(text).ok_or(InvalidValue::Point)
}

/// ms since 1970 UTC of a date, or of so long ago.
fn since(text: &str) -> Result<u64, InvalidValue> {
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
        .ok_or(InvalidValue::Date)
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
