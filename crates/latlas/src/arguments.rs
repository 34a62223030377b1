//! The command line.

pub(crate) mod atlas;
pub(crate) mod ci;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod controls;
pub(crate) mod exec;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod fleet;
pub(crate) mod fleet_report;
mod groups;
pub(crate) mod history;
pub(crate) mod import;
mod invalid;
pub(crate) mod length;
pub(crate) mod man;
pub(crate) mod noise;
pub(crate) mod pack;
#[cfg(test)]
mod page;
pub(crate) mod plot;
pub(crate) mod qos;
pub(crate) mod recorded;
pub(crate) mod report;
pub(crate) mod selftest;
pub(crate) mod serve;
mod table;
pub(crate) mod trace;
pub(crate) mod wait;

pub(crate) use invalid::InvalidValue;
pub(crate) use table::TableOptions;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Measure what common operations cost on this machine
///
/// Without a command, latlas measures about 25 common operations in 15 s and prints them on one
/// screen; with --quick or --full, all rows.
#[derive(Parser, Debug)]
#[command(
    name = "latlas",
    version,
    override_usage = "latlas [OPTIONS]\n       latlas [--config FILE | --no-config] <COMMAND>",
    after_help = "\
Examples:
  latlas                      Measure about 25 common operations (15 s)
  latlas run                  Measure the whole atlas (75 s)
  latlas run --quick          Measure all rows with few samples (14 s)
  latlas run 'cpu.div*'       Measure some rows
  latlas explain cpu.div_i32  Describe a row and its method
  latlas show --all           Print every row and reason of the last run
  latlas table ash            Fill in a published table with this machine's figures

Exit codes:
  0  done
  1  a row crossed the gate set with --fail-above
  2  the request can't be carried out, or standard output can't be written
  3  done, but the result is unreliable (interrupted, or no row is ok) or was not stored"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) run: RunOptions,
    #[command(flatten)]
    pub(crate) config: config::ConfigOptions,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The command line as it is shown and parsed.
pub(crate) fn command() -> clap::Command {
    groups::grouped(Arguments::command())
}

/// The commands; `command/` has a file for each.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Measure rows, print a table and store the run
    #[command(after_help = "\
Examples:
  latlas run                              Measure the whole atlas
  latlas run overview --budget 60s        Measure the common operations for longer
  latlas run memory.latency 'cpu.div*'    Measure rows by id or pattern
  latlas run --quick memory.parallelism   Measure a row of --full with few samples
  latlas run --budget 30s --seed 7        Take at most 30 s, in a reproducible order
  latlas run --dry-run --full             Print what would be measured, and the time
  latlas run 'file.*' --dir /mnt/data     Measure the file system of this directory
  latlas run --nice -10                   Raise the scheduling priority (root)
  latlas run --json --out run.json.zst    Print the document and write it to a file
  latlas run --pack mine.so 'mine.*'      Measure the rows of a probe pack
  latlas run 'cpu.*' --baseline main --fail-above 5%
                                          Exit 1 if a row is significantly slower")]
    Run {
        /// Rows: ids and probes (at any scale), or groups and patterns with * and ? (rows of the
        /// scale)
        #[arg(value_name = "ROW")]
        rows: Vec<String>,
        #[command(flatten)]
        options: RunOptions,
    },
    /// List the rows that can be measured
    #[command(after_help = "\
Examples:
  latlas list
  latlas list memory       List the rows of a group
  latlas list 'memory.*'   List the rows that match a pattern
  latlas list div          List the rows whose id or title contains a word
  latlas list --json")]
    List {
        #[command(flatten)]
        packs: pack::PackOptions,
        /// List only matching rows: an id, a group, a pattern with * and ?, or a word of id or title
        #[arg(value_name = "PATTERN")]
        pattern: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Describe a row: operation, method, sources, published values
    #[command(after_help = "\
Examples:
  latlas explain memory.latency
  latlas explain memory.latency/L1
  latlas explain memory            List the rows of a group
  latlas explain L2                List the rows of a cache level
  latlas explain 'system call'     Describe an operation of `latlas`
  latlas explain div               List the rows whose id or title contains a word
  latlas explain cpu.div_u64_as_ash
  latlas explain memory.latency --json")]
    Explain {
        /// A row, probe, group or cache level, or a word of id or title
        row: String,
        #[command(flatten)]
        packs: pack::PackOptions,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print this machine's hardware, kernel and settings
    #[command(after_help = "\
Examples:
  latlas machine
  latlas machine --json")]
    Machine {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a stored run
    #[command(after_help = "\
Examples:
  latlas show                      Print the last run
  latlas show --all                Print every row, curve and reason
  latlas show --wide               Print all columns and points
  latlas show last~1               Print the run before the last one
  latlas show 5e0c                 Print the run whose id starts with 5e0c
  latlas show run.json.zst --vs iphone-x

Exit codes:
  0  printed (an interrupted run too; it is marked PARTIAL)
  2  the request can't be carried out")]
    Show {
        /// A file, `last`, `last~1`, a tag, or the start of a run's id
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
        /// Print the Run document (JSON)
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        look: Look,
    },
    /// Fill in a published table with this machine's figures
    #[command(after_help = "\
Tables: ash (Mike Ash's operations, 2016), kurkin (Latency Numbers on iPhone), 2012 (Latency Numbers
Every Programmer Should Know). Rows that can't be measured here are printed with the reason.

Examples:
  latlas table                     List the tables
  latlas table ash                 Use the stored run that has most of the table's rows
  latlas table ash --measure       Measure the table's rows first
  latlas table ash --2008          Add the article's values of 2008
  latlas table kurkin last --wide  Use the last run, print all columns
  latlas table kurkin --with 5e0c  Add a column: the run of a phone that was imported
  latlas table 2012 run.json.zst --json

Exit codes:
  0  done
  2  the request can't be carried out
  3  printed, but no figure of this machine is ok, or the run was interrupted")]
    Table(TableOptions),
    /// Compare runs, machines or published tables
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareOptions),
    /// A/A test: the smallest change detectable on this machine
    #[command(after_help = selftest::EXAMPLES)]
    Selftest(selftest::SelftestOptions),
    /// Is this the machine it should be? Compare it with a fleet's hosts
    #[command(after_help = fit::EXAMPLES)]
    Fit(Box<fit::FitOptions>),
    /// Time a command, with OS and hardware counters
    #[command(after_help = exec::HELP)]
    Exec(Box<exec::ExecOptions>),
    /// Compare two builds by commands run in both, and fail on a regression
    #[command(after_help = ci::HELP)]
    Ci(Box<ci::CiOptions>),
    /// Record what each thread of a command or process did
    #[command(after_help = trace::EXAMPLES)]
    Trace(Box<trace::TraceOptions>),
    /// Measure what quality of service does to real work, alone and competing
    #[command(after_help = qos::EXAMPLES)]
    Qos(Box<qos::QosOptions>),
    /// Run the echo server for `latlas run --peer`
    #[command(after_help = "\
Sends every received byte back and prints its address. Stores no data; connections, memory and idle
time are limited.

Examples:
  latlas echo                                           Serve this machine only
  latlas echo --listen 192.0.2.7:7411 --allow-remote    Serve other machines
  latlas run net.round_trip_peer --peer 192.0.2.7:7411  Measure from the other machine")]
    Echo(EchoOptions),
    /// Show, measure and reduce the noise of this machine
    #[command(subcommand, after_help = noise::EXAMPLES)]
    Noise(noise::NoiseCommand),
    /// Measure many hosts: one campaign, complete or with what is missing
    #[command(subcommand, after_help = fleet::EXAMPLES)]
    Fleet(fleet::FleetCommand),
    /// List, tag, delete and check stored runs
    #[command(subcommand, after_help = atlas::EXAMPLES)]
    Atlas(atlas::AtlasCommand),
    /// Show a row over time, with its changes; record CPUs over time
    #[command(after_help = history::EXAMPLES)]
    History(Box<history::HistoryOptions>),
    /// Write an HTML report of a run
    #[command(after_help = report::EXAMPLES)]
    Report(report::ReportOptions),
    /// Draw a chart of a run as SVG or PNG
    #[command(after_help = plot::EXAMPLES)]
    Plot(plot::PlotOptions),
    /// Serve stored runs over HTTP
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeOptions),
    /// Write a stored run in another tool's format
    #[command(after_help = export::EXAMPLES)]
    Export(export::ExportOptions),
    /// Store results of hyperfine, Google Benchmark or criterion
    #[command(after_help = import::EXAMPLES)]
    Import(import::ImportOptions),
    /// Create and check probe packs: libraries with operations of your own
    #[command(subcommand, after_help = pack::EXAMPLES)]
    Pack(pack::PackCommand),
    /// Show or create the configuration file
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Print a shell completion script
    #[command(after_help = completions::EXAMPLES)]
    Completions(completions::CompletionsOptions),
    /// Print or write the manual pages
    #[command(after_help = man::EXAMPLES)]
    Man(man::ManOptions),
}

/// Address and limits of the echo server.
#[derive(Args, Debug, Clone)]
pub(crate) struct EchoOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7411")]
    pub(crate) listen: String,
    /// Allow an address that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Maximum number of connections; further ones are closed
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) connections: u32,
    /// Buffer size of a connection, in bytes
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) message_bytes: u32,
    /// Close connections that are idle for this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = idle)]
    pub(crate) idle: Duration,
}

impl Arguments {
    /// The packs named on the command line; `None` for commands that need no rows of packs.
    pub(crate) fn packs(&self) -> Option<&[PathBuf]> {
        let named = match &self.command {
            None => &self.run.packs,
            Some(Command::Run { options, .. }) => &options.packs,
            Some(Command::List { packs, .. } | Command::Explain { packs, .. }) => packs,
            Some(Command::Table(options)) => &options.packs,
            Some(Command::Trace(options)) => &options.packs,
            Some(
                Command::Selftest(_) | Command::History(_) | Command::Report(_) | Command::Serve(_),
            ) => return Some(&[]),
            Some(_) => return None,
        };
        Some(&named.files)
    }
}

/// Options of `latlas run`, and of latlas without a command.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// Measure fewer points in fewer rounds
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Measure all rows and all points
    #[arg(long)]
    pub(crate) full: bool,
    /// Time limit, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,
    /// Seed of the random order, to repeat a run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Measure on this CPU (default: the quietest)
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    #[command(flatten)]
    pub(crate) controls: controls::ControlOptions,
    /// Disable the default controls (pinning, separate sessions)
    #[arg(long, conflicts_with_all = ["pin", "nice", "autogroup", "fifo", "shield", "core_kind"])]
    pub(crate) no_controls: bool,
    /// Measure in this process, without worker processes: intervals don't include the variation
    /// between processes
    #[arg(long)]
    pub(crate) in_process: bool,
    /// Drop the page cache once before measuring (root)
    #[arg(long, conflicts_with = "warm")]
    pub(crate) cold: bool,
    /// Keep the page cache (default)
    #[arg(long)]
    pub(crate) warm: bool,
    /// Use only the fastest or the slowest cores of a hybrid CPU
    #[arg(long, value_name = "KIND")]
    pub(crate) core_kind: Option<CoreKind>,
    /// Address of a `latlas echo` on another machine, for net.*_peer rows
    #[arg(long, value_name = "HOST:PORT", value_parser = peer)]
    pub(crate) peer: Option<String>,
    /// Directory for temporary files of file.* and disk.* rows (default: the cache directory or
    /// /var/tmp, whichever is on a disk)
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) packs: pack::PackOptions,
    /// Print what would be measured, and the estimated time
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Afterwards trace each row that stamps its operations, and say why its slowest ones were slow
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    pub(crate) trace_tails: bool,
    /// Print the Run document (JSON) instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the Run document to this file: .json, or compressed .zst
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Compare with a baseline (a tag or run) and exit 1 if a row is significantly slower; slower
    /// rows are measured again first
    #[arg(long, value_name = "TAG|RUN", conflicts_with = "dry_run")]
    pub(crate) baseline: Option<String>,
    /// Allowed increase of a row's time (default: 5%)
    #[arg(long, value_name = "PERCENT", value_parser = compare::parse_percent, requires = "baseline")]
    pub(crate) fail_above: Option<f64>,
    #[command(flatten)]
    pub(crate) wait: wait::WaitOptions,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How a run is printed.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Look {
    /// Add a column with a published table: 2012, mac-pro-2013, iphone-x, ... (repeatable)
    #[arg(long, value_name = "KEY", conflicts_with = "json")]
    pub(crate) vs: Vec<String>,
    /// Print every row and curve, and why rows are uncertain
    #[arg(long)]
    pub(crate) all: bool,
    /// Print all columns, and all points of curves with their reasons
    #[arg(long)]
    pub(crate) wide: bool,
    /// Add a column scaled to 1 ns = 1 s
    #[arg(long, conflicts_with = "json")]
    pub(crate) human: bool,
    /// Add operations per frame at 60 Hz (16.67 ms)
    #[arg(long, conflicts_with = "json")]
    pub(crate) frames: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// A kind of core of a hybrid CPU.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreKind {
    /// The fastest kind
    Performance,
    /// The slowest kind
    Efficiency,
}

/// When to use colors.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn idle(text: &str) -> Result<Duration, InvalidValue> {
    let idle = time(text)?;
    if idle.is_zero() {
        return Err(InvalidValue::NoIdleTime);
    }
    Ok(idle)
}

fn peer(text: &str) -> Result<String, InvalidValue> {
    text.rsplit_once(':')
        .filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0))
        .map(|_| text.to_owned())
        .ok_or(InvalidValue::Address)
}

/// Longest time of a measurement.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

fn budget(text: &str) -> Result<Duration, InvalidValue> {
    match time(text)? {
        time if time > LONGEST => Err(InvalidValue::LongTime),
        time => Ok(time),
    }
}

fn time(text: &str) -> Result<Duration, InvalidValue> {
    Ok(humantime::parse_duration(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn a_budget_is_a_time_with_a_unit() {
        assert_eq!(budget("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(budget("1m 30sec"), Ok(Duration::from_secs(90)));
        assert_eq!(budget("24h"), Ok(LONGEST));
        for long in ["24h 1s", "999999999999h"] {
            assert_eq!(budget(long), Err(InvalidValue::LongTime));
        }
        for nonsense in ["30", "-5s", "soon", "", "s"] {
            let error = budget(nonsense).expect_err(nonsense);
            assert!(matches!(error, InvalidValue::Time(_)), "{error}");
        }
    }

    #[test]
    fn a_peer_has_a_host_and_a_port() {
        for good in ["192.0.2.7:7411", "[2001:db8::7]:7411", "lab-3:1"] {
            assert_eq!(peer(good), Ok(good.to_string()));
        }
        for bad in ["192.0.2.7", ":7411", "lab-3:0", "lab-3:http", "lab-3:70000", ""] {
            assert_eq!(peer(bad), Err(InvalidValue::Address), "{bad}");
        }
        assert_eq!(idle("0s"), Err(InvalidValue::NoIdleTime));
    }

    #[test]
    fn every_command_has_examples() {
        for command in command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let example = format!("latlas {}", command.get_name());
            assert!(help.contains(&example), "{}", command.get_name());
        }
    }
}
