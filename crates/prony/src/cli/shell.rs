//! Options of the commands for the user's shell and manual.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Shown below the options of `prony completions`.
pub(super) const COMPLETIONS: &str = "\
Installation for one user:
  bash  prony completions bash > ~/.local/share/bash-completion/completions/prony
  zsh   prony completions zsh > FOLDER/_prony, where FOLDER is one of $fpath
  fish  prony completions fish > ~/.config/fish/completions/prony.fish";

/// Shown below the options of `prony man`.
pub(super) const MANUAL: &str = "\
Examples:
  prony man servers list | man -l -
  prony man --out ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command that the page describes, such as servers list [default: prony itself]
    #[arg(conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder, which is created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}
