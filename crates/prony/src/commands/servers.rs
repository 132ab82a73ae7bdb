//! `prony servers`: the catalogue and its builds on this machine.

mod add;
mod shell;

use std::fmt::Write as _;

use prony_lab::Event;
use prony_model::Engine;
use prony_servers::{Catalogue, Depot, Entry, FetchError, ServerBuild, verify};

use crate::cli::{ListFormatArg, ServersCommand, ServersListArgs, ServersSelectArgs};
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Runs one of the sub-commands.
pub(crate) fn servers(command: &ServersCommand, signals: &Signals) -> Result<(), Failure> {
    match command {
        ServersCommand::List(args) => list(args),
        ServersCommand::Fetch(args) => fetch(args, signals),
        ServersCommand::Verify(args) => verify_builds(args, signals),
        ServersCommand::Shell(args) => shell::shell(args, signals),
        ServersCommand::Add(args) => add::add(args, signals),
    }
}

fn list(args: &ServersListArgs) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let surroundings = Surroundings::find()?;
    let depot = surroundings.depot(&catalogue);
    let installed = |id: &str| depot.installed(id);
    match args.format {
        ListFormatArg::Text => output::data(&list_text(&catalogue, installed)),
        ListFormatArg::Json => output::data(&list_json(&catalogue, installed)),
    }
}

fn list_text(catalogue: &Catalogue, installed: impl Fn(&str) -> Option<ServerBuild>) -> String {
    let width = ids(catalogue).map(str::len).max().unwrap_or(0);
    let mut text = String::new();
    for entry in catalogue.entries() {
        let state = if installed(&entry.id).is_some() {
            "here"
        } else {
            "not fetched"
        };
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "{:width$}  {:11}  version {:9} {}",
            entry.id,
            state,
            entry.version,
            engine_names(&entry.engines)
        );
    }
    text
}

fn list_json(catalogue: &Catalogue, installed: impl Fn(&str) -> Option<ServerBuild>) -> String {
    let builds: Vec<_> = catalogue
        .entries()
        .iter()
        .map(|entry| serde_json::json!({ "facts": entry.facts(), "installed": installed(&entry.id) }))
        .collect();
    format!("{}\n", serde_json::Value::from(builds))
}

fn fetch(args: &ServersSelectArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let ids = select(args, &catalogue)?;
    let surroundings = Surroundings::find()?;
    for id in &ids {
        let build = fetch_one(id, &catalogue, &surroundings, signals)?;
        let bytes: u64 = build.artefacts.iter().map(|artefact| artefact.size).sum();
        let files = build.artefacts.len();
        let megabytes = bytes as f64 / 1e6;
        output::data(&format!(
            "{id}: {files} files, {megabytes:.1} MB, {}\n",
            build.root.display()
        ))?;
    }
    Ok(())
}

/// Gets one build, showing progress.
pub(crate) fn fetch_one(
    id: &str,
    catalogue: &Catalogue,
    surroundings: &Surroundings,
    signals: &Signals,
) -> Result<ServerBuild, Failure> {
    let mut progress = Progress::start(0, 0);
    let fetched = surroundings
        .depot(catalogue)
        .fetch(id, &signals.stop, &mut |event| {
            progress.show(&Event::Fetch {
                build: id,
                event: &event,
            });
        });
    progress.finish();
    fetched.map_err(|error| fetch_failure(id, &error, signals))
}

fn fetch_failure(id: &str, error: &FetchError, signals: &Signals) -> Failure {
    if signals.stop.requested() {
        return interrupted(signals);
    }
    Failure::to(ExitStatus::Server, &format!("fetch {id}: {error}"))
}

fn interrupted(signals: &Signals) -> Failure {
    Failure::interrupted(signals, "interrupted")
}

fn verify_builds(args: &ServersSelectArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let ids = select(args, &catalogue)?;
    let surroundings = Surroundings::find()?;
    let mut failed = 0;
    for id in &ids {
        let line = match verify_one(id, &catalogue, &surroundings, signals) {
            Ok(line) => line,
            Err(_) if signals.stop.requested() => return Err(interrupted(signals)),
            Err(failure) => {
                failed += 1;
                output::notice(&failure.to_string());
                format!("{id}: failed\n")
            }
        };
        output::data(&line)?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::new(
            ExitStatus::Server,
            format!("{failed} of {} failed", ids.len()),
        )),
    }
}

fn verify_one(
    id: &str,
    catalogue: &Catalogue,
    surroundings: &Surroundings,
    signals: &Signals,
) -> Result<String, Failure> {
    let build = fetch_one(id, catalogue, surroundings, signals)?;
    let Surroundings {
        roots, launcher, ..
    } = surroundings;
    let verified = verify(roots, catalogue, launcher, &build, &signals.stop)
        .map_err(|error| Failure::to(ExitStatus::Server, &error).with_log(error.log_tail()))?;
    Ok(format!(
        "{id}: ok, {}, {}\n",
        verified.version,
        engine_names(&verified.engines)
    ))
}

/// The ids that were asked for, all of them known.
fn select(args: &ServersSelectArgs, catalogue: &Catalogue) -> Result<Vec<String>, Failure> {
    if args.all {
        return Ok(ids(catalogue).map(str::to_owned).collect());
    }
    for id in &args.builds {
        known(id, catalogue)?;
    }
    Ok(args.builds.clone())
}

/// The entry of this id; one that the catalogue does not have is refused.
pub(crate) fn known<'c>(id: &str, catalogue: &'c Catalogue) -> Result<&'c Entry, Failure> {
    if let Some(entry) = catalogue.get(id) {
        return Ok(entry);
    }
    let ids: Vec<_> = ids(catalogue).collect();
    let message = format!("there is no server build `{id}` in the catalogue");
    let hint = format!("it has {}", ids.join(", "));
    Err(Failure::new(ExitStatus::Usage, message).with_hint(hint))
}

fn ids(catalogue: &Catalogue) -> impl Iterator<Item = &str> {
    catalogue.entries().iter().map(|entry| entry.id.as_str())
}

fn engine_names(engines: &[Engine]) -> String {
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    names.join(", ")
}

impl Surroundings {
    fn depot<'a>(&'a self, catalogue: &'a Catalogue) -> Depot<'a> {
        Depot::new(&self.roots, catalogue, &self.launcher)
    }
}
