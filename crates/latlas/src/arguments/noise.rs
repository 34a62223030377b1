//! What `latlas noise` takes.

pub(crate) mod ab;
pub(crate) mod measure;
pub(crate) mod restore;
pub(crate) mod show;
pub(crate) mod tune;

use clap::Subcommand;

/// Said below the commands.
pub(crate) const EXAMPLES: &str = "\
Examples:
  latlas noise show                   every control, its value, what would be better and how to set it
  latlas noise measure --for 5s       what takes the CPU away from a thread that only spins
  latlas noise ab pin nice            what these controls are worth on this machine
  latlas noise tune --dry-run         what would be set for the whole system
  latlas noise tune -- ./benchmark    set it, run the benchmark, put everything back
  latlas noise restore                put back what a tune without a command set";

/// One command is one page in `command/noise/`.
#[derive(Subcommand, Debug)]
pub(crate) enum NoiseCommand {
    /// Print every control of noise with its value, and advice in order of effect
    #[command(after_help = show::EXAMPLES)]
    Show(show::ShowOptions),
    /// Spin on a CPU and tell what took it away, and how its clock ran
    #[command(after_help = measure::EXAMPLES)]
    Measure(measure::MeasureOptions),
    /// Weigh controls on this machine: on against off, by turns
    #[command(after_help = ab::EXAMPLES)]
    Ab(ab::AbOptions),
    /// Set system-wide controls; with a command only while it runs (needs root)
    #[command(after_help = tune::EXAMPLES)]
    Tune(tune::TuneOptions),
    /// Put back what tune set (needs root)
    #[command(after_help = restore::EXAMPLES)]
    Restore(restore::RestoreOptions),
}
