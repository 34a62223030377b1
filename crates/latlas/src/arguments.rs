//! The command line.

pub(crate) mod atlas;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod controls;
pub(crate) mod exec;
pub(crate) mod export;
mod groups;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod man;
pub(crate) mod noise;
#[cfg(test)]
mod page;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod selftest;
pub(crate) mod serve;
mod table;

pub(crate) use table::TableOptions;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// What does each common operation cost on this machine?
///
/// Without a command, measures the default rows and prints them as a table.
#[derive(Parser, Debug)]
#[command(
    name = "latlas",
    version,
    override_usage = "latlas [OPTIONS]\n       latlas [--config FILE | --no-config] <COMMAND>",
    after_help = "\
Examples:
  latlas                     measure the default rows, print the table, keep the run
  latlas run --quick         a first look in a few seconds
  latlas run 'cpu.div*'      only some rows
  latlas explain cpu.div_i32 what a row is and how it is measured
  latlas show                the last run again, without measuring
  latlas table ash           a published table with this machine's figures in it

Exit codes: 0 done; 1 a gate that was set is crossed; 2 the request can't be carried out; 3 done,
but the result as a whole should not be relied on (interrupted, or no row is ok), or is kept nowhere."
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

/// One command is one page in `command/`.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Measure rows, print them as a table and keep the run
    #[command(after_help = "\
Examples:
  latlas run                              the default rows
  latlas run memory.latency 'cpu.div*'    rows by name or pattern (quote the pattern)
  latlas run --quick memory.parallelism   a row of --full, named: measured with quick's few visits
  latlas run --budget 30s --seed 7        in at most 30 s, in an order that can be repeated
  latlas run --dry-run --full             what would be measured, and how long it would take
  latlas run 'file.*' --dir /mnt/data      rows of files on the file system of that directory
  latlas run --nice -10                   before the work of others (root)
  latlas run --json --out run.json.zst    the document on stdout, and in a file
  latlas run 'cpu.*' --baseline main --fail-above 5%   exit 1 if a row surely is slower")]
    Run {
        /// Rows by id or probe, at any scale; or patterns with * and ? and groups, which mean the
        /// rows of the scale
        #[arg(value_name = "ROW")]
        rows: Vec<String>,
        #[command(flatten)]
        options: RunOptions,
    },
    /// List all rows
    #[command(after_help = "\
Examples:
  latlas list
  latlas list 'memory.*'
  latlas list --json")]
    List {
        /// Only rows that match: an id or a pattern with * and ?
        #[arg(value_name = "PATTERN")]
        pattern: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what a row is, how it is measured, and what was published of it
    #[command(after_help = "\
Examples:
  latlas explain memory.latency
  latlas explain memory.latency/L1
  latlas explain memory         the rows of a group; L2: those of a level
  latlas explain cpu.div_u64_as_ash
  latlas explain memory.latency --json")]
    Explain {
        /// The row, the probe, the group or the level
        row: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what is known of this machine, and why the rest is not
    #[command(after_help = "\
Examples:
  latlas machine
  latlas machine --json")]
    Machine {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a kept run again, without measuring
    #[command(after_help = "\
Examples:
  latlas show                      the last run
  latlas show --wide               with every column and every point
  latlas show last~1               the one before it
  latlas show 5e0c                 the run whose id begins so
  latlas show run.json.zst --vs iphone-x

Exit codes: 0 printed, whatever the run says: an interrupted one too is marked partial, and it was
latlas run that ended with 3; 2 the request can't be carried out.")]
    Show {
        /// A file, `last`, `last~1`, or the beginning of a run's id
        #[arg(value_name = "RUN", default_value = "last")]
        run: String,
        /// The document itself, as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        look: Look,
    },
    /// Print a published table with this machine's figures in it
    #[command(after_help = "\
Tables: ash (Mike Ash's operations of 2016), kurkin (the tables of Latency Numbers on iPhone),
2012 (Latency Numbers Every Programmer Should Know). Rows that can't be measured here stay in the
table with the reason.

Examples:
  latlas table                     which tables there are
  latlas table ash                 from the kept run that holds most of its rows
  latlas table ash --measure       measure what the table needs, then print it
  latlas table ash --2008          with the figures of 2008 that the article recalls
  latlas table kurkin last --wide  from the last run, with every column
  latlas table 2012 run.json.zst --json

Exit codes: 0 done; 2 the request can't be carried out; 3 printed, but without any figure of this
machine that is ok, or from an interrupted run.")]
    Table(TableOptions),
    /// Set runs, machines or published tables against each other
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareOptions),
    /// Set this machine against itself: the smallest change each row could tell now
    #[command(after_help = selftest::EXAMPLES)]
    Selftest(selftest::SelftestOptions),
    /// Time a command, with what the kernel and the processor count of it
    #[command(after_help = exec::HELP)]
    Exec(Box<exec::ExecOptions>),
    /// Be the other end for `latlas run --peer` on another machine
    #[command(after_help = "\
Sends back every byte it gets, to whoever can reach it; prints where it listens. Holds no data,
and bounds what a stranger can make it spend.

Examples:
  latlas echo                                        for this machine only
  latlas echo --listen 192.0.2.7:7411 --allow-remote for others too
  latlas run net.round_trip_peer --peer 192.0.2.7:7411   on the other machine")]
    Echo(EchoOptions),
    /// See, measure, weigh and quieten the noise of this machine
    #[command(subcommand, after_help = noise::EXAMPLES)]
    Noise(noise::NoiseCommand),
    /// List, tag, delete, check the kept runs
    #[command(subcommand, after_help = atlas::EXAMPLES)]
    Atlas(atlas::AtlasCommand),
    /// Show a row over time on this machine, and where it changed
    #[command(after_help = history::EXAMPLES)]
    History(history::HistoryOptions),
    /// Write one page with all pictures of a run
    #[command(after_help = report::EXAMPLES)]
    Report(report::ReportOptions),
    /// Draw a picture of a run into a file
    #[command(after_help = plot::EXAMPLES)]
    Plot(plot::PlotOptions),
    /// Show the atlas to a browser
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeOptions),
    /// Write a kept run in the format of another tool
    #[command(after_help = export::EXAMPLES)]
    Export(export::ExportOptions),
    /// Keep results of hyperfine, Google Benchmark or criterion as a run
    #[command(after_help = import::EXAMPLES)]
    Import(import::ImportOptions),
    /// Show, or begin, the configuration: defaults of options
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Print a script that completes commands, options and rows in a shell
    #[command(after_help = completions::EXAMPLES)]
    Completions(completions::CompletionsOptions),
    /// Print the manual page, or write those of all commands
    #[command(after_help = man::EXAMPLES)]
    Man(man::ManOptions),
}

/// Where to listen, and the bounds.
#[derive(Args, Debug, Clone)]
pub(crate) struct EchoOptions {
    /// Address and port; port 0 for one that is free
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7411")]
    pub(crate) listen: String,
    /// Listen on an address that other machines can reach
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Connections at once; further ones are closed unanswered
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) connections: u32,
    /// Bytes of a message that are held before they are sent back
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) message_bytes: u32,
    /// Close a connection after so long without traffic
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = idle)]
    pub(crate) idle: Duration,
}

/// What to measure and what to do with it.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct RunOptions {
    /// Few points and rounds: a first look
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Every row and every point
    #[arg(long)]
    pub(crate) full: bool,
    /// Time for measuring, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,
    /// Seed of everything random, to repeat the order of a run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The CPU to measure on; without it the quietest in a short look
    #[arg(long, value_name = "CPU")]
    pub(crate) pin: Option<u32>,
    #[command(flatten)]
    pub(crate) controls: controls::ControlOptions,
    /// None of the controls that a run has by default: not pinned, no session of their own
    #[arg(long, conflicts_with_all = ["pin", "nice", "autogroup", "fifo", "shield", "core_kind"])]
    pub(crate) no_controls: bool,
    /// Drop the whole page cache once, before the first visit (needs root); rows of files bring
    /// back what they read
    #[arg(long, conflicts_with = "warm")]
    pub(crate) cold: bool,
    /// Leave the page cache as it is (default)
    #[arg(long)]
    pub(crate) warm: bool,
    /// Keep to one kind of cores, where there are several: the fastest or the slowest
    #[arg(long, value_name = "KIND")]
    pub(crate) core_kind: Option<CoreKind>,
    /// A `latlas echo` on another machine, for the rows that talk to it
    #[arg(long, value_name = "HOST:PORT", value_parser = peer)]
    pub(crate) peer: Option<String>,
    /// The directory for files of the rows about files and disks; without it one on a disk
    /// (the cache directory or /var/tmp). What is put there is removed again
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print what would be measured and how long it would take (as JSON with --json)
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the Run document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the Run document to this file too (compressed if it ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Set the run against a baseline and exit 1 if a row is surely slower: a tag, or whatever
    /// `latlas compare` takes. What looks slower is measured again (docs/history.md)
    #[arg(long, value_name = "TAG|RUN", conflicts_with = "dry_run")]
    pub(crate) baseline: Option<String>,
    /// By how much a row's time may grow; 5% without it
    #[arg(long, value_name = "PERCENT", value_parser = compare::percent, requires = "baseline")]
    pub(crate) fail_above: Option<f64>,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How a run is drawn.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Look {
    /// Set another published table beside: 2012, mac-pro-2013, iphone-x, ... (may be repeated)
    #[arg(long, value_name = "KEY")]
    pub(crate) vs: Vec<String>,
    /// Every column and every point of a curve
    #[arg(long)]
    pub(crate) wide: bool,
    /// Scale 1 ns to 1 s
    #[arg(long)]
    pub(crate) human: bool,
    /// Count operations per frame at 60 Hz (16.67 ms)
    #[arg(long)]
    pub(crate) frames: bool,
    /// Colour the verdicts
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// Which cores of a machine with several kinds.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreKind {
    /// The fastest kind
    Performance,
    /// The slowest kind
    Efficiency,
}

/// When to colour.
#[derive(ValueEnum, Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn idle(text: &str) -> Result<Duration, String> {
    let idle = budget(text)?;
    if idle.is_zero() {
        return Err("no time at all would close every connection; give at least 1ms".into());
    }
    Ok(idle)
}

fn peer(text: &str) -> Result<String, String> {
    text.rsplit_once(':')
        .filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0))
        .map(|_| text.to_owned())
        .ok_or_else(|| "give host and port, such as 192.0.2.7:7411 or [2001:db8::7]:7411".into())
}

fn budget(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|e| format!("{e}; give a time with its unit, such as 30s or 2m"))
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
        assert_eq!(budget("1m 30s"), Ok(Duration::from_secs(90)));
        for nonsense in ["30", "-5s", "soon", "", "s"] {
            let error = budget(nonsense).expect_err(nonsense);
            assert!(error.contains("such as 30s"), "{error}");
        }
    }

    #[test]
    fn a_peer_has_a_host_and_a_port() {
        for good in ["192.0.2.7:7411", "[2001:db8::7]:7411", "lab-3:1"] {
            assert_eq!(peer(good), Ok(good.to_string()));
        }
        for bad in [
            "192.0.2.7",
            ":7411",
            "lab-3:0",
            "lab-3:http",
            "lab-3:70000",
            "",
        ] {
            let error = peer(bad).expect_err(bad);
            assert!(error.contains("such as 192.0.2.7:7411"), "{error}");
        }
        assert!(idle("0s").is_err());
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
