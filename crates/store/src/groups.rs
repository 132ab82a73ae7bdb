//! Groups of clients beside those of a step.

use prony_model::{GroupOutcome, PlannedTrial, StepOutcome, TrialKind};
use rusqlite::{OptionalExtension as _, Transaction, params};

use crate::error::Context as _;
use crate::read::word;
use crate::schedules::SINCE;
use crate::values::Word;
use crate::{ErrorRow, StatementRow, Store, StoreError, TrialId};

/// The counts of one group of clients in a step of a done timed trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    /// The trial.
    pub trial: TrialId,
    /// Its block and target.
    pub planned: PlannedTrial,
    /// Index of the step in the plan.
    pub step: usize,
    /// Place of the group in the step, from 1.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// Connections used.
    pub clients: u32,
    /// Operations completed without a final error.
    pub operations: u64,
    /// Statements answered inside those operations.
    pub queries: u64,
    /// Sum over the clients of their busy time, in nanoseconds.
    pub busy_ns: u64,
    /// Server errors of all classes.
    pub errors: u64,
    /// Answers whose counts are not what the workload expects.
    pub unexpected: u64,
}

impl Store {
    /// The counts of all groups of clients in done timed trials, by block, target, step and place.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn groups(&self) -> Result<Vec<GroupRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the groups of clients",
            &format!(
                "SELECT g.trial_id, block, target_id, g.step_id, g.position, g.name, g.clients,
                     g.operations, g.queries, g.busy_ns,
                     (SELECT coalesce(sum(count), 0) FROM client_group_error AS e
                      WHERE e.trial_id = g.trial_id AND e.step_id = g.step_id
                          AND e.group_position = g.position),
                     (SELECT coalesce(sum(unexpected), 0) FROM client_group_statement AS s
                      WHERE s.trial_id = g.trial_id AND s.step_id = g.step_id
                          AND s.group_position = g.position)
                 FROM client_group AS g JOIN trial ON trial.id = g.trial_id
                 WHERE {} ORDER BY block, target_id, g.step_id, g.position",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(GroupRow {
                    trial: TrialId(row.get(0)?),
                    planned: PlannedTrial {
                        block: row.get(1)?,
                        target: row.get(2)?,
                        kind: TrialKind::Timed,
                    },
                    step: row.get(3)?,
                    position: row.get(4)?,
                    name: row.get(5)?,
                    clients: row.get(6)?,
                    operations: row.get(7)?,
                    queries: row.get(8)?,
                    busy_ns: row.get(9)?,
                    errors: row.get(10)?,
                    unexpected: row.get(11)?,
                })
            },
        )
    }

    /// The service time of a group's operations (`statement` 0), or of one of its statements
    /// ([`StatementRow::position`]): HDR V2, deflated, in nanoseconds.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn group_histogram(
        &self,
        trial: TrialId,
        step: usize,
        group: usize,
        statement: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        if self.version < SINCE {
            return Ok(None);
        }
        self.connection
            .prepare_cached(
                "SELECT hdr FROM (
                     SELECT trial_id, step_id, position AS group_position, 0 AS position, hdr
                     FROM client_group
                     UNION ALL
                     SELECT trial_id, step_id, group_position, position, hdr
                     FROM client_group_statement)
                 WHERE trial_id = ?1 AND step_id = ?2 AND group_position = ?3 AND position = ?4",
            )
            .and_then(|mut query| {
                query
                    .query_row(params![trial.0, step, group, statement], |row| row.get(0))
                    .optional()
            })
            .during("read a histogram of a group of clients")
    }

    /// The counts of the statements of one group, in the order of its workload.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn group_statements(
        &self,
        trial: TrialId,
        step: usize,
        group: usize,
    ) -> Result<Vec<StatementRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the counts of a group's statements",
            "SELECT position, statement, count, rows, affected, unexpected
             FROM client_group_statement
             WHERE trial_id = ?1 AND step_id = ?2 AND group_position = ?3 ORDER BY position",
            params![trial.0, step, group],
            |row| {
                Ok(StatementRow {
                    position: row.get(0)?,
                    name: row.get(1)?,
                    count: row.get(2)?,
                    rows: row.get(3)?,
                    affected: row.get(4)?,
                    unexpected: row.get(5)?,
                })
            },
        )
    }

    /// The server errors of one group's clients in all done timed trials, with the place of the
    /// group, by trial, step, group and code.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn group_errors(&self) -> Result<Vec<(usize, ErrorRow)>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.rows(
            "read the errors of groups of clients",
            &format!(
                "SELECT group_position, trial_id, step_id, code, class, count, message
                 FROM client_group_error JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id, group_position, code",
                self.done_timed()
            ),
            [],
            |row| {
                Ok((
                    row.get(0)?,
                    ErrorRow {
                        trial: TrialId(row.get(1)?),
                        step: row.get(2)?,
                        code: row.get(3)?,
                        class: word(row, 4)?,
                        count: row.get(5)?,
                        message: row.get(6)?,
                    },
                ))
            },
        )
    }
}

/// Keeps what the groups beside a step's own clients yielded.
pub(crate) fn insert_groups(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    for (position, group) in (1..).zip(&outcome.beside) {
        transaction
            .prepare_cached(
                "INSERT INTO client_group (trial_id, step_id, position, name, clients,
                     operations, queries, busy_ns, hdr)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    trial.0,
                    step,
                    position,
                    group.name,
                    group.clients,
                    group.operations,
                    group.queries,
                    group.busy_ns,
                    group.histogram
                ])
            })
            .during("record a group of clients")?;
        let place = (trial, step, position);
        insert_statements(transaction, place, group)?;
        insert_errors(transaction, place, group)?;
    }
    Ok(())
}

/// Trial, step, and place of a group in the step.
type Place = (TrialId, usize, usize);

fn insert_statements(
    transaction: &Transaction<'_>,
    (trial, step, group_position): Place,
    group: &GroupOutcome,
) -> Result<(), StoreError> {
    for (position, statement) in (1..).zip(&group.statements) {
        transaction
            .prepare_cached(
                "INSERT INTO client_group_statement (trial_id, step_id, group_position, position,
                     statement, count, rows, affected, unexpected, hdr)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    trial.0,
                    step,
                    group_position,
                    position,
                    statement.name,
                    statement.count,
                    statement.rows,
                    statement.affected,
                    statement.unexpected,
                    statement.histogram
                ])
            })
            .during("record the counts of a group's statement")?;
    }
    Ok(())
}

fn insert_errors(
    transaction: &Transaction<'_>,
    (trial, step, group_position): Place,
    group: &GroupOutcome,
) -> Result<(), StoreError> {
    for error in &group.errors {
        transaction
            .prepare_cached(
                "INSERT INTO client_group_error (trial_id, step_id, group_position, code, class,
                     count, message)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    trial.0,
                    step,
                    group_position,
                    error.code,
                    Word(&error.class),
                    error.count,
                    error.message
                ])
            })
            .during("record the errors of a group of clients")?;
    }
    Ok(())
}
