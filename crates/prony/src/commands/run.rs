//! `prony run`: an experiment from its file to its report.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use prony_servers::Catalogue;
use prony_store::{NewRun, Store};

use crate::cli::RunArgs;
use crate::commands::complete::{Stopped, complete};
use crate::commands::report::RESULT_FILE;
use crate::definitions::{self, Experiment};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::left_out;

/// Runs an experiment and prints its report.
pub(crate) fn run(args: &RunArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let experiment = definitions::experiment(args.experiment()?, &args.definitions, &catalogue)?;
    start(&experiment, args, &catalogue, signals)
}

/// Runs an experiment in a folder of its own and prints its report.
pub(crate) fn start(
    experiment: &Experiment,
    args: &RunArgs,
    catalogue: &Catalogue,
    signals: &Signals,
) -> Result<(), Failure> {
    let surroundings = Surroundings::find()?.with_limit(&args.images)?;
    let surroundings = surroundings.with_client(&args.client, &experiment.plan, None)?;
    let (folder, mut store) = create(&args.runs, experiment, &surroundings)?;
    output::talk(&format!(
        "The results of this run are in {}.",
        folder.display()
    ));
    if let Some(line) = left_out(&experiment.plan) {
        output::notice(&line);
    }
    let end = complete(&mut store, &folder, catalogue, &surroundings, signals);
    end.map_err(|stopped| {
        let Stopped {
            failure,
            before_loading,
        } = stopped;
        if !before_loading {
            return failure;
        }
        // Nothing can come of a run that has to be begun differently.
        drop(store);
        let removed = match fs::remove_dir_all(&folder) {
            Ok(()) => "the folder of this run has been removed".to_owned(),
            Err(error) => format!("remove {}: {error}", folder.display()),
        };
        failure.with_hint(format!(
            "nothing was loaded; {removed}. See all settings with `prony plan --effective`"
        ))
    })
}

/// Makes the run's folder and its result file.
fn create(
    runs: &Path,
    experiment: &Experiment,
    surroundings: &Surroundings,
) -> Result<(PathBuf, Store), Failure> {
    let Experiment { plan, files } = experiment;
    let now = Timestamp::now();
    let folder = new_folder(runs, &plan.name, now).map_err(|error| {
        let what = format!("make a folder for the run in {}: {error}", runs.display());
        Failure::to(ExitStatus::Host, &what).with_hint("--runs names another folder")
    })?;
    let id = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let host_json = serde_json::to_string(&surroundings.host).map_err(Failure::defect)?;
    let run = NewRun {
        id: &id,
        plan,
        prony_version: env!("CARGO_PKG_VERSION"),
        host_json: &host_json,
        started_at: now,
    };
    let mut store = Store::create(&folder.join(RESULT_FILE), &run).map_err(Failure::host)?;
    store.record_definitions(files).map_err(Failure::host)?;
    Ok((folder, store))
}

/// A folder that did not exist before, named after the experiment and the time (UTC).
pub(crate) fn new_folder(runs: &Path, name: &str, now: Timestamp) -> std::io::Result<PathBuf> {
    fs::create_dir_all(runs)?;
    let stamp = now
        .to_zoned(TimeZone::UTC)
        .strftime("%Y%m%d-%H%M%S")
        .to_string();
    let mut number = 1;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let folder = runs.join(format!("{name}-{stamp}{suffix}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            other => return other.map(|()| folder),
        }
    }
}
