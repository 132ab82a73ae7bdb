//! `prony client`: hosts that run load generators for servers on this one.

use std::fs::File;
use std::process::{Command, Stdio};

use prony_model::ClientHostFacts;
use prony_report::client_host_lines;

use crate::cli::{ClientArgs, ClientCommand, ClientNameArgs};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::own_build::own_build;
use crate::surroundings::Surroundings;

/// Runs a sub-command.
pub(crate) fn client(command: &ClientCommand) -> Result<(), Failure> {
    match command {
        ClientCommand::Check(args) => check(args),
        ClientCommand::Install(args) => install(args),
    }
}

/// Connects, and shows what is there.
fn check(args: &ClientNameArgs) -> Result<(), Failure> {
    let surroundings = Surroundings::find()?;
    let (_, client_host) = surroundings.client(&args.client, &file(args))?;
    let facts: ClientHostFacts = client_host
        .survey()
        .map_err(|error| Failure::to(ExitStatus::Host, &error))?;
    let lines = client_host_lines(&facts);
    output::data(&format!("{}\n", lines.join("\n")))
}

/// Copies this program.
fn install(args: &ClientNameArgs) -> Result<(), Failure> {
    let surroundings = Surroundings::find()?;
    let (client, _) = surroundings.client(&args.client, &file(args))?;
    let failed =
        |reason: String| Failure::host(format!("copy Prony to client {}: {reason}", client.name));
    let Some(words) = client.install_command(&own_build()?) else {
        let message = format!(
            "client {} is reached by a prefix, and Prony knows to copy itself over ssh only",
            client.name
        );
        return Err(Failure::new(ExitStatus::Usage, message)
            .with_hint("copy the program there, and name its file with prony = \"FILE\""));
    };
    let own = File::open("/proc/self/exe").map_err(|error| failed(error.to_string()))?;
    let status = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::from(own))
        .status()
        .map_err(|error| failed(format!("run {}: {error}", words[0])))?;
    if !status.success() {
        return Err(failed(format!("{} ended with {status}", words[0])));
    }
    output::talk(&format!("Prony is on client {}", client.name));
    Ok(())
}

fn file(args: &ClientNameArgs) -> ClientArgs {
    ClientArgs {
        client: None,
        hosts: args.hosts.clone(),
    }
}
