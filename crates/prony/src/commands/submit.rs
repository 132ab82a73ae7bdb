//! `prony submit`: the blocks of an experiment are handed to many hosts.

mod by_hosts;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use prony_fleet::{
    Engine as _, Request, Round, RunFolder, Slurm, groups, limit_minutes, predicted_part_ms, status,
};
use prony_model::{Plan, Target};
use prony_servers::Catalogue;
use prony_store::{NewRun, Store};

use crate::cli::SubmitArgs;
use crate::commands::collect::fleet_failure;
use crate::commands::run::new_folder;
use crate::commands::servers::fetch_one;
use crate::definitions::{self, Experiment};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::own_build::own_build;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::{duration, plural};

/// Hands over the blocks of an experiment, or those that a submitted run misses.
pub(crate) fn submit(args: &SubmitArgs, signals: &Signals) -> Result<(), Failure> {
    if args.experiment.is_dir() {
        return again(args, signals);
    }
    let engine = Chosen::of(args, None)?;
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let experiment = definitions::experiment(&args.experiment, &args.definitions, &catalogue)?;
    check_plan(&experiment.plan)?;
    let surroundings = Surroundings::find()?;
    fetch(&experiment.plan, (&catalogue, &surroundings), signals)?;
    let folder = create(args, &experiment, &surroundings)?;
    let blocks: Vec<u32> = (0..experiment.plan.blocks()).collect();
    hand_over(&folder, &experiment.plan, (&blocks, &engine), signals)
}

/// Hands over what no part has and no job measures.
fn again(args: &SubmitArgs, signals: &Signals) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.experiment).map_err(Failure::usage)?;
    let last = Round::all(&folder)
        .map_err(|error| fleet_failure(&error))?
        .pop();
    let known = status(&folder, |round| {
        (round.engine == "slurm").then(|| Box::new(Slurm) as Box<dyn prony_fleet::Engine>)
    });
    let known = known.map_err(|error| fleet_failure(&error))?;
    if let Some(error) = known.silent {
        let message = format!("find out what is running: {error}");
        return Err(Failure::to(ExitStatus::Host, &message));
    }
    let open = known.blocks.iter();
    let open = open.filter(|block| matches!(block.state, "partial" | "missing"));
    let blocks: Vec<u32> = open.map(|block| block.block - 1).collect();
    if blocks.is_empty() {
        output::notice("nothing is missing that no job measures already");
        return Ok(());
    }
    let engine = Chosen::of(args, last.as_ref())?;
    // The reason may be mended by now.
    let _ = fs::remove_file(folder.stop());
    let plan = Store::open_read_only(&folder.plan()).map_err(Failure::usage)?;
    hand_over(&folder, plan.plan(), (&blocks, &engine), signals)
}

/// What the user chose for the engine.
struct Chosen {
    engine: String,
    hosts: Option<PathBuf>,
    blocks_per_job: u32,
    max_jobs: Option<u32>,
    options: Vec<String>,
}

impl Chosen {
    /// The user's choices, or those of the last round.
    fn of(args: &SubmitArgs, last: Option<&Round>) -> Result<Self, Failure> {
        let wrong = |message: &str| Err(Failure::new(ExitStatus::Usage, message));
        let of_last = last.map(|round| round.engine.clone());
        let named = args.to.first().cloned().or(of_last);
        let engine = match named.as_deref() {
            Some("slurm") if args.to.len() > 1 => {
                return wrong("--to slurm takes no file: name the experiment before --to");
            }
            Some("hosts") if args.to.len() < 2 => {
                return wrong("name the file of hosts: --to hosts hosts.toml");
            }
            Some(known @ ("slurm" | "hosts")) => known.to_owned(),
            Some(other) => {
                return wrong(&format!("--to {other}: choose slurm, or hosts and a file"));
            }
            None => return wrong("say what hands the blocks to hosts: --to slurm"),
        };
        let option = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("--{name}={value}"))
        };
        let named = [
            option("partition", &args.partition),
            option("constraint", &args.constraint),
        ];
        let mut options: Vec<String> = named.into_iter().flatten().collect();
        options.extend(args.options.iter().cloned());
        if options.is_empty() {
            options = last.map_or_else(Vec::new, |round| round.options.clone());
        }
        let before = last.map(|round| round.blocks_per_job);
        Ok(Self {
            engine,
            hosts: args.to.get(1).map(PathBuf::from),
            blocks_per_job: args.blocks_per_job.or(before).unwrap_or(1),
            max_jobs: args
                .max_jobs
                .or_else(|| last.and_then(|round| round.max_jobs)),
            options,
        })
    }
}

/// Refuses what can't be cut into blocks that are known before the run.
fn check_plan(plan: &Plan) -> Result<(), Failure> {
    let message = if plan.campaign.is_some() {
        "its `precision` lets blocks follow from those before: say `blocks` for a fleet"
    } else if plan.targets.iter().any(|target| target.external.is_some()) {
        "it measures an external server, which is on one host"
    } else if plan.targets.iter().any(Target::is_far) {
        "it loads a target from another host (`transport = \"network\"`), and each part has one host"
    } else {
        return Ok(());
    };
    Err(Failure::new(
        ExitStatus::Invalid,
        format!(
            "failed to cut experiment {} into parts: {message}",
            plan.name
        ),
    ))
}

/// Fetches all builds once, on this host.
fn fetch(
    plan: &Plan,
    (catalogue, surroundings): (&Catalogue, &Surroundings),
    signals: &Signals,
) -> Result<(), Failure> {
    let mut ids: Vec<&str> = plan.targets.iter().map(|it| it.build.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter()
        .try_for_each(|id| fetch_one(id, catalogue, surroundings, signals).map(drop))
}

/// Makes the folder of the run: plan, program, places for parts and for what jobs say.
fn create(
    args: &SubmitArgs,
    experiment: &Experiment,
    surroundings: &Surroundings,
) -> Result<RunFolder, Failure> {
    let now = Timestamp::now();
    let plan = &experiment.plan;
    let io = |what: &str, path: &Path, error: std::io::Error| {
        Failure::host(format!("{what} {}: {error}", path.display()))
    };
    let path = new_folder(&args.runs, &plan.name, now)
        .map_err(|error| io("make a folder for the run in", &args.runs, error))?;
    let folder = RunFolder::create(&path).map_err(|error| fleet_failure(&error))?;
    let id = path.file_name().unwrap_or_default().to_string_lossy();
    let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid").map_err(Failure::host)?;
    let uuid = uuid.trim();
    let host_json = serde_json::to_string(&surroundings.host).map_err(Failure::defect)?;
    // The file is written on this host's disk: result files in use need locks that shared file systems
    // may lack.
    let local = surroundings.roots.cache.join("parts").join(uuid);
    prony_host::create_private(&local).map_err(Failure::host)?;
    let (draft, copy) = (local.join("plan.sqlite"), local.join("copy.sqlite"));
    let run = NewRun {
        id: &id,
        plan,
        prony_version: env!("CARGO_PKG_VERSION"),
        host_json: &host_json,
        started_at: now,
    };
    let mut store = Store::create(&draft, &run).map_err(Failure::host)?;
    store
        .record_definitions(&experiment.files)
        .map_err(Failure::host)?;
    store
        .record_fleet(uuid, &own_build()?)
        .map_err(Failure::host)?;
    store.write_copy(&copy).map_err(Failure::host)?;
    drop(store);
    let program = env::current_exe().map_err(Failure::host)?;
    for (from, to) in [(&copy, folder.plan()), (&program, folder.program())] {
        fs::copy(from, &to).map_err(|error| io("write", &to, error))?;
    }
    fs::remove_dir_all(&local).map_err(|error| io("remove", &local, error))?;
    output::talk(&format!("The parts of this run go to {}.", path.display()));
    Ok(folder)
}

/// Gives blocks to the engine.
fn hand_over(
    folder: &RunFolder,
    plan: &Plan,
    (blocks, chosen): (&[u32], &Chosen),
    signals: &Signals,
) -> Result<(), Failure> {
    let failed = |error: prony_fleet::FleetError| fleet_failure(&error);
    let mut round = Round {
        number: Round::next_number(folder).map_err(failed)?,
        engine: chosen.engine.clone(),
        job: None,
        groups: groups(blocks, chosen.blocks_per_job),
        options: chosen.options.clone(),
        blocks_per_job: chosen.blocks_per_job,
        max_jobs: chosen.max_jobs,
    };
    // Before its tasks begin: they read it.
    round.keep(folder).map_err(failed)?;
    if let Some(file) = &chosen.hosts {
        return by_hosts::run(folder, &round, file, signals);
    }
    let longest = round.groups.iter().max_by_key(|group| group.len());
    let longest = longest.map_or(&[][..], Vec::as_slice);
    let script = script(folder, &round)?;
    let request = Request {
        folder,
        name: &plan.name,
        round: &round,
        limit_minutes: limit_minutes(plan, longest),
        script: &script,
    };
    let job = Slurm.submit(&request).map_err(failed)?;
    output::notice(&format!(
        "job {job}: {} of {} each, about {} on a host that has no images yet, ended after {}",
        plural(round.groups.len() as u64, "task"),
        plural(longest.len() as u64, "block"),
        duration(predicted_part_ms(plan, longest)),
        duration(request.limit_minutes * 60_000),
    ));
    round.job = Some(job);
    round.keep(folder).map_err(failed)?;
    output::notice(&format!(
        "look at it with: prony status {}",
        folder.path().display()
    ));
    Ok(())
}

/// The script of a task. It becomes Prony, so that a signal for the script is one for Prony.
fn script(folder: &RunFolder, round: &Round) -> Result<PathBuf, Failure> {
    let path = folder.jobs().join(format!("{}.sh", round.number));
    let word = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
    let text = format!(
        "#!/bin/sh\nexec {} part {} --round {}\n",
        word(&folder.program()),
        word(folder.path()),
        round.number
    );
    let written = fs::write(&path, text)
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| Failure::host(format!("write {}: {error}", path.display())))?;
    Ok(path)
}
