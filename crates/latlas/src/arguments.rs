//! The command line of `latlas`: the list of commands and the options of `run` here, the options of each
//! other command in a file of its name. Options that several commands have are in `controls.rs`,
//! `recorded.rs`, `wait.rs` and `length.rs`; `groups.rs`, `layout.rs` and `page.rs` lay out the help. What commands do is
//! in `command/`.

mod alone;
pub mod atlas;
pub mod ci;
pub mod compare;
pub mod completions;
pub mod config;
pub mod controls;
pub mod exec;
pub mod export;
pub mod fit;
mod groups;
pub mod help;
pub mod history;
pub mod import;
mod invalid;
pub mod judge;
pub(crate) mod layout;
pub mod length;
pub mod man;
pub mod noise;
pub mod pack;
pub mod page;
pub mod plot;
pub mod qos;
pub mod recorded;
pub mod report;
pub mod run_json;
pub mod selftest;
mod table;
pub mod trace;
pub mod wait;

pub use invalid::InvalidValue;
pub use table::TableOptions;

use crate::config::CommandLine;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use run_json::RunJsonOptions;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Measure what common operations cost on this machine
///
/// Without a command, latlas measures about 30 common operations in 15 s and prints them on one
/// screen; with --quick or --full, all rows.
#[derive(Parser, Debug)]
#[command(
    name = "latlas",
    version,
    disable_help_subcommand = true,
    override_usage = "latlas [OPTIONS]\n       latlas [--config FILE | --no-config] <COMMAND>",
    after_long_help = "\
Examples:
  latlas                      Measure about 30 common operations (15 s)
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
pub struct Arguments {
    #[command(flatten)]
    pub run: RunOptions,
    #[command(flatten)]
    pub config: config::ConfigOptions,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl CommandLine for Arguments {
    const PROGRAM: Option<&str> = None;

    fn command() -> clap::Command {
        #[cfg(test)]
        WHOLE.set(WHOLE.get() + 1);
        <Arguments as CommandFactory>::command()
    }

    fn of_one_command(words: &[OsString]) -> Option<Arguments> {
        alone::one_command(words)
    }

    fn configuration(&self) -> &config::ConfigOptions {
        &self.config
    }

    /// A program beside latlas reads it itself.
    fn ignores_configuration(&self) -> bool {
        use Command::{Beside, Completions, Config, Help, Man};
        matches!(self.command, Some(Config(_) | Completions(_) | Help(_) | Man(_) | Beside(_)))
    }

    /// They show or restore settings of the system.
    fn works_without(&self) -> bool {
        use noise::NoiseCommand::{Restore, Show};
        matches!(self.command, Some(Command::Noise(Show(_) | Restore(_))))
    }
}

#[cfg(test)]
thread_local! {
    /// How often the options of all commands were built.
    pub(crate) static WHOLE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// The command line as it is parsed.
pub fn command() -> clap::Command {
    <Arguments as CommandLine>::command()
}

/// A command line, of latlas or of a program beside it, with helps as wide as `columns`.
pub fn helpful(command: clap::Command, columns: usize) -> clap::Command {
    let command = layout::laid_out(command, columns);
    match command.find_subcommand("run") {
        Some(_) => groups::grouped(command, columns.min(layout::WIDEST)),
        // A program beside latlas has one command.
        None => command,
    }
}

/// The commands; `command/` has a file for each.
#[derive(Subcommand, Debug)]
pub enum Command {
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
  latlas run --json | jq .ns_per_op       Print an object for each row
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
  latlas explain 'cache miss'      List the rows that a word means
  latlas explain percentile        Explain a term
  latlas explain cpu.div_u64_as_ash
  latlas explain memory.latency --json")]
    Explain {
        /// A row, probe, group or cache level, a term, or what it is called elsewhere: syscall, ssd
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
  latlas show last~1 last          Print what moved between two runs
  latlas show run.json.zst --vs iphone-x
  latlas show --vs m7i.large       Beside the published figures of a cloud type, board or CPU

Exit codes:
  0  printed (an interrupted run too; it is marked PARTIAL)
  2  the request can't be carried out")]
    Show {
        /// A file, `last`, `last~1`, a tag, or the start of a run's id; of two, what moved
        #[arg(value_name = "RUN", default_value = "last", num_args = 1..=2)]
        runs: Vec<String>,
        #[command(flatten)]
        json: RunJsonOptions,
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
  latlas table kurkin --vs 5e0c    Add a column: the run of a phone that was imported
  latlas table 2012 --vs m7i.large Add a column: a cloud type, board or CPU
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
    /// Judge two builds of a benchmark suite, and fail on a regression
    #[command(after_help = judge::HELP)]
    Judge(Box<judge::JudgeOptions>),
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
    /// Print a page of the documentation, or the options of a command
    #[command(after_help = help::EXAMPLES)]
    Help(help::HelpOptions),
    /// Print or write the manual pages
    #[command(after_help = man::EXAMPLES)]
    Man(man::ManOptions),
    /// A program beside latlas and its words
    #[command(external_subcommand)]
    Beside(Vec<OsString>),
}

/// Address and limits of the echo server.
#[derive(Args, Debug, Clone)]
pub struct EchoOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7411")]
    pub listen: String,
    /// Allow an address that other machines can reach
    #[arg(long)]
    pub allow_remote: bool,
    /// Maximum number of connections; further ones are closed
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub connections: u32,
    /// Buffer size of a connection, in bytes
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub message_bytes: u32,
    /// Close connections that are idle for this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = idle)]
    pub idle: Duration,
}

impl Arguments {
    /// The packs named on the command line; `None` for commands that need no rows of packs.
    pub fn packs(&self) -> Option<&[PathBuf]> {
        let named = match &self.command {
            None => &self.run.packs,
            Some(Command::Run { options, .. }) => &options.packs,
            Some(Command::List { packs, .. } | Command::Explain { packs, .. }) => packs,
            Some(Command::Table(options)) => &options.packs,
            Some(Command::Trace(options)) => &options.packs,
            Some(Command::Selftest(_) | Command::History(_) | Command::Report(_)) => {
                return Some(&[]);
            }
            Some(_) => return None,
        };
        Some(&named.files)
    }
}

/// Options of `latlas run`, and of latlas without a command.
#[derive(Args, Debug, Clone, Default)]
pub struct RunOptions {
    /// Measure fewer points in fewer rounds
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Measure all rows and all points
    #[arg(long)]
    pub full: bool,
    /// Time limit, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Duration>,
    /// Seed of the random order, to repeat a run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Measure on this CPU (default: the quietest)
    #[arg(long, value_name = "CPU")]
    pub pin: Option<u32>,
    #[command(flatten)]
    pub controls: controls::ControlOptions,
    /// Disable the default controls (pinning, separate sessions)
    #[arg(long, conflicts_with_all = ["pin", "nice", "autogroup", "fifo", "shield", "core_kind"])]
    pub no_controls: bool,
    /// Measure in this process, without worker processes: intervals don't include the variation
    /// between processes
    #[arg(long)]
    pub in_process: bool,
    /// Drop the page cache once before measuring (root)
    #[arg(long, conflicts_with = "warm")]
    pub cold: bool,
    /// Keep the page cache (default)
    #[arg(long)]
    pub warm: bool,
    /// Use only the fastest or the slowest cores of a hybrid CPU
    #[arg(long, value_name = "KIND")]
    pub core_kind: Option<CoreKind>,
    /// Address of a `latlas echo` on another machine, for net.*_peer rows
    #[arg(long, value_name = "HOST:PORT", value_parser = peer)]
    pub peer: Option<String>,
    /// Directory for temporary files of file.* and disk.* rows (default: the cache directory or
    /// /var/tmp, whichever is on a disk)
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub packs: pack::PackOptions,
    /// Print what would be measured, and the estimated time
    #[arg(long, conflicts_with_all = ["document", "out", "vs", "all", "wide", "human", "frames"])]
    pub dry_run: bool,
    /// Afterwards trace each row whose operations are timed one by one, and explain its slowest ones
    #[arg(long, conflicts_with_all = ["json", "document", "dry_run"])]
    pub trace_tails: bool,
    #[command(flatten)]
    pub json: RunJsonOptions,
    /// Also write the Run document to this file: .json, or compressed .zst
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Compare with a baseline (a tag or run) and exit 1 if a row is significantly slower; slower
    /// rows are measured again first
    #[arg(long, value_name = "TAG|RUN", conflicts_with = "dry_run")]
    pub baseline: Option<String>,
    /// Allowed increase of a row's time (default: 5%)
    #[arg(long, value_name = "PERCENT", value_parser = compare::parse_percent, requires = "baseline", conflicts_with = "dry_run")]
    pub fail_above: Option<f64>,
    #[command(flatten)]
    pub wait: wait::WaitOptions,
    #[command(flatten)]
    pub look: Look,
}

/// How a run is printed.
#[derive(Args, Debug, Clone, Default)]
pub struct Look {
    /// Add a column with a published table (2012, iphone-x, ...), or with the figures of a cloud type,
    /// board or CPU: m7i.large, rock-5b, ryzen-9-5900x (repeatable)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "document"])]
    pub vs: Vec<String>,
    /// Print every row and curve, and why rows are uncertain
    #[arg(long, conflicts_with_all = ["json", "document"])]
    pub all: bool,
    /// Print all columns, and all points of curves with their reasons
    #[arg(long, conflicts_with_all = ["json", "document"])]
    pub wide: bool,
    /// Add a column scaled to 1 ns = 1 s
    #[arg(long, conflicts_with_all = ["json", "document"])]
    pub human: bool,
    /// Add operations per frame at 60 Hz (16.67 ms)
    #[arg(long, conflicts_with_all = ["json", "document"])]
    pub frames: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Don't page a long result ($PAGER, or less)
    #[arg(long)]
    pub no_pager: bool,
}

/// A kind of core of a hybrid CPU.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreKind {
    /// The fastest kind
    Performance,
    /// The slowest kind
    Efficiency,
}

/// When to use colors.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
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
