//! `prony man`: manual pages, generated from the definition of the command line.

use std::fs;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, ManArgs};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Prints the page of one command, or writes the pages of all, such as `prony-servers-list.1`.
pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut prony = Cli::command().disable_help_subcommand(true);
    if let Some(folder) = &args.out {
        return fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(prony, folder))
            .map_err(|error| {
                let folder = folder.display();
                Failure::host(format!("write manual pages to {folder}: {error}"))
            });
    }
    // Building gives each command its full name.
    prony.build();
    let mut command = &prony;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            let message = format!("no command is named `prony {}`", args.command.join(" "));
            Failure::new(ExitStatus::Usage, message).with_hint("`prony --help` lists the commands")
        })?;
    }
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .map_err(Failure::defect)?;
    output::data(&String::from_utf8_lossy(&page))
}
