//! Options of `latlas trace`.

use super::pack::PackOptions;
use super::run_json::RunJsonOptions;
use super::wait::WaitOptions;
use super::{Color, InvalidValue, time};
use clap::{Args, Subcommand, ValueEnum};
use model::trace::Tier;
use model::trace::tails::Over;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use sys::perf::Capture;

/// Shown below `latlas trace --help`.
pub const EXAMPLES: &str = "\
Records when each thread ran, waited for a CPU or was blocked, its system calls and page faults.
How much can be recorded depends on rights; the summary begins with what could and why not more
(`latlas help trace`). The summary of a command goes to standard error, as its output is its own.

Examples:
  sudo latlas trace -- ./program        Trace a command and everything it starts
  latlas trace --out t.zst -- ./program  Trace without root, keep the trace
  sudo latlas trace --stacks -- ./program
                                        Also show where in the program threads were blocked
  sudo latlas trace --usdt -- ./program  Also record hits of its USDT probes
  latlas trace --malloc -- ./program     Also record its malloc, free and zeroing of 64 KiB or more
  latlas trace --pid 4711 --for 5s      Trace a running process for 5 s
  latlas trace sched.pool               Trace what the threads of a row do
  latlas trace sched.wakeup --tails     Say why its slowest operations were slow
  latlas trace show t.zst --all         Print a trace with all threads and calls
  latlas trace why t.zst --span parse   Say why its slow spans were slow
  latlas trace show trace.dat           Read a trace of trace-cmd or Perfetto
  latlas trace diff a.zst b.zst         Compare two traces by their sums
  latlas trace export t.zst -o t.html   Draw the timeline of a trace as a page
  latlas trace export t.zst -o t.pftrace
                                        Convert a trace for https://ui.perfetto.dev

Exit codes:
  0  done, whatever the command's exit code
  2  the request can't be carried out, or the command does not start
  3  done, but no thread was recorded, the buffer was full or too small for --last, or records,
     signposts or stacks are lost";

/// Options of `latlas trace`.
#[derive(Args, Debug, Clone)]
#[command(args_conflicts_with_subcommands = true)]
pub struct TraceOptions {
    #[command(subcommand)]
    pub what: Option<TraceCommand>,
    /// A row, whose operations are run and traced
    #[arg(value_name = "ROW", conflicts_with_all = ["pid", "words"])]
    pub row: Option<String>,
    /// The command and its arguments
    #[arg(value_name = "CMD", last = true, conflicts_with = "pid")]
    pub words: Vec<OsString>,
    /// Trace this process: its threads, and the processes that it starts from now on
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// Record for this time; a command gets SIGTERM then
    #[arg(long = "for", value_name = "TIME", value_parser = limit)]
    pub limit: Option<Duration>,
    /// Keep only the last TIME of the trace; it stops at Ctrl-C, --for, or when the target ends
    /// (not with --stacks or ROW)
    #[arg(long, value_name = "TIME", value_parser = limit, conflicts_with_all = ["row", "stacks"])]
    pub last: Option<Duration>,
    /// Write the trace to this file: as `latlas trace export` does by its ending, or in latlas's own
    /// format (.zst)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Record in this way only (default: the best one possible)
    #[arg(long, value_name = "TIER")]
    pub tier: Option<TierOption>,
    /// Record no system calls and page faults: slows the program down less
    #[arg(long)]
    pub scheduler_only: bool,
    /// Record the stacks of threads that stop running, found by frame pointers (fp) or by
    /// unwinding a copy of SIZE bytes (dwarf,SIZE) [default: dwarf,8192]
    #[arg(long, value_name = "fp|dwarf[,SIZE]", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "dwarf", value_parser = stacks)]
    pub stacks: Option<StackOption>,
    /// Record hits of the program's USDT probes as signposts; with a pattern (* for any text),
    /// of those that match, in its libraries too
    #[arg(long, value_name = "PROVIDER:NAME", num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with = "row")]
    pub usdt: Option<Option<String>>,
    /// Record malloc, calloc, realloc, free and zeroing of SIZE bytes or more in the command
    /// [default: 64KiB]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "64KiB", value_parser = heap_size)]
    #[arg(requires = "words", conflicts_with_all = ["row", "last"])]
    pub malloc: Option<u64>,
    /// Stop recording after this many bytes of records; with --last, drop the oldest instead
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = buffer)]
    pub buffer: u64,
    /// Run the row for this many operations (default: for about 0.1 s)
    #[arg(long, value_name = "N", requires = "row", value_parser = operations)]
    pub operations: Option<u32>,
    /// Explain the slowest operations of the row: those beyond p99.9 (default: of 10000, or of 3 s)
    #[arg(long, requires = "row", conflicts_with = "scheduler_only")]
    pub tails: bool,
    #[command(flatten)]
    pub packs: PackOptions,
    #[command(flatten)]
    pub wait: WaitOptions,
    #[command(flatten)]
    pub look: TraceLook,
}

/// How a trace is printed.
#[derive(Args, Debug, Clone)]
pub struct TraceLook {
    /// Print every thread, call and pair
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub stretch: DrawnSpan,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// The part of a trace that is drawn, or explained.
#[derive(Args, Debug, Clone)]
pub struct DrawnSpan {
    /// Begin at this time of the trace (default: of a row, at a typical operation)
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Duration>,
    /// End at this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<Duration>,
}

impl DrawnSpan {
    /// What is asked for, in ns.
    pub fn ns(&self) -> Option<(u64, u64)> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        (self.from.is_some() || self.to.is_some())
            .then(|| (self.from.map_or(0, ns), self.to.map_or(u64::MAX, ns)))
    }
}

/// Which spans are slow.
#[derive(Debug, Clone, PartialEq)]
pub struct OverOption {
    /// As it is meant,
    pub limit: Over,
    /// and as a percentile is written; empty of a time.
    pub text: String,
}

/// `p99`, `p99.9` or `5ms`
fn over(text: &str) -> Result<OverOption, InvalidValue> {
    match text.strip_prefix('p').map(str::parse::<f64>) {
        Some(Ok(percent)) if percent > 0.0 && percent < 100.0 => {
            Ok(OverOption { limit: Over::Share(percent / 100.0), text: text.to_owned() })
        }
        Some(_) => Err(InvalidValue::Percentile),
        None => {
            let ns = time(text)?.as_nanos();
            let limit = Over::Ns(u64::try_from(ns).unwrap_or(u64::MAX));
            Ok(OverOption { limit, text: String::new() })
        }
    }
}

/// What to do with a trace.
#[derive(Subcommand, Debug, Clone)]
pub enum TraceCommand {
    /// Print a trace
    #[command(after_help = "\
Examples:
  latlas trace show t.zst
  latlas trace show t.zst --all")]
    Show {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        json: RunJsonOptions,
        /// Print only why the slowest spans of each name were slow
        #[arg(long)]
        tails: bool,
        #[command(flatten)]
        look: TraceLook,
    },
    /// Say why the slow spans of a name were slow: which causes, and the worst three
    #[command(after_help = "\
A span is what a program marks: a signpost, a slice of Perfetto, a section of Android's atrace.

Examples:
  latlas trace why t.zst --span parse --over p99
  latlas trace why trace.pftrace --span Choreographer#doFrame --over 16ms")]
    Why {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The name of the spans
        #[arg(long, value_name = "NAME")]
        span: String,
        /// Explain those that take longer: a percentile, or a time
        #[arg(long, value_name = "p99|TIME", default_value = "p99", value_parser = over)]
        over: OverOption,
        #[command(flatten)]
        stretch: DrawnSpan,
        /// When to use colors
        #[arg(long, value_name = "WHEN", default_value = "auto")]
        color: Color,
    },
    /// Compare two traces by their sums: time by thread and state, calls, wake-ups
    #[command(after_help = "\
Threads are compared by name, the largest differences first.

Examples:
  latlas trace diff before.zst after.zst")]
    Diff {
        /// The first trace
        #[arg(value_name = "A")]
        a: PathBuf,
        /// The second trace
        #[arg(value_name = "B")]
        b: PathBuf,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
        /// Print every line
        #[arg(long)]
        all: bool,
        /// When to use colors
        #[arg(long, value_name = "WHEN", default_value = "auto")]
        color: Color,
    },
    /// Draw a trace as a page or a picture, or convert it for Perfetto
    #[command(after_help = "\
Formats, by the ending of FILE:
  .html            a self-contained page with the timeline and the figures
  .svg .png .pdf   a picture of the threads over time
  .pftrace         Perfetto (https://ui.perfetto.dev); standard output too

Examples:
  latlas trace export t.zst -o t.html
  latlas trace export t.zst -o t.svg --from 20ms --to 30ms
  latlas trace export t.zst -o t.pftrace")]
    Export {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Write to this file (- for standard output)
        #[arg(short, long, alias = "output", value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        stretch: DrawnSpan,
    },
}

/// A way of recording.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierOption {
    /// Tracepoints of the scheduler, system calls and page faults (root)
    Full,
    /// Own switches and page faults (kernel.perf_event_paranoid <= 2)
    Own,
    /// Sums of 10 ms
    Minimal,
}

impl From<TierOption> for Tier {
    fn from(option: TierOption) -> Tier {
        match option {
            TierOption::Full => Tier::Full,
            TierOption::Own => Tier::OwnProcess,
            TierOption::Minimal => Tier::Minimal,
        }
    }
}

/// How stacks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackOption {
    /// By frame pointers.
    FramePointers,
    /// In a copy of this many bytes.
    Copy(u32),
}

impl From<StackOption> for Capture {
    fn from(option: StackOption) -> Capture {
        match option {
            StackOption::FramePointers => Capture::FramePointers,
            StackOption::Copy(bytes) => Capture::Copy(bytes),
        }
    }
}

/// As `perf record --call-graph` has it.
fn stacks(text: &str) -> Result<StackOption, InvalidValue> {
    /// As perf has it.
    const BYTES: u32 = 8192;
    let copy = |bytes: u64| u32::try_from(bytes).ok().map(StackOption::Copy);
    let size = |text: &str| {
        let bytes = model::size::parse_size(text)?;
        let possible = (256..=32 << 10).contains(&bytes) && bytes % 8 == 0;
        copy(bytes).filter(|_| possible)
    };
    let option = match text.split_once(',') {
        None if text == "fp" => Some(StackOption::FramePointers),
        None if text == "dwarf" => Some(StackOption::Copy(BYTES)),
        Some(("dwarf", bytes)) => size(bytes),
        _ => None,
    };
    option.ok_or(InvalidValue::Stacks)
}

fn limit(text: &str) -> Result<Duration, InvalidValue> {
    match time(text)? {
        Duration::ZERO => Err(InvalidValue::NoTraceTime),
        limit => Ok(limit),
    }
}

/// Up to 4 GiB: of more records, no trace can hold what they say (`model::limits::TRACE`).
fn buffer(text: &str) -> Result<u64, InvalidValue> {
    model::size::parse_size(text)
        .filter(|bytes| (1 << 20..=4 << 30).contains(bytes))
        .ok_or(InvalidValue::TraceBuffer)
}

fn heap_size(text: &str) -> Result<u64, InvalidValue> {
    model::size::parse_size(text).filter(|&bytes| bytes > 0).ok_or(InvalidValue::HeapSize)
}

fn operations(text: &str) -> Result<u32, InvalidValue> {
    text.parse::<u32>()
        .ok()
        .filter(|number| (1..=200_000).contains(number))
        .ok_or(InvalidValue::Operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_buffers() {
        assert_eq!(limit("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(limit("0s"), Err(InvalidValue::NoTraceTime));
        assert_eq!(buffer("1MiB"), Ok(1 << 20));
        assert_eq!(buffer("4GiB"), Ok(4 << 30));
        for bad in ["1KiB", "4097MiB", "much"] {
            assert_eq!(buffer(bad), Err(InvalidValue::TraceBuffer), "{bad}");
        }
    }

    #[test]
    fn ways_to_find_stacks() {
        assert_eq!(stacks("fp"), Ok(StackOption::FramePointers));
        assert_eq!(stacks("dwarf"), Ok(StackOption::Copy(8192)));
        assert_eq!(stacks("dwarf,1KiB"), Ok(StackOption::Copy(1024)));
        assert_eq!(stacks("dwarf,32768"), Ok(StackOption::Copy(32768)));
        for bad in ["", "lbr", "fp,8", "dwarf,", "dwarf,8", "dwarf,1001", "dwarf,1MiB"] {
            assert_eq!(stacks(bad), Err(InvalidValue::Stacks), "{bad}");
        }
    }

    #[test]
    fn numbers_of_operations_are_bounded() {
        assert_eq!(operations("1"), Ok(1));
        assert_eq!(operations("200000"), Ok(200_000));
        for bad in ["0", "1000001", "4294967295", "-1", "many"] {
            assert_eq!(operations(bad), Err(InvalidValue::Operations), "{bad}");
        }
    }
}
