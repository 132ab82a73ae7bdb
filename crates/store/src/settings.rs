//! What the servers of targets were told, what they made of it, and how they plan to answer.

use std::collections::BTreeMap;

use prony_model::RenderedOption;
use rusqlite::params;

use crate::error::Context as _;
use crate::read::word;
use crate::values::Word;
use crate::{Store, StoreError};

/// The first version of the schema that has options and execution plans.
const SINCE: i64 = 2;

/// How a target's server means to answer a statement of the sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTextRow {
    /// Index of the target.
    pub target: usize,
    /// Index of the entry of the sequence.
    pub entry: usize,
    /// Name of the statement in its workload.
    pub statement: String,
    /// What `EXPLAIN` answered: a JSON array with one object for each row, each column a text or
    /// null.
    pub answer_json: String,
}

impl Store {
    /// Records what the server of a target is told, in the order of its option file, or checks
    /// that it is still what is on record: figures under two configurations must not end up under
    /// one name.
    ///
    /// # Errors
    /// When the run began with other options, or there is no such target.
    pub fn record_options(
        &mut self,
        target: usize,
        options: &[RenderedOption],
    ) -> Result<(), StoreError> {
        let Some(name) = self.plan().targets.get(target).map(|t| t.name.clone()) else {
            return Err(StoreError::NoSuchTarget { target });
        };
        let before = self.options(target)?;
        if before.is_empty() && self.has_trials(target)? {
            // Only a file of the first version has trials and no options.
            return Err(StoreError::OptionsUnknown { target: name });
        }
        if let Some(option) = first_change(&before, options).filter(|_| !before.is_empty()) {
            return Err(StoreError::OptionsChanged {
                target: name,
                option: option.to_owned(),
            });
        }
        self.write("record the options of a target", |transaction, _| {
            let mut insert = transaction
                .prepare_cached(
                    "INSERT INTO rendered_option
                         (target_id, position, name, value, origin, intent, why)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
                )
                .during("record the options of a target")?;
            for (position, option) in options.iter().enumerate() {
                insert
                    .execute(params![
                        target,
                        position,
                        option.name,
                        option.value,
                        Word(&option.origin),
                        option.intent,
                        option.why
                    ])
                    .during("record the options of a target")?;
            }
            Ok(())
        })
    }

    fn has_trials(&self, target: usize) -> Result<bool, StoreError> {
        let trials = self.trials()?;
        Ok(trials.iter().any(|trial| trial.planned.target == target))
    }

    /// Records how the server of a target means to answer a statement, as in
    /// [`PlanTextRow::answer_json`]. What was recorded before for this statement is replaced.
    ///
    /// # Errors
    /// When there is no such target.
    pub fn record_plan_text(
        &mut self,
        target: usize,
        entry: usize,
        statement: &str,
        answer_json: &str,
    ) -> Result<(), StoreError> {
        if target >= self.plan().targets.len() {
            return Err(StoreError::NoSuchTarget { target });
        }
        self.write("record an execution plan", |transaction, _| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO plan_text (target_id, entry, statement, answer)
                     VALUES (?1, ?2, ?3, ?4)",
                    params![target, entry, statement, answer_json],
                )
                .during("record an execution plan")
                .map(drop)
        })
    }

    /// What the server of a target is told, in the order of its option file. Empty where that was
    /// never recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn options(&self, target: usize) -> Result<Vec<RenderedOption>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the options of a target",
            "SELECT name, value, origin, intent, why FROM rendered_option
             WHERE target_id = ?1 ORDER BY position",
            [target],
            |row| {
                Ok(RenderedOption {
                    name: row.get(0)?,
                    value: row.get(1)?,
                    origin: word(row, 2)?,
                    intent: row.get(3)?,
                    why: row.get(4)?,
                })
            },
        )
    }

    /// The execution plans of all targets, by entry, statement and target.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn plan_texts(&self) -> Result<Vec<PlanTextRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the execution plans",
            "SELECT target_id, entry, statement, answer FROM plan_text
             ORDER BY entry, statement, target_id",
            [],
            |row| {
                Ok(PlanTextRow {
                    target: row.get(0)?,
                    entry: row.get(1)?,
                    statement: row.get(2)?,
                    answer_json: row.get(3)?,
                })
            },
        )
    }

    /// The effective variables of a target: those of its first done timed trial, or of its first
    /// trial with any where none is done. Empty where there is none.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn target_variables(&self, target: usize) -> Result<BTreeMap<String, String>, StoreError> {
        let pairs = self.rows(
            "read the server's variables",
            &format!(
                "SELECT name, value FROM server_variable JOIN trial_variable ON variable_id = id
                 WHERE trial_id =
                     (SELECT id FROM trial
                      WHERE target_id = ?1 AND id IN (SELECT trial_id FROM trial_variable)
                      ORDER BY NOT ({}), id LIMIT 1)",
                self.done_timed()
            ),
            [target],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(pairs.into_iter().collect())
    }
}

/// The name of the first option that is not the same in both.
fn first_change<'a>(before: &'a [RenderedOption], now: &'a [RenderedOption]) -> Option<&'a str> {
    let said = |option: &'a RenderedOption| (option.name.as_str(), option.value.as_deref());
    let longest = before.len().max(now.len());
    (0..longest).find_map(|index| {
        let (before, now) = (before.get(index).map(said), now.get(index).map(said));
        let (name, _) = before.or(now)?;
        (before != now).then_some(name)
    })
}
