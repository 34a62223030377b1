//! Options of `latlas config`, and the flags that choose the file.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
Each line of the file is a command and options that it gets before the typed ones, as `exec --nice=-5`,
or options for all commands that have them, as `--pin 1`. What is typed takes precedence over
environment variables, and these over the file.

Examples:
  latlas config init                 Write an example, commented out
  latlas config show                 Check the file and print its options
  latlas --no-config                 Ignore the file
  latlas run --config lab            Read another file

Exit codes:
  0  done
  2  the request can't be carried out";

/// The commands of `latlas config`.
#[derive(Subcommand, Debug)]
pub enum ConfigCommand {
    /// Check the file and print its options
    #[command(after_help = "\
Examples:
  latlas config show
  latlas config show --json")]
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the file
    #[command(after_help = "\
Examples:
  latlas config path
  $EDITOR \"$(latlas config path)\"")]
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write an example file; an existing one is kept
    #[command(after_help = "\
Examples:
  latlas config init
  latlas config init --config lab")]
    Init,
}

/// Options that choose the file and the store, of every command.
#[derive(Args, Debug, Clone, Default)]
pub struct ConfigOptions {
    /// Read this configuration file [env: LATLAS_CONFIG]
    #[arg(
        id = "config_file",
        long = "config",
        value_name = "FILE",
        global = true,
        conflicts_with = "no_config",
        help_heading = "Configuration"
    )]
    pub file: Option<PathBuf>,
    /// Ignore the configuration file
    #[arg(id = "no_config", long = "no-config", global = true, help_heading = "Configuration")]
    pub none: bool,
    /// Store runs in this directory or PostgreSQL database (postgres://HOST/DATABASE)
    /// [env: LATLAS_STORE]
    #[arg(long, value_name = "DIR|URL", global = true, help_heading = "Configuration")]
    pub store: Option<String>,
}
