//! `prony completions`: completion scripts, generated from the definition of the command line.

use clap::{Command, CommandFactory};

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::output;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "prony", &mut script);
    output::data(&String::from_utf8_lossy(&script))
}

/// The command line without hidden commands, which scripts would offer otherwise.
fn visible() -> Command {
    let all = Cli::command();
    let commands = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("prony")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments())
        .subcommands(commands.cloned())
}
