//! Options of `latlas help`.

use clap::Args;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
Examples:
  latlas help              List the commands and topics
  latlas help tutorial     Print the tutorial: ten minutes
  latlas help trust        Print how far a result can be trusted
  latlas help noise tune   Print the page of a command, if it has one, else its options
  latlas help rows         Describe every row
  latlas help commands     Print the options of every command";

/// Options of `latlas help`.
#[derive(Args, Debug, Clone)]
pub struct HelpOptions {
    /// A topic, or a command
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}
