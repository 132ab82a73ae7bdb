//! How far a run is: from its parts, and from what its engine says.

use std::collections::BTreeMap;

use prony_store::{PartRow, Store};
use serde::Serialize;

use crate::engine::{Engine, TaskState};
use crate::error::FleetError;
use crate::folder::RunFolder;
use crate::round::Round;

/// The state of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockState {
    /// Its number, from 1.
    pub block: u32,
    /// One of `done`, `failed`, `partial`, `running`, `waiting`, `missing`.
    pub state: &'static str,
    /// Its host, where it has one.
    pub host_name: Option<String>,
    /// The reason in the engine's words, where it waits.
    pub reason: Option<String>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Every planned block.
    pub blocks: Vec<BlockState>,
    /// Why no part can be measured, if a job found out.
    pub stopped: Option<String>,
    /// Parts that can't be read, with the reasons.
    pub unreadable: Vec<String>,
    /// Why the engine could not be asked.
    pub silent: Option<String>,
}

/// The state of every block: as parts have it, else as the engine says. `engine` gives the engine of a
/// round, where it can be asked.
///
/// # Errors
/// When the plan or the folder can't be read.
pub fn status(
    folder: &RunFolder,
    engine: impl Fn(&Round) -> Option<Box<dyn Engine>>,
) -> Result<Status, FleetError> {
    let plan = Store::open_read_only(&folder.plan())?.plan().clone();
    let mut trials: BTreeMap<u32, usize> = BTreeMap::new();
    for trial in &plan.trials {
        *trials.entry(trial.block).or_default() += 1;
    }
    let (delivered, unreadable) = delivered(folder)?;
    let mut silent = None;
    let mut tasks: BTreeMap<u32, TaskState> = BTreeMap::new();
    for round in Round::all(folder)? {
        let (Some(job), Some(engine)) = (&round.job, engine(&round)) else {
            continue;
        };
        match engine.states(job) {
            Ok(states) => tasks.extend(of_blocks(&round, states)),
            Err(error) => silent = Some(error.to_string()),
        }
    }
    let blocks = trials.into_iter().map(|(block, all)| {
        let part = delivered.get(&block);
        let (state, host_name) = match part {
            Some(part) if part.ended >= all && part.failed > 0 => ("failed", Some(&part.host_name)),
            Some(part) if part.ended >= all => ("done", Some(&part.host_name)),
            _ => ("", None),
        };
        let open = tasks.get(&block);
        let (state, host_name, reason) = match (state, open) {
            ("", Some(task)) if is_waiting(task) => ("waiting", None, Some(task.reason.clone())),
            ("", Some(task)) => ("running", Some(task.host_name.clone()), None),
            ("", None) => match part {
                Some(part) => ("partial", Some(part.host_name.clone()), None),
                None => ("missing", None, None),
            },
            (state, _) => (state, host_name.cloned(), None),
        };
        BlockState {
            block: block + 1,
            state,
            host_name,
            reason,
        }
    });
    Ok(Status {
        blocks: blocks.collect(),
        stopped: std::fs::read_to_string(folder.stop()).ok(),
        unreadable,
        silent,
    })
}

fn is_waiting(task: &TaskState) -> bool {
    matches!(task.state.as_str(), "PENDING" | "REQUEUED" | "CONFIGURING")
}

/// The task of every block of a round.
fn of_blocks(round: &Round, states: Vec<TaskState>) -> Vec<(u32, TaskState)> {
    let blocks = |task: &TaskState| round.groups.get(task.task).cloned().unwrap_or_default();
    let states = states.into_iter();
    states
        .flat_map(|task| {
            blocks(&task)
                .into_iter()
                .map(move |block| (block, task.clone()))
        })
        .collect()
}

/// What parts have of a block.
struct Delivered {
    host_name: String,
    ended: usize,
    failed: usize,
}

/// The part that has most of each block, and what is wrong with parts that can't be read.
fn delivered(folder: &RunFolder) -> Result<(BTreeMap<u32, Delivered>, Vec<String>), FleetError> {
    let mut found: BTreeMap<u32, Delivered> = BTreeMap::new();
    let mut unreadable = Vec::new();
    for path in folder.part_files()? {
        let read =
            Store::open_read_only(&path).and_then(|store| Ok((store.part()?, store.trials()?)));
        let (part, trials): (Option<PartRow>, _) = match read {
            Ok(read) => read,
            Err(error) => {
                unreadable.push(error.to_string());
                continue;
            }
        };
        let Some(part) = part else {
            unreadable.push(format!("{} is no part of a run", path.display()));
            continue;
        };
        for &block in &part.blocks {
            let of_block = || trials.iter().filter(|trial| trial.planned.block == block);
            let is = |state| of_block().filter(|trial| trial.state == state).count();
            let failed = is(prony_model::TrialState::Failed);
            let ended = is(prony_model::TrialState::Done) + failed;
            let known = found.get(&block).map_or(0, |known| known.ended);
            if ended > known || (known == 0 && of_block().count() > 0) {
                let host_name = part.host_name.clone();
                found.insert(
                    block,
                    Delivered {
                        host_name,
                        ended,
                        failed,
                    },
                );
            }
        }
    }
    Ok((found, unreadable))
}
