//! The rule for steps whose placement the experiment leaves open, and the placement of every step.

use std::collections::BTreeMap;

use prony_model::{
    CpuSet, DefaultPlacement, Placement, PlacementReading, PlannedTrial, Processors, ThreadsOn,
    TrialKind,
};
use rusqlite::{Row, Transaction};
use serde::{Deserialize, Serialize};

use crate::database::{change, first, insert_row, read_row, rows};
use crate::trials::require_running;
use crate::values::{Json, Parsed, Word, json, word};
use crate::{Store, StoreError, TrialId};

/// The placement of one step of one done trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementRow {
    /// The trial.
    pub trial: TrialId,
    /// Its block, target and kind.
    pub planned: PlannedTrial,
    /// Index of the step in the plan.
    pub step: usize,
    /// The placement that was asked for, and the processors that the threads had.
    pub reading: PlacementReading,
}

impl Store {
    /// Settles the rule for steps whose placement the experiment leaves open, and returns it: the
    /// first one on record, so that a run that is resumed keeps it.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_default_placement(
        &mut self,
        decided: DefaultPlacement,
    ) -> Result<DefaultPlacement, StoreError> {
        if let Some(before) = self.default_placement()? {
            return Ok(before);
        }
        self.write("record the default placement", |transaction, _| {
            let sql = "UPDATE run SET default_placement = ?1";
            let action = "record the default placement";
            change(transaction, action, sql, [Json(&decided)]).map(|_| decided)
        })
    }

    /// The rule for steps whose placement the experiment leaves open; `None` before it is decided.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn default_placement(&self) -> Result<Option<DefaultPlacement>, StoreError> {
        first(
            &self.connection,
            "read the default placement",
            "SELECT default_placement FROM run WHERE default_placement IS NOT NULL",
            [],
            |row| json(row, 0),
        )
    }

    /// Records the placement of a step and the processors that the threads had.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan or has a placement on record
    /// already, or a role has two entries with the same processors.
    pub fn record_placement(
        &mut self,
        trial: TrialId,
        step: usize,
        reading: &PlacementReading,
    ) -> Result<(), StoreError> {
        self.write("record the placement", |transaction, _| {
            require_running(transaction, trial)?;
            let processors = &reading.placement.processors;
            insert_row! { transaction, "record the placement", placement {
                trial_id: trial, step_id: step, rule: Word(&reading.placement.rule),
                paired: reading.placement.paired,
                sessions: processors.sessions.as_ref().map(CpuSet::to_string),
                background: processors.background.as_ref().map(CpuSet::to_string),
                generator: processors.generator.as_ref().map(CpuSet::to_string),
            } }?;
            let roles = [
                (Role::Sessions, &reading.sessions),
                (Role::Background, &reading.background),
                (Role::Generator, &reading.generator),
            ];
            let mut entries = roles
                .into_iter()
                .flat_map(|(role, threads)| threads.iter().map(move |threads| (role, threads)));
            entries.try_for_each(|(role, threads)| {
                insert_threads(transaction, trial, step, role, threads)
            })
        })
    }

    /// The placement of every step of every done timed trial, by block, target and step. Steps
    /// whose placement was not read have no row.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn placements(&self) -> Result<Vec<PlacementRow>, StoreError> {
        self.placements_of(TrialKind::Timed)
    }

    /// The same of every done counting trial.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counted_placements(&self) -> Result<Vec<PlacementRow>, StoreError> {
        self.placements_of(TrialKind::Counting)
    }

    fn placements_of(&self, kind: TrialKind) -> Result<Vec<PlacementRow>, StoreError> {
        let mut threads = self.threads_of(kind)?;
        rows(
            &self.connection,
            "read the placements",
            "SELECT trial_id, block, target_id, step_id, rule, paired, sessions, background, generator
             FROM placement JOIN trial ON trial.id = trial_id
             WHERE state = 'done' AND kind = ?1 ORDER BY block, target_id, step_id",
            [Word(&kind)],
            |row| {
                let (trial, block, target, step) =
                    (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                let mut of = |role| threads.remove(&(trial, step, role)).unwrap_or_default();
                Ok(PlacementRow {
                    trial,
                    planned: PlannedTrial {
                        block,
                        target,
                        kind,
                    },
                    step,
                    reading: PlacementReading {
                        placement: placement(row, 4)?,
                        sessions: of(Role::Sessions),
                        background: of(Role::Background),
                        generator: of(Role::Generator),
                    },
                })
            },
        )
    }

    /// Threads by trial, step and role; of each role the largest number first.
    fn threads_of(&self, kind: TrialKind) -> Result<ThreadsByRole, StoreError> {
        let mut by_role = ThreadsByRole::new();
        let entries = rows(
            &self.connection,
            "read the placements",
            "SELECT trial_id, step_id, role, cpus, threads
             FROM placed_threads JOIN trial ON trial.id = trial_id
             WHERE state = 'done' AND kind = ?1 ORDER BY threads DESC, cpus",
            [Word(&kind)],
            |row| {
                let key = (row.get(0)?, row.get(1)?, word(row, 2)?);
                let threads = read_row! { row, 3 => ThreadsOn { cpus as Parsed<_>, threads } }?;
                Ok((key, threads))
            },
        )?;
        for (key, threads) in entries {
            by_role.entry(key).or_default().push(threads);
        }
        Ok(by_role)
    }
}

/// The part of threads in the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Sessions,
    Background,
    Generator,
}

/// Threads by trial, step and role.
type ThreadsByRole = BTreeMap<(TrialId, usize, Role), Vec<ThreadsOn>>;

fn insert_threads(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    role: Role,
    threads: &ThreadsOn,
) -> Result<(), StoreError> {
    insert_row! { transaction, "record the placement", placed_threads {
        trial_id: trial, step_id: step, role: Word(&role), cpus: threads.cpus.to_string(),
        threads: threads.threads,
    } }
}

/// The five columns of a placement from `first` on.
fn placement(row: &Row<'_>, first: usize) -> rusqlite::Result<Placement> {
    let set = |column| {
        let cpus = row.get::<_, Option<Parsed<CpuSet>>>(column)?;
        Ok::<_, rusqlite::Error>(cpus.map(|Parsed(cpus)| cpus))
    };
    Ok(Placement {
        rule: word(row, first)?,
        paired: row.get(first + 1)?,
        processors: Processors {
            sessions: set(first + 2)?,
            background: set(first + 3)?,
            generator: set(first + 4)?,
        },
    })
}
