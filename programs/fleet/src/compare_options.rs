//! Options of `latlas fleet compare`.

use clap::Args;
use latlas::arguments::Color;
use latlas::arguments::compare::parse_percent;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Each host is compared with itself, and the hosts together with the first campaign: changes of every row over all hosts.
`latlas help fleet-report` describes the statistics.

Examples:
  latlas fleet compare before after                    Compare two campaigns, host by host
  latlas fleet compare before after#3f2a               Another campaign file of that name, by its digest
  latlas fleet compare before after --rows 'memory.*' --fail-above 10%
                                                       Exit 1 if a row is significantly slower
  latlas fleet compare before after --json

Exit codes:
  0  done, whatever the differences
  1  the time of a row increased significantly by more than --fail-above
  2  the request can't be carried out
  3  inconclusive for all rows of a campaign";

/// Options of `latlas fleet compare`.
#[derive(Args, Debug, Clone)]
pub(crate) struct CompareOptions {
    /// The campaign that the others are compared with (with #DIGEST where several files had its name)
    #[arg(value_name = "CAMPAIGN")]
    pub(crate) baseline: String,
    /// Campaigns that are compared with it
    #[arg(value_name = "CAMPAIGN", required = true)]
    pub(crate) others: Vec<String>,
    /// Compare only matching rows: an id or a pattern with * and ? (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rows: Vec<String>,
    /// Call a row the same if its confidence interval lies within this range of 1
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub(crate) margin: f64,
    /// Exit 1 if the time of a row increased significantly by more than this
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) fail_above: Option<f64>,
    /// Print all rows, and what each lacks
    #[arg(long)]
    pub(crate) wide: bool,
    /// Print JSON: an array with one comparison for each other campaign
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
