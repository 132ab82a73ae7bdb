//! Definitions from their files: catalogue, workloads, experiment.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{GraphicalReportHandler, GraphicalTheme};
use prony_model::{Aspect, Plan, Target};
use prony_plan::{
    Definition, Invalid, Knowledge, Preset, Refused, embedded_definitions, embedded_presets,
    parse_definitions, parse_experiment,
};
use prony_servers::{Catalogue, RenderError, Wanted};
use prony_store::{DefinitionFile, DefinitionKind};

use crate::cli::{CatalogueArgs, DefinitionArgs, WorkloadFileArgs};
use crate::failure::{ExitStatus, Failure};

/// The built-in catalogue with the user's additions.
pub(crate) fn catalogue(args: &CatalogueArgs) -> Result<Catalogue, Failure> {
    let catalogue = Catalogue::embedded().map_err(Failure::invalid)?;
    match (&args.catalog, own_catalogue_folder()) {
        (Some(folder), _) => catalogue.with_user_dir(folder).map_err(Failure::invalid),
        (None, Some(own)) if own.is_dir() => {
            catalogue.with_user_dir(&own).map_err(Failure::invalid)
        }
        (None, _) => Ok(catalogue),
    }
}

/// The folder of the user's own catalogue files unless the command line names another.
pub(crate) fn own_catalogue_folder() -> Option<PathBuf> {
    Some(own_folder()?.join("catalog"))
}

/// The folder of the user's own settings: `$XDG_CONFIG_HOME/prony`, else `~/.config/prony`.
pub(crate) fn own_folder() -> Option<PathBuf> {
    let set = |name| {
        let value = env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .map(|folder| folder.join("prony"))
}

/// An experiment that was read.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// Everything that it asks for.
    pub(crate) plan: Plan,
    /// The files that it was read from: its own, then those of own workloads.
    pub(crate) files: Vec<DefinitionFile>,
}

/// Reads an experiment and checks it against everything it names.
pub(crate) fn experiment(
    path: &Path,
    args: &DefinitionArgs,
    catalogue: &Catalogue,
) -> Result<Experiment, Failure> {
    let own = own_workloads(&args.workloads)?;
    let workloads: Vec<_> = with_embedded(&args.workloads, &own)?
        .into_iter()
        .map(|definition| definition.workload)
        .collect();
    let presets = presets()?;
    let experiment = file(DefinitionKind::Experiment, path)?;
    let whole = std::path::absolute(path).map_err(|error| {
        Failure::usage(format!("find the folder of {}: {error}", path.display()))
    })?;
    let hardware_counters = hardware_counters();
    let stack_samples = prony_probe::check_stack_samples();
    let stack_samples = stack_samples.map_err(|error| error.to_string());
    let knowledge = Knowledge {
        builds: &catalogue.facts(),
        intents: &catalogue.intent_facts(),
        workloads: &workloads,
        presets: &presets,
        folder: whole.parent().unwrap_or(&whole),
        honours: &|target, allow| honours(catalogue, target, allow),
        digest: &|file| prony_servers::library_digest(file).map_err(|error| error.to_string()),
        hardware_counters: hardware_counters.as_ref().copied().map_err(String::as_str),
        stack_samples: stack_samples.as_ref().copied().map_err(String::as_str),
        valgrind: valgrind_is_here(),
    };
    let name = path.display().to_string();
    let plan = parse_experiment(&name, &experiment.text, args.profile.as_deref(), &knowledge)
        .map_err(|error| invalid(&error))?;
    prony_lab::check(&plan, catalogue).map_err(Failure::invalid)?;
    Ok(Experiment {
        plan,
        files: std::iter::once(experiment).chain(own).collect(),
    })
}

/// Checks that this host has counters of the processor for us; else gives the reason.
pub(crate) fn hardware_counters() -> Result<(), String> {
    prony_probe::hardware_counters().map_err(|error| error.to_string())
}

/// True where the program `valgrind` is on `PATH`.
fn valgrind_is_here() -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join("valgrind").is_file())
    })
}

/// Checks the settings of a target; names the one that its version can't have, so that the message
/// points at its line. Whatever else is wrong is said of the plan as a whole.
fn honours(catalogue: &Catalogue, target: &Target, allow: &[String]) -> Result<(), Refused> {
    let wanted = Wanted {
        engine: target.engine,
        config: &target.config,
        transport: target.transport,
        clients_max: 1,
        tables: 1,
        allow,
    };
    let Err(error) = catalogue.render(&target.build, wanted) else {
        return Ok(());
    };
    match error {
        RenderError::NotHonoured {
            build,
            version,
            intent,
            value,
            refusal,
        } => Err(Refused {
            reason: format!("{build} ({version}) can't honour {intent} = {value}"),
            remedy: format!("{refusal}; or accept the nearest value with allow = [\"{intent}\"]"),
            setting: Aspect::Intent(intent),
            beside: None,
        }),
        RenderError::RawText(ref name) | RenderError::RawReserved(ref name) => {
            Err(refused_option(name, None, &error))
        }
        RenderError::RawMeetsIntents {
            ref option,
            ref intents,
        } => {
            let asked = |name: &&String| target.config.intents.contains_key(*name);
            let beside = intents.iter().find(asked).cloned();
            Err(refused_option(option, beside.map(Aspect::Intent), &error))
        }
        _ => Ok(()),
    }
}

fn refused_option(name: &str, beside: Option<Aspect>, error: &RenderError) -> Refused {
    Refused {
        // As an experiment's aspects are written.
        setting: Aspect::Option(name.to_ascii_lowercase().replace('-', "_")),
        beside,
        reason: error.to_string(),
        remedy: String::new(),
    }
}

/// The presets of sequences.
pub(crate) fn presets() -> Result<Vec<Preset>, Failure> {
    embedded_presets().map_err(|error| invalid(&error))
}

/// The user's workloads, then the built-in ones whose names they do not take.
pub(crate) fn workloads(args: &WorkloadFileArgs) -> Result<Vec<Definition>, Failure> {
    with_embedded(args, &own_workloads(args)?)
}

/// The user's files of workloads.
fn own_workloads(args: &WorkloadFileArgs) -> Result<Vec<DefinitionFile>, Failure> {
    let paths = args.files.iter();
    let files = paths.map(|path| file(DefinitionKind::Workloads, path));
    files.collect()
}

/// The workloads of the user's files, whose paths are those of `args`, and the built-in ones.
fn with_embedded(
    args: &WorkloadFileArgs,
    own: &[DefinitionFile],
) -> Result<Vec<Definition>, Failure> {
    let mut all: Vec<Definition> = Vec::new();
    let mut add = |definitions: Vec<Definition>| {
        for definition in definitions {
            let name = &definition.workload.name;
            if all.iter().all(|known| known.workload.name != *name) {
                all.push(definition);
            }
        }
    };
    for (path, file) in args.files.iter().zip(own) {
        let more = parse_definitions(&path.display().to_string(), &file.text);
        add(more.map_err(|error| invalid(&error))?);
    }
    add(embedded_definitions().map_err(|error| invalid(&error))?);
    Ok(all)
}

/// Reads a file of the user's.
fn file(kind: DefinitionKind, path: &Path) -> Result<DefinitionFile, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("read {}: {error}", path.display())))?;
    // Results are published, and the folders of a machine mean nothing elsewhere.
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(DefinitionFile {
        kind,
        name: name.to_string_lossy().into_owned(),
        text,
    })
}

/// The message of an invalid file, with the lines it points at.
fn invalid(error: &Invalid) -> Failure {
    let mut message = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    // Rendering into a String fails only if the error's own formatting does.
    if handler.render_report(&mut message, error).is_err() {
        message = error.to_string();
    }
    Failure::new(
        ExitStatus::Invalid,
        format!("a definition is invalid\n\n{}", message.trim_end()),
    )
}
