//! `prony servers add`: a server of the user's own into the user's own catalogue.

use std::fmt::Write as _;
use std::path::PathBuf;

use prony_lab::Event;
use prony_model::Engine;
use prony_servers::{AddError, Added, Adder, Catalogue, NewServer};

use super::{engine_names, interrupted};
use crate::cli::ServersAddArgs;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Adds the server and says what was found.
pub(super) fn add(args: &ServersAddArgs, signals: &Signals) -> Result<(), Failure> {
    let folder = folder(args)?;
    let catalogue = catalogue(args, &folder)?;
    let surroundings = Surroundings::find()?;
    let adder = Adder {
        roots: &surroundings.roots,
        catalogue: &catalogue,
        launcher: &surroundings.launcher,
        stop: &signals.stop,
    };
    let new = NewServer {
        path: &args.path,
        id: args.id.as_deref(),
        catalogue: &folder,
    };
    output::talk(&format!(
        "inspecting {} and starting it",
        args.path.display()
    ));
    let name = args.path.display().to_string();
    let mut progress = Progress::start(0, 0);
    let outcome = adder.add(&new, &mut |event| {
        progress.show(&Event::Fetch {
            build: &name,
            event: &event,
        });
    });
    progress.finish();
    match outcome {
        Ok(server) => output::data(&found(&server)),
        Err(_) if signals.stop.requested() => Err(interrupted(signals)),
        Err(error) => Err(failure(&error)),
    }
}

/// The catalogue folder that the entry goes to.
fn folder(args: &ServersAddArgs) -> Result<PathBuf, Failure> {
    let named = args.catalogue.catalog.clone();
    named
        .or_else(definitions::own_catalogue_folder)
        .ok_or_else(|| {
            Failure::new(ExitStatus::Usage, "there is no folder for your catalogue")
                .with_hint("give one with --catalog, or set HOME")
        })
}

/// The entries so far. A folder that is yet to be made has none.
fn catalogue(args: &ServersAddArgs, folder: &std::path::Path) -> Result<Catalogue, Failure> {
    if folder.is_dir() {
        return definitions::catalogue(&args.catalogue);
    }
    Catalogue::embedded().map_err(Failure::invalid)
}

fn failure(error: &AddError) -> Failure {
    let status = match error {
        AddError::Exists { .. }
        | AddError::FileExists { .. }
        | AddError::NoServer { .. }
        | AddError::Catalogue(_) => ExitStatus::Usage,
        AddError::Io(_) => ExitStatus::Host,
        _ => ExitStatus::Server,
    };
    Failure::to(status, error).with_log(error.log_tail())
}

/// The new entry, and its use.
fn found(added: &Added) -> String {
    let entry = &added.entry;
    let mut text = format!(
        "added      {}\nversion    {} {}\nengines    {}\nentry      {}\n",
        entry.id,
        entry.version_text,
        added.comment,
        engine_names(&entry.engines),
        added.file.display()
    );
    for note in &added.notes {
        // Writing to a String can't fail.
        let _ = writeln!(text, "note       {note}");
    }
    let engine = entry.engines.first().copied().unwrap_or(Engine::Innodb);
    let _ = write!(
        text,
        "\nIn an experiment:\n\n[[target]]\nbuild = \"{}\"\nengine = \"{engine}\"\n",
        entry.id
    );
    text
}
