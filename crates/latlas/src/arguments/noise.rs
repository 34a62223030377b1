//! What `latlas noise` takes.

pub(crate) mod ab;
pub(crate) mod measure;
pub(crate) mod restore;
pub(crate) mod show;
pub(crate) mod tune;

use clap::Subcommand;

/// Printed below the commands.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise show                   List all controls, with values and advice
  latlas noise measure --for 5s       Measure the OS noise of a CPU, by cause
  latlas noise ab pin nice            Measure the effect of these controls
  latlas noise tune --dry-run         Print what tune would set
  latlas noise tune -- ./benchmark    Set, run the benchmark, restore
  latlas noise restore                Restore what a tune without a command set";

/// One command is one page in `command/noise/`.
#[derive(Subcommand, Debug)]
pub(crate) enum NoiseCommand {
    /// List noise controls, with advice in order of effect
    #[command(after_help = show::EXAMPLES)]
    Show(show::ShowOptions),
    /// Measure OS noise (detours of a spinning thread, by cause) and the clock
    #[command(after_help = measure::EXAMPLES)]
    Measure(measure::MeasureOptions),
    /// Compare controls on and off, interleaved
    #[command(after_help = ab::EXAMPLES)]
    Ab(ab::AbOptions),
    /// Set system-wide controls, with a command only while it runs (root)
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneOptions),
    /// Restore what tune set (root)
    #[command(after_help = restore::EXAMPLES)]
    Restore(restore::RestoreOptions),
}
