//! Options and effective variables of the servers, and their execution plans.

use std::collections::BTreeMap;

use prony_model::RenderedOption;
use rusqlite::params;

use crate::database::{change, insert_row, read_row, rows};
use crate::trials::{DONE_TIMED, require_running};
use crate::values::Word;
use crate::{Store, StoreError, TrialId};

/// The execution plan of a statement of the sequence on the server of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTextRow {
    /// Index of the target.
    pub target: usize,
    /// Index of the entry of the sequence.
    pub entry: usize,
    /// Name of the statement in its workload.
    pub statement: String,
    /// The answer to `EXPLAIN`: a JSON array with one object for each row, each column a text or
    /// null.
    pub answer_json: String,
}

impl Store {
    /// Records the options of a target's server in the order of its option file, or checks that
    /// they are still those on record: figures under two configurations must not end up under one
    /// name.
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
        if let Some(option) = first_change(&before, options).filter(|_| !before.is_empty()) {
            return Err(StoreError::OptionsChanged {
                target: name,
                option: option.to_owned(),
            });
        }
        self.write("record the options of a target", |transaction, _| {
            options
                .iter()
                .enumerate()
                .try_for_each(|(position, option)| {
                    insert_row! { transaction, "record the options of a target", rendered_option {
                        target_id: target, position: position, name: option.name,
                        value: option.value, origin: Word(&option.origin), intent: option.intent,
                        why: option.why,
                    } " ON CONFLICT DO NOTHING" }
                })
        })
    }

    /// Records the server's variables as they are in a trial, as (name, value).
    ///
    /// # Errors
    /// When the trial is not running.
    pub fn record_variables(
        &mut self,
        trial: TrialId,
        variables: &[(String, String)],
    ) -> Result<(), StoreError> {
        let action = "record the server's variables";
        self.write(action, |transaction, _| {
            require_running(transaction, trial)?;
            for (name, value) in variables {
                insert_row! { transaction, action, server_variable {
                    name: name, value: value,
                } " ON CONFLICT DO NOTHING" }?;
                change(
                    transaction,
                    action,
                    "INSERT INTO trial_variable (trial_id, variable_id)
                     SELECT ?1, id FROM server_variable WHERE name = ?2 AND value = ?3
                     ON CONFLICT DO NOTHING",
                    params![trial, name, value],
                )?;
            }
            Ok(())
        })
    }

    /// The server's variables in a trial, by name.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn variables(&self, trial: TrialId) -> Result<Vec<(String, String)>, StoreError> {
        rows(
            &self.connection,
            "read the server's variables",
            "SELECT name, value FROM server_variable JOIN trial_variable ON variable_id = id
             WHERE trial_id = ?1 ORDER BY name",
            [trial],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Records the execution plan of a statement on a target's server, as in
    /// [`PlanTextRow::answer_json`], in place of one that is on record.
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
            change(
                transaction,
                "record an execution plan",
                "INSERT OR REPLACE INTO plan_text (target_id, entry, statement, answer)
                 VALUES (?1, ?2, ?3, ?4)",
                params![target, entry, statement, answer_json],
            )
            .map(drop)
        })
    }

    /// The options of a target's server, in the order of its option file. Empty where they were
    /// never recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn options(&self, target: usize) -> Result<Vec<RenderedOption>, StoreError> {
        rows(
            &self.connection,
            "read the options of a target",
            "SELECT name, value, origin, intent, why FROM rendered_option
             WHERE target_id = ?1 ORDER BY position",
            [target],
            |row| {
                read_row! { row, 0 => RenderedOption { name, value, origin as Word<_>, intent, why } }
            },
        )
    }

    /// The execution plans of all targets, by entry, statement and target.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn plan_texts(&self) -> Result<Vec<PlanTextRow>, StoreError> {
        rows(
            &self.connection,
            "read the execution plans",
            "SELECT target_id, entry, statement, answer FROM plan_text
             ORDER BY entry, statement, target_id",
            [],
            |row| {
                read_row! { row, 0 => PlanTextRow { target, entry, statement, answer_json } }
            },
        )
    }

    /// The effective variables of a target: those of its first done timed trial, or of its first
    /// trial with any where none is done. Empty where there is none.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn target_variables(&self, target: usize) -> Result<BTreeMap<String, String>, StoreError> {
        let pairs = rows(
            &self.connection,
            "read the server's variables",
            &format!(
                "SELECT name, value FROM server_variable JOIN trial_variable ON variable_id = id
                 WHERE trial_id =
                     (SELECT id FROM trial
                      WHERE target_id = ?1 AND id IN (SELECT trial_id FROM trial_variable)
                      ORDER BY NOT ({DONE_TIMED}), id LIMIT 1)"
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
