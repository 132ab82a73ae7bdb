//! The `prony` command: arguments, progress, exit codes. The only crate that prints.

mod cli;
mod commands;
mod definitions;
mod failure;
mod output;
mod own_build;
mod progress;
mod signals;
mod surroundings;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::failure::{ExitStatus, Failure};
use crate::signals::Signals;

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.quiet {
        output::be_quiet();
    }
    match dispatch(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::notice(&failure.to_string());
            ExitCode::from(failure.code.code())
        }
    }
}

fn dispatch(command: &Command) -> Result<(), Failure> {
    match command {
        // Children: the parent decides when they end.
        Command::Guard(args) => commands::guard::guard(args),
        Command::Far => commands::far::far(),
        Command::Generator => commands::generator::generator(),
        Command::Null(args) => commands::null::null(args, &watch()?),
        Command::Calibrate(args) => commands::calibrate::calibrate(args, &watch()?),
        Command::Check(args) => commands::check::check(args, &watch()?),
        Command::Plan(args) if args.effective => commands::plan::effective(args, &watch()?),
        Command::Plan(args) => commands::plan::plan(args),
        Command::Compare(args) => commands::compare::compare(args),
        Command::Explain(args) => commands::explain::explain(args),
        Command::Export(args) => commands::export::export(args),
        Command::Submit(args) => commands::submit::submit(args, &watch()?),
        Command::Status(args) => commands::status::run(args),
        Command::Collect(args) => commands::collect::run(args),
        Command::Part(args) => commands::part::part(args, &watch()?),
        Command::Report(args) => commands::report::report(args),
        Command::Run(args) if args.verify => commands::verify::verify(args, &watch()?),
        Command::Run(args) => match (&args.append, &args.confirm) {
            (Some(run), _) => commands::append::append(run, args, &watch()?),
            (None, Some(run)) => commands::confirm::confirm(run, args, &watch()?),
            (None, None) => commands::run::run(args, &watch()?),
        },
        Command::Resume(args) => commands::resume::resume(args, &watch()?),
        Command::Load(args) => commands::load::load(args, &watch()?),
        Command::Completions(args) => commands::completions::completions(args),
        Command::Man(args) => commands::man::man(args),
        Command::Client(command) => commands::client::client(command),
        Command::Images(command) => commands::images::images(command),
        Command::Sequences(command) => commands::sequences::sequences(command),
        Command::Workloads(command) => commands::workloads::workloads(command),
        Command::Servers(command) => commands::servers::servers(command, &watch()?),
    }
}

fn watch() -> Result<Signals, Failure> {
    Signals::watch()
        .map_err(|error| Failure::to(ExitStatus::Host, &format!("watch for signals: {error}")))
}
