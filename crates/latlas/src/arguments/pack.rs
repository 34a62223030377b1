//! Options of `latlas pack`, and `--pack`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
A probe pack is a shared library with operations of your own, in any language with a C ABI
(`latlas help packs`). Its rows are measured, judged and stored like all others, in separate processes.

Examples:
  latlas pack new c mine             Create a project with one probe
  make -C mine                       Build it
  latlas pack check mine/mine.so     Try its probes and report errors
  latlas run --pack mine/mine.so 'mine.*'
                                     Measure its rows

Exit codes:
  0  done; probes that are not available here are no fault
  1  a probe of the pack has a fault
  2  the request can't be carried out, or the file is not a pack";

/// The commands of `latlas pack`.
#[derive(Subcommand, Debug)]
pub enum PackCommand {
    /// Create a project with one probe that builds
    #[command(after_help = "\
Examples:
  latlas pack new c mine
  latlas pack new rust my_crate_ops")]
    New {
        /// Language
        #[arg(value_name = "LANGUAGE")]
        language: Language,
        /// Name of the directory, the pack and the group of its rows: a-z, digits and _
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Load a pack in a child process, try each probe briefly and report errors
    #[command(after_help = "\
Examples:
  latlas pack check mine/mine.so
  latlas pack check mine/mine.so --json

Exit codes:
  0  no fault
  1  a probe has a fault
  2  the file is not a pack")]
    Check {
        /// The shared library
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Language of a new pack.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11
    C,
    /// Rust, without dependencies
    Rust,
    /// C++20
    Cpp,
    /// Go, with cgo
    Go,
    /// Zig
    Zig,
    /// Swift
    Swift,
    /// Objective-C
    Objc,
}

/// Packs to load.
#[derive(Args, Debug, Clone, Default)]
pub struct PackOptions {
    /// Add the rows of this probe pack to those of the packs directory (repeatable; `latlas help packs`)
    #[arg(long = "pack", value_name = "FILE")]
    pub files: Vec<PathBuf>,
}
