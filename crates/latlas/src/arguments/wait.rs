//! The option of every command that measures.

use clap::Args;

/// Whether to wait for the measuring lock.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct WaitOptions {
    /// Exit with code 2 if another latlas is measuring on this machine (default: wait for its end)
    #[arg(long)]
    pub no_wait: bool,
}
