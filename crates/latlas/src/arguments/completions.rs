//! Options of `latlas completions`.

use clap::Args;
use clap_complete::Shell;

/// Examples of `--help`.
pub(crate) const EXAMPLES: &str = "\
Completes commands, options and rows (rows not in elvish and powershell). Generate the script again
after an update of latlas.

Examples:
  latlas completions bash > ~/.local/share/bash-completion/completions/latlas
  latlas completions zsh > \"${fpath[1]}/_latlas\"
  latlas completions fish > ~/.config/fish/completions/latlas.fish
  latlas completions elvish >> ~/.config/elvish/rc.elv
  latlas completions powershell >> $PROFILE";

/// Options of `latlas completions`.
#[derive(Args, Debug, Clone)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
