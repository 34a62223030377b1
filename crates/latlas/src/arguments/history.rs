//! Options of `latlas history`.

use super::{Color, InvalidValue, time};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
Prints the row in all stored runs of a machine, oldest first, and marks changes of the machine's
setup, of latlas, and of the level. `latlas help history` describes the change detection.
With --cpus, records what each CPU does from now on: the share of time of programs, the kernel and
the hypervisor. The counters are of all programs, also while a command runs. The figures then go to
standard error; with --json, the command's own output goes there.

Examples:
  latlas history memory.latency/L2               Show a row
  latlas history memory.latency --at 16KiB       Show a point of a curve
  latlas history memory.mountain --at 8MiB,64    Show a point of a map (row, column)
  latlas history cpu.div_i64 --since 2026-11-01  Show runs since a date
  latlas history cpu.div_i64 --machine lab1      Show another machine
  latlas history sched.switch --last 20 --json
  latlas history --cpus --live                   Show how busy each CPU is, as it is now
  latlas history --cpus --for 10s                Record the CPUs for 10 s
  latlas history --cpus --for 15m -- ./program   Record the CPUs while a command runs
  latlas history --cpus --out cpus.html --out cpus.svg -- ./program
                                                 Write a page and a picture

Exit codes:
  0  printed, whatever the command's exit code
  2  no such row, machine or run; the command does not start; --live without a terminal
  3  no run has a figure for the row; nothing was recorded";

/// Options of `latlas history`.
#[derive(Args, Debug, Clone)]
pub struct HistoryOptions {
    /// The row
    #[arg(value_name = "ROW", required_unless_present = "cpus")]
    pub row: Option<String>,
    /// A point of a curve, or row and column of a map: numbers or sizes
    #[arg(long, value_name = "X[,Y]", value_parser = point, value_delimiter = ',')]
    pub at: Vec<u64>,
    /// Show another machine: a host name, or the start of a machine key
    #[arg(long, value_name = "KEY|HOST")]
    pub machine: Option<String>,
    /// Show the N newest runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// Show runs since then: 2026-11-01, "2026-11-01 12:00:00" (UTC), or 30d (ago)
    #[arg(long, value_name = "DATE", value_parser = since)]
    pub since: Option<u64>,
    /// Print clock cycles (default for rows bound by the core clock)
    #[arg(long, conflicts_with = "ns")]
    pub cycles: bool,
    /// Print nanoseconds
    #[arg(long)]
    pub ns: bool,
    /// List all runs with id and the reason of the verdict
    #[arg(long)]
    pub wide: bool,
    /// Print JSON; of --cpus an object for each row
    #[arg(long)]
    pub json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Record what each CPU does from now on, instead of showing a row
    #[arg(long, help_heading = CPUS, conflicts_with_all = [
        "row", "at", "machine", "last", "since", "cycles", "ns", "wide",
    ])]
    pub cpus: bool,
    /// Draw on the terminal what each CPU does now, until q or Ctrl-C
    #[arg(long, help_heading = CPUS, requires = "cpus", conflicts_with_all = ["row", "json", "document", "out", "words"])]
    pub live: bool,
    /// Print the Run document of the recording (JSON)
    #[arg(long, help_heading = CPUS, requires = "cpus", conflicts_with = "json")]
    pub document: bool,
    #[command(flatten)]
    pub recording: RecordingOptions,
}

const CPUS: &str = "CPU history";

/// Options of a recording of CPUs.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = CPUS)]
pub struct RecordingOptions {
    /// Record for this time; a command gets SIGTERM then (default: 10s, or until the command ends)
    #[arg(long = "for", value_name = "TIME", conflicts_with = "row", value_parser = limit)]
    pub limit: Option<Duration>,
    /// Length of the intervals, from 20ms to 1h [default: 100ms; 500ms with --live]
    #[arg(long, value_name = "TIME", conflicts_with = "row", value_parser = interval)]
    pub every: Option<Duration>,
    /// Also write the recording to this file: .html, .svg, .png, .pdf or .json (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with = "row")]
    pub out: Vec<PathBuf>,
    /// Record while this command runs
    #[arg(value_name = "CMD", last = true, conflicts_with = "row")]
    pub words: Vec<OsString>,
}

fn limit(text: &str) -> Result<Duration, InvalidValue> {
    match time(text)? {
        Duration::ZERO => Err(InvalidValue::NoTraceTime),
        limit => Ok(limit),
    }
}

fn interval(text: &str) -> Result<Duration, InvalidValue> {
    Some(time(text)?)
        .filter(|time| (Duration::from_millis(20)..=Duration::from_secs(3600)).contains(time))
        .ok_or(InvalidValue::CpuInterval)
}

fn point(text: &str) -> Result<u64, InvalidValue> {
    model::size::parse_size(text).ok_or(InvalidValue::Point)
}

/// ms since 1970 UTC of a date, or of so long ago.
fn since(text: &str) -> Result<u64, InvalidValue> {
    let text = text.trim();
    let day = text.len() == 10 && text.as_bytes()[4] == b'-';
    let date = if day { format!("{text} 00:00:00") } else { text.to_owned() };
    let ago = |ago: Duration| SystemTime::now().checked_sub(ago);
    let time = humantime::parse_rfc3339_weak(&date)
        .ok()
        .or_else(|| humantime::parse_duration(text).ok().and_then(ago));
    let unix = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    unix.map(|unix| unix.as_millis() as u64).ok_or(InvalidValue::Date)
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
    fn intervals_are_not_shorter_than_ticks() {
        assert_eq!(interval("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(interval("1h"), Ok(Duration::from_secs(3600)));
        for bad in ["19ms", "2h"] {
            assert_eq!(interval(bad), Err(InvalidValue::CpuInterval), "{bad}");
        }
        assert_eq!(limit("0s"), Err(InvalidValue::NoTraceTime));
    }

    #[test]
    fn points_are_numbers_or_sizes() {
        assert_eq!(point("16KiB"), Ok(16_384));
        assert_eq!(point("3"), Ok(3));
        assert!(point("L2").is_err());
    }
}
