//! Arguments of `latlas compare`.

use super::Color;
use clap::Args;

/// Examples under the help.
pub(crate) const EXAMPLES: &str = "\
Each of A and B is a run (a file, last, last~1 for the one before, the beginning of an id), a
published table (2012, iphone-x, ...) or a machine (@ and its host's name: the mean of its latest
kept runs that are alike). A is the baseline. docs/compare.md tells the statistics.

Examples:
  latlas compare last~1 last                     what has changed since the run before
  latlas compare old.json.zst new.json.zst --fail-above 10%   exit 1 if a row surely is slower
  latlas compare mac-pro-2013 last               beside a published table
  latlas compare @lab1 @lab2 --rows 'memory.*' --normalize
  latlas compare last~1 last --json              for programs

Exit codes: 0 done, whatever differs; 1 a row's time surely grew by more than --fail-above;
2 the request can't be carried out; 3 nothing could be told of any row of one B.";

/// What to compare, and how.
#[derive(Args, Debug, Clone)]
pub(crate) struct CompareOptions {
    /// The baseline
    #[arg(value_name = "A")]
    pub(crate) baseline: String,
    /// What is set against it, one after the other
    #[arg(value_name = "B", required = true)]
    pub(crate) others: Vec<String>,
    /// Only rows that match: an id or a pattern with * and ? (may be repeated)
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rows: Vec<String>,
    /// A row is the same only if its interval lies within this of 1 (a difference that was shown
    /// may be smaller)
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    pub(crate) margin: f64,
    /// Exit 1 if any row's time surely grew by more than this
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fail_above: Option<f64>,
    /// Take the machine's drift out: by the core's clock and memory.latency/DRAM, or by ROW
    #[arg(long, value_name = "ROW", num_args = 0..=1, require_equals = true)]
    pub(crate) normalize: Option<Option<String>>,
    /// Points of curves, reasons, and what only one side has
    #[arg(long)]
    pub(crate) wide: bool,
    /// As JSON: an array with one comparison for each B
    #[arg(long)]
    pub(crate) json: bool,
    /// Colour the findings
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// A share from `10%` or `10`.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err("give a percentage above 0 and up to 1000, such as 10%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_margin_is_everybodys() {
        use clap::Args;
        let command = CompareOptions::augment_args(clap::Command::new("compare"));
        let margin = command.get_arguments().find(|arg| arg.get_id() == "margin");
        let usual = margin.and_then(|arg| arg.get_default_values()[0].to_str());
        let usual = usual.map(|text| percent(text).expect("a share"));
        assert_eq!(usual, Some(atlas::compare::USUAL_MARGIN));
    }

    #[test]
    fn a_percentage_is_a_share() {
        assert_eq!(percent("10%"), Ok(0.1));
        assert_eq!(percent("2.5"), Ok(0.025));
        for bad in ["", "%", "-5%", "0", "ten", "nan", "inf", "2000%"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }
}
