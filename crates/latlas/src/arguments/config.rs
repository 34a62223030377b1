//! Options of `latlas config`, and the flags that choose the file.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
The file holds defaults for options that are set again and again. A flag beats the environment,
which beats the file (docs/configuration.md).

Examples:
  latlas config init                 write an example, all of it commented out
  latlas config show                 every key, its value, and where that comes from
  latlas --no-config                 measure as if there were no file
  latlas run --config lab.toml       with another file

Exit codes: 0 done; 2 the request can't be carried out.";

/// What to do with the configuration.
#[derive(Subcommand, Debug)]
pub(crate) enum ConfigCommand {
    /// Print every key, its value and where that comes from; with --json also who takes it
    #[command(after_help = "\
Examples:
  latlas config show
  latlas config show --json")]
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print where the file is looked for
    #[command(after_help = "\
Examples:
  latlas config path
  $EDITOR \"$(latlas config path)\"")]
    Path {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the file
    #[command(after_help = "\
Examples:
  latlas config schema > config-schema.json")]
    Schema,
    /// Write an example to where the file is looked for; one that is there is kept
    #[command(after_help = "\
Examples:
  latlas config init
  latlas config init --config lab.toml")]
    Init,
}

/// Which file.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ConfigOptions {
    /// Read defaults of options from this file [env: LATLAS_CONFIG]
    #[arg(
        id = "config_file",
        long = "config",
        value_name = "FILE",
        global = true,
        conflicts_with = "no_config",
        help_heading = "Configuration"
    )]
    pub(crate) file: Option<PathBuf>,
    /// Read no configuration
    #[arg(
        id = "no_config",
        long = "no-config",
        global = true,
        help_heading = "Configuration"
    )]
    pub(crate) none: bool,
}
