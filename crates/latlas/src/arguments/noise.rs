//! The command line of `latlas noise`: the list of its commands here, the options of each in a file of its
//! name. What the commands do is in `command/noise/`.

pub mod ab;
pub mod measure;
pub mod restore;
pub mod show;
pub mod tune;

use clap::Subcommand;

/// Printed below the commands.
pub const EXAMPLES: &str = "\
Examples:
  latlas noise show                   List all controls, with values and advice
  latlas noise measure --for 5s       Measure the OS noise of a CPU, by cause
  latlas noise ab pin nice            Measure the effect of these controls
  latlas noise tune                   Print what it would set, change nothing
  latlas noise tune -- ./benchmark    Set, run the benchmark, restore
  latlas noise tune --apply           Set until restored
  latlas noise restore                Restore what --apply set";

/// One command is one page in `command/noise/`.
#[derive(Subcommand, Debug)]
pub enum NoiseCommand {
    /// List noise controls, with advice in order of effect
    #[command(after_help = show::EXAMPLES)]
    Show(show::ShowOptions),
    /// Measure OS noise (detours of a spinning thread, by cause) and the clock
    #[command(after_help = measure::EXAMPLES)]
    Measure(measure::MeasureOptions),
    /// Compare controls on and off, interleaved
    #[command(after_help = ab::EXAMPLES)]
    Ab(ab::AbOptions),
    /// Set system-wide controls while a command runs, or with --apply (root)
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneOptions),
    /// Restore what tune set (root)
    #[command(after_help = restore::EXAMPLES)]
    Restore(restore::RestoreOptions),
}
