//! `prony part`: blocks of a submitted run, measured by this host into a file that is delivered.

use std::cell::RefCell;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use prony_fleet::{FleetError, PartName, Round, RunFolder, deliver};
use prony_lab::RunEnd;
use prony_servers::Catalogue;
use prony_store::{NewPart, Store};

use crate::cli::PartArgs;
use crate::commands::complete::lab_failure;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::own_build::own_build;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Exit code of a part that was asked to stop: an engine runs it again.
const AGAIN: u8 = 75;

/// A host that lacks something waits before its job ends, so that it does not take one job of the queue
/// after the other.
const UNFIT_WAIT: Duration = Duration::from_mins(1);

/// Measures the blocks and delivers them, whatever came of them.
pub(crate) fn part(args: &PartArgs, signals: &Signals) -> Result<(), Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::usage)?;
    if let Ok(reason) = fs::read_to_string(folder.stop()) {
        output::notice(&format!(
            "not measured, because no host can: {}",
            reason.trim()
        ));
        return Ok(());
    }
    let task = Task::of(args, &folder)?;
    task.spread(signals);
    let measured = measure(args, &folder, &task, signals);
    let failure = match measured {
        Ok(()) => return Ok(()),
        Err(failure) => failure,
    };
    match failure.code {
        ExitStatus::Invalid | ExitStatus::Defect => {
            // Every host would find the same.
            let noted = fs::write(folder.stop(), format!("{}\n", failure.message));
            if let Err(error) = noted {
                output::notice(&format!("write {}: {error}", folder.stop().display()));
            }
        }
        ExitStatus::Server | ExitStatus::Host if task.is_of_engine => wait(UNFIT_WAIT, signals),
        _ => {}
    }
    Err(failure)
}

/// What this host is to do.
struct Task {
    /// Counted from 0.
    blocks: Vec<u32>,
    attempt: u32,
    host_name: String,
    /// The job in the words of the engine.
    job: Option<String>,
    is_of_engine: bool,
    /// Its number among the tasks that begin together, and their number.
    place: (usize, usize),
}

impl Task {
    fn of(args: &PartArgs, folder: &RunFolder) -> Result<Self, Failure> {
        let wrong = |message: String| Failure::new(ExitStatus::Usage, message);
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let host_name = args
            .host_name
            .clone()
            .or_else(|| variable("SLURMD_NODENAME"));
        let host_name = host_name.unwrap_or_else(own_name);
        let job = variable("SLURM_JOB_ID");
        let Some(number) = args.round else {
            let text = args.blocks.as_deref().unwrap_or_default();
            let blocks = read_blocks(text).ok_or_else(|| {
                wrong(format!(
                    "--blocks {text}: write a number, or two such as 3..4"
                ))
            })?;
            return Ok(Self {
                blocks,
                attempt: 0,
                host_name,
                job,
                is_of_engine: false,
                place: (0, 1),
            });
        };
        let round = Round::read(folder, number).map_err(Failure::usage)?;
        let task = variable("SLURM_ARRAY_TASK_ID").and_then(|text| text.parse().ok());
        let task = args.task.or(task);
        let task = task.ok_or_else(|| wrong("name the --task of the round".to_owned()))?;
        let Some(blocks) = round.groups.get(task) else {
            return Err(wrong(format!("round {number} has no task {task}")));
        };
        let restarts = variable("SLURM_RESTART_COUNT").and_then(|text| text.parse().ok());
        Ok(Self {
            blocks: blocks.clone(),
            attempt: round.attempt(restarts.unwrap_or(0)),
            host_name,
            job,
            is_of_engine: true,
            place: (task, round.groups.len()),
        })
    }

    /// Waits a little where hundreds begin at once: they read the same files.
    fn spread(&self, signals: &Signals) {
        let (task, tasks) = self.place;
        let seconds = task % (tasks / 10).clamp(1, 30);
        wait(Duration::from_secs(seconds as u64), signals);
    }
}

/// Reads `3` or `3..4`, blocks counted from 1.
fn read_blocks(text: &str) -> Option<Vec<u32>> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then(|| (first - 1..last).collect())
}

fn own_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "unnamed" } else { name }.to_owned()
}

fn wait(time: Duration, signals: &Signals) {
    let begin = Instant::now();
    while begin.elapsed() < time && !signals.stop.requested() {
        thread::sleep(Duration::from_millis(100));
    }
}

/// Measures into a file on this host's disk, and delivers it.
fn measure(
    args: &PartArgs,
    folder: &RunFolder,
    task: &Task,
    signals: &Signals,
) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    let surroundings = Surroundings::find()?.with_limit(&args.images)?;
    let mut part = Part::open(folder, task, &surroundings)?;
    let ended = part.run(&catalogue, &surroundings, signals);
    if part.has_trials().map_err(Failure::host)? {
        part.deliver(folder, task).map_err(Failure::host)?;
    }
    match ended? {
        RunEnd::Interrupted => {
            let code = ExitStatus::Interrupted(AGAIN);
            Err(Failure::new(
                code,
                "interrupted; what is there was delivered",
            ))
        }
        RunEnd::Complete { failed } => {
            part.remove();
            if failed == 0 {
                return Ok(());
            }
            let message = format!("{failed} trials failed; they were delivered with their reasons");
            Err(Failure::new(ExitStatus::TrialsFailed, message))
        }
    }
}

/// A part on the disk of its host.
struct Part {
    store: Store,
    path: PathBuf,
    artefacts: PathBuf,
    /// An earlier attempt of this host left it.
    continues: bool,
}

impl Part {
    /// Copies the plan to this host, or finds what an earlier attempt of this host left.
    fn open(folder: &RunFolder, task: &Task, around: &Surroundings) -> Result<Self, Failure> {
        let io = |action: &str, path: &Path, error: &io::Error| {
            Failure::host(format!("{action} {}: {error}", path.display()))
        };
        let plan = Store::open_read_only(&folder.plan()).map_err(Failure::usage)?;
        let run = plan.run().map_err(Failure::usage)?;
        check_blocks(&plan, &task.blocks)?;
        drop(plan);
        let parts = around
            .roots
            .cache
            .join("parts")
            .join(run.uuid.unwrap_or_default());
        prony_host::create_private(&parts).map_err(Failure::host)?;
        let name = format!("{}.{}", PartName::of_blocks(&task.blocks), task.host_name);
        let path = parts.join(format!("{name}.sqlite"));
        let continues = path.exists();
        if !continues {
            let draft = path.with_extension("draft");
            fs::copy(folder.plan(), &draft)
                .and_then(|_| fs::rename(&draft, &path))
                .map_err(|error| io("write", &path, &error))?;
        }
        let mut store = Store::open(&path).map_err(Failure::host)?;
        let host_json = serde_json::to_string(&around.host).map_err(Failure::defect)?;
        let part = NewPart {
            name: &name,
            host_name: &task.host_name,
            attempt: task.attempt,
            job: task.job.as_deref(),
            prony_build: &own_build()?,
            blocks: &task.blocks,
            host_json: &host_json,
        };
        store
            .begin_part(&part, Timestamp::now())
            .map_err(Failure::host)?;
        Ok(Self {
            store,
            artefacts: parts.join(&name),
            path,
            continues,
        })
    }

    /// Runs what its blocks miss.
    fn run(
        &mut self,
        catalogue: &Catalogue,
        surroundings: &Surroundings,
        signals: &Signals,
    ) -> Result<RunEnd, Failure> {
        let lab = surroundings.lab(catalogue, &signals.stop);
        let missing = self.store.missing_here().map_err(Failure::host)?.len();
        let progress = RefCell::new(Progress::start(missing, 0));
        let ended = prony_lab::run(
            &lab,
            &mut self.store,
            &self.artefacts.join("artefacts"),
            &mut |event| progress.borrow_mut().show(&event),
            &mut |_| false,
        );
        progress.into_inner().finish();
        ended.map_err(|error| lab_failure(&error))
    }

    fn has_trials(&self) -> Result<bool, prony_store::StoreError> {
        Ok(!self.store.trials()?.is_empty())
    }

    fn deliver(&self, folder: &RunFolder, task: &Task) -> Result<(), FleetError> {
        let name = PartName {
            blocks: &task.blocks,
            attempt: task.attempt,
            host_name: &task.host_name,
        };
        deliver(
            folder,
            &self.store,
            &self.artefacts,
            (&name, self.continues),
        )
    }

    /// Removes what was delivered from this host.
    fn remove(self) {
        let Self {
            store,
            path,
            artefacts,
            ..
        } = self;
        drop(store);
        // What stays takes room and is read by nobody.
        let _ = fs::remove_file(path.with_extension("sqlite.lock"));
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(artefacts);
    }
}

/// Checks that the plan has the blocks.
fn check_blocks(plan: &Store, blocks: &[u32]) -> Result<(), Failure> {
    let all = plan.plan().blocks();
    match blocks.iter().find(|block| **block >= all) {
        None => Ok(()),
        Some(block) => {
            let message = format!("the run has no block {}, its last one is {all}", block + 1);
            Err(Failure::new(ExitStatus::Usage, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_one_or_a_range() {
        assert_eq!(read_blocks("3"), Some(vec![2]));
        assert_eq!(read_blocks("3..5"), Some(vec![2, 3, 4]));
        for wrong in ["", "0", "4..3", "0..2", "a", "3-4", "1..", "..2"] {
            assert_eq!(read_blocks(wrong), None, "{wrong}");
        }
    }
}
