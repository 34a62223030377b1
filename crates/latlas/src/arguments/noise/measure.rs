//! What `latlas noise measure` takes.

use crate::arguments::recorded::RecordedOptions;
use crate::arguments::{InvalidValue, budget};
use clap::Args;
use std::time::Duration;

/// Printed below the options.
pub const EXAMPLES: &str = "\
A pinned thread runs short blocks of additions and reads the clock after each. A block that takes
too long contains a detour: time taken by another thread, an interrupt, the hypervisor or the
firmware. Needs no root. `latlas help noise measure` describes the method.

Examples:
  latlas noise measure                     Measure for 5 s on the CPU that a run would use
  latlas noise measure --for 30s --cpu 2   Measure longer, on CPU 2
  latlas noise measure --all-cpus          Measure on all CPUs at the same time
  latlas noise measure --json              Print JSON

Exit codes:
  0  done
  2  the request can't be carried out (no such CPU, unwritable file, no clock)
  3  interrupted, or all causes are unknown";

/// Options of it.
#[derive(Args, Debug, Clone)]
pub struct MeasureOptions {
    /// How long to spin: 100ms to 10m
    #[arg(long = "for", value_name = "TIME", default_value = "5s", value_parser = span)]
    pub span: Duration,
    /// CPU to spin on [default: the CPU of a run]
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,
    /// Spin on all allowed CPUs at the same time
    #[arg(long, conflicts_with = "cpu")]
    pub all_cpus: bool,
    #[command(flatten)]
    pub run: RecordedOptions,
}

fn span(text: &str) -> Result<Duration, InvalidValue> {
    let span = budget(text)?;
    let allowed = Duration::from_millis(100)..=Duration::from_secs(600);
    if allowed.contains(&span) { Ok(span) } else { Err(InvalidValue::NoiseSpan) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_neither_too_short_nor_endless() {
        assert_eq!(span("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(span("10m"), Ok(Duration::from_secs(600)));
        for bad in ["99ms", "0s", "11m", "5", "soon"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
