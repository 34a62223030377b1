//! Arguments of `latlas compare`.

use super::{Color, InvalidValue};
use clap::Args;
use std::path::PathBuf;

/// Examples under the help.
pub const EXAMPLES: &str = "\
A is the baseline. A and B are runs (a file, `last`, `last~1`, a tag, the start of an id), published
tables (2012, iphone-x, ...), machines (@HOST: the mean of its latest stored runs with the same
setup), or a cloud type, board or CPU (`latlas help references`). `latlas help compare` describes
the statistics.

Examples:
  latlas compare last~1 last                  Compare the last two runs
  latlas compare old.json.zst new.json.zst --fail-above 10%
                                              Exit 1 if a row is significantly slower
  latlas compare mac-pro-2013 last            Compare with a published table
  latlas compare m7i.large last               Compare with a cloud type's published figures
  latlas compare @lab1 @lab2 --rows 'memory.*' --normalize
  latlas compare last~1 last -o page.html     Write a page that opens on the answer
  latlas compare last~1 last --json

Exit codes:
  0  done, whatever the differences
  1  the time of a row increased significantly by more than --fail-above
  2  the request can't be carried out
  3  inconclusive for all rows of a B";

/// Options of `latlas compare`.
#[derive(Args, Debug, Clone)]
pub struct CompareOptions {
    /// The baseline
    #[arg(value_name = "A")]
    pub baseline: String,
    /// What to compare with the baseline
    #[arg(value_name = "B", required = true)]
    pub others: Vec<String>,
    /// Compare only matching rows: an id or a pattern with * and ? (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub rows: Vec<String>,
    /// Call a row the same if its confidence interval lies within this range of 1
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub margin: f64,
    /// Exit 1 if the time of a row increased significantly by more than this
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub fail_above: Option<f64>,
    /// Correct for machine drift by the core clock and memory.latency/DRAM, or by ROW
    #[arg(long, value_name = "ROW", num_args = 0..=1, require_equals = true)]
    pub normalize: Option<Option<String>>,
    /// Print points of curves, reasons, and rows of one side only
    #[arg(long, conflicts_with = "json")]
    pub wide: bool,
    /// Write a page (.html) or the picture (.svg, .png, .pdf) to this file
    #[arg(short, long, alias = "output", value_name = "FILE", conflicts_with = "json")]
    pub out: Option<PathBuf>,
    /// Overwrite a file that is not a report
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print JSON: an array with one comparison for each B
    #[arg(long)]
    pub json: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// A share from `10%` or `10`.
pub fn parse_percent(text: &str) -> Result<f64, InvalidValue> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err(InvalidValue::Percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_margin_is_that_of_the_library() {
        use clap::Args;
        let command = CompareOptions::augment_args(clap::Command::new("compare"));
        let margin = command.get_arguments().find(|arg| arg.get_id() == "margin");
        let usual = margin.and_then(|arg| arg.get_default_values()[0].to_str());
        let usual = usual.map(|text| parse_percent(text).expect("a share"));
        assert_eq!(usual, Some(compare::USUAL_MARGIN));
    }

    #[test]
    fn a_percentage_is_a_share() {
        assert_eq!(parse_percent("10%"), Ok(0.1));
        assert_eq!(parse_percent("2.5"), Ok(0.025));
        for bad in ["", "%", "-5%", "0", "ten", "nan", "inf", "2000%"] {
            assert!(parse_percent(bad).is_err(), "{bad}");
        }
    }
}
