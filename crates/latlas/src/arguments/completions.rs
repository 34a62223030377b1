//! Options of `latlas completions`.

use clap::Args;
use clap_complete::Shell;

/// Examples of `--help`.
pub const EXAMPLES: &str = "\
The shell asks latlas for commands, options, rows, groups, published tables, controls, tags and stored
runs, so they are always those of the installed latlas and of the store.

Examples:
  latlas completions bash > ~/.local/share/bash-completion/completions/latlas
  latlas completions zsh > \"${fpath[1]}/_latlas\"
  latlas completions fish > ~/.config/fish/completions/latlas.fish
  latlas completions elvish >> ~/.config/elvish/rc.elv
  latlas completions powershell >> $PROFILE";

/// Options of `latlas completions`.
#[derive(Args, Debug, Clone)]
pub struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}
