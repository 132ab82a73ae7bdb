//! Typed answers for reports. What is asked for often is read whole; histograms one by one.

use jiff::Timestamp;
use prony_model::{Backend, PlannedTrial, TrialKind};
use rusqlite::{OptionalExtension as _, Params, Row, params};
use serde::de::DeserializeOwned;

use crate::error::Context as _;
use crate::schedules::SINCE;
use crate::values::{Time, Word};
use crate::{
    BuildRow, ErrorRow, HostRow, OutcomeRow, RunRow, StatementRow, Store, StoreError, TrialId,
    TrialRow, WarningRow, samples,
};

impl Store {
    /// The run as a whole.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn run(&self) -> Result<RunRow, StoreError> {
        let backend = if self.version < SINCE {
            "(SELECT 'epoll' FROM outcome LIMIT 1)"
        } else {
            "backend"
        };
        self.connection
            .query_row(
                &format!("SELECT run_id, prony_version, started_at, ended_at, {backend} FROM run"),
                [],
                |row| {
                    Ok(RunRow {
                        id: row.get(0)?,
                        prony_version: row.get(1)?,
                        started_at: time(row, 2)?,
                        ended_at: row.get::<_, Option<Time>>(3)?.map(|at| at.0),
                        backend: row
                            .get::<_, Option<Word<Backend>>>(4)?
                            .map(|backend| backend.0),
                    })
                },
            )
            .during("read the run")
    }

    /// The host as it was when the run began and whenever it was resumed, oldest first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn hosts(&self) -> Result<Vec<HostRow>, StoreError> {
        self.rows(
            "read the host",
            "SELECT recorded_at, facts FROM host ORDER BY id",
            [],
            |row| {
                Ok(HostRow {
                    recorded_at: time(row, 0)?,
                    facts_json: row.get(1)?,
                })
            },
        )
    }

    /// The build of every target, in the order of the plan; `None` where it was never recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn builds(&self) -> Result<Vec<Option<BuildRow>>, StoreError> {
        self.rows(
            "read the builds",
            "SELECT server_version, build_hash, build_facts FROM target ORDER BY id",
            [],
            |row| {
                let server_version: Option<String> = row.get(0)?;
                server_version
                    .map(|server_version| {
                        Ok(BuildRow {
                            server_version,
                            content_hash: row.get(1)?,
                            facts_json: row.get(2)?,
                        })
                    })
                    .transpose()
            },
        )
    }

    /// Every attempt at every trial, in the order in which they began.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn trials(&self) -> Result<Vec<TrialRow>, StoreError> {
        let kind = self.kind_column();
        self.rows(
            "read the trials",
            &format!(
                "SELECT id, block, target_id, attempt, state, began_at, ended_at, reason, log_tail,
                     {kind}
                 FROM trial ORDER BY id"
            ),
            [],
            |row| {
                Ok(TrialRow {
                    id: TrialId(row.get(0)?),
                    planned: PlannedTrial {
                        block: row.get(1)?,
                        target: row.get(2)?,
                        kind: word(row, 9)?,
                    },
                    attempt: row.get(3)?,
                    state: word(row, 4)?,
                    began_at: time(row, 5)?,
                    ended_at: row.get::<_, Option<Time>>(6)?.map(|at| at.0),
                    reason: row.get(7)?,
                    log_tail: row.get(8)?,
                })
            },
        )
    }

    /// The counts of every step of every done timed trial, by block, target and step.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn outcomes(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        self.outcomes_of(TrialKind::Timed)
    }

    pub(crate) fn outcomes_of(&self, kind: TrialKind) -> Result<Vec<OutcomeRow>, StoreError> {
        let backend = if self.version < SINCE {
            "'epoll'"
        } else {
            "outcome.backend"
        };
        let kind_column = self.kind_column();
        self.rows(
            "read the outcomes",
            &format!(
                "SELECT trial_id, block, target_id, step_id, clients, operations, queries, busy_ns,
                 client_user_ns, client_system_ns,
                 (SELECT coalesce(sum(count), 0) FROM error_count AS e
                  WHERE e.trial_id = outcome.trial_id AND e.step_id = outcome.step_id),
                 (SELECT coalesce(sum(unexpected), 0) FROM operation_count AS c
                  WHERE c.trial_id = outcome.trial_id AND c.step_id = outcome.step_id),
                 {backend}, threads
             FROM outcome JOIN trial ON trial.id = outcome.trial_id
             WHERE state = 'done' AND {kind_column} = ?1 ORDER BY block, target_id, step_id"
            ),
            [Word(&kind)],
            |row| {
                Ok(OutcomeRow {
                    trial: TrialId(row.get(0)?),
                    planned: PlannedTrial {
                        block: row.get(1)?,
                        target: row.get(2)?,
                        kind,
                    },
                    step: row.get(3)?,
                    clients: row.get(4)?,
                    operations: row.get(5)?,
                    queries: row.get(6)?,
                    busy_ns: row.get(7)?,
                    client_user_ns: row.get(8)?,
                    client_system_ns: row.get(9)?,
                    errors: row.get(10)?,
                    unexpected: row.get(11)?,
                    backend: word(row, 12)?,
                    threads: row.get(13)?,
                })
            },
        )
    }

    /// The latency histogram of a step's whole operations (`position` 0) or of one statement
    /// ([`StatementRow::position`]): HDR V2, deflated, in nanoseconds.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn histogram(
        &self,
        trial: TrialId,
        step: usize,
        position: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT hdr FROM histogram WHERE trial_id = ?1 AND step_id = ?2 AND position = ?3",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![trial.0, step, position], |row| row.get(0))
                    .optional()
            })
            .during("read a histogram")
    }

    /// The counts of the statements of one step, in the order of the workload.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn statements(&self, trial: TrialId, step: usize) -> Result<Vec<StatementRow>, StoreError> {
        self.rows(
            "read the counts of the statements",
            "SELECT position, statement, count, rows, affected, unexpected FROM operation_count
             WHERE trial_id = ?1 AND step_id = ?2 ORDER BY position",
            params![trial.0, step],
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

    /// The server errors of all done timed trials, by trial, step and code.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn errors(&self) -> Result<Vec<ErrorRow>, StoreError> {
        self.rows(
            "read the errors",
            &format!(
                "SELECT trial_id, step_id, code, class, count, message
                 FROM error_count JOIN trial ON trial.id = trial_id
                 WHERE {} ORDER BY trial_id, step_id, code",
                self.done_timed()
            ),
            [],
            |row| {
                Ok(ErrorRow {
                    trial: TrialId(row.get(0)?),
                    step: row.get(1)?,
                    code: row.get(2)?,
                    class: word(row, 3)?,
                    count: row.get(4)?,
                    message: row.get(5)?,
                })
            },
        )
    }

    /// The server's variables in a trial, by name.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn variables(&self, trial: TrialId) -> Result<Vec<(String, String)>, StoreError> {
        self.rows(
            "read the server's variables",
            "SELECT name, value FROM server_variable JOIN trial_variable ON variable_id = id
             WHERE trial_id = ?1 ORDER BY name",
            [trial.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Every warning that does not belong to a discarded trial, in the order of their recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn warnings(&self) -> Result<Vec<WarningRow>, StoreError> {
        self.rows(
            "read the warnings",
            "SELECT trial_id, step_id, code, text
             FROM warning LEFT JOIN trial ON trial.id = trial_id
             WHERE state IS NULL OR state <> 'discarded' ORDER BY warning.id",
            [],
            |row| {
                Ok(WarningRow {
                    trial: row.get::<_, Option<i64>>(0)?.map(TrialId),
                    step: row.get(1)?,
                    code: row.get(2)?,
                    text: row.get(3)?,
                })
            },
        )
    }

    /// What SQL has for the kind of a trial: all were timed before there were kinds.
    const fn kind_column(&self) -> &'static str {
        if self.version < samples::SINCE {
            "'timed'"
        } else {
            "trial.kind"
        }
    }

    /// The condition of SQL that a trial is done and its times count.
    pub(crate) const fn done_timed(&self) -> &'static str {
        if self.version < samples::SINCE {
            "state = 'done'"
        } else {
            "state = 'done' AND trial.kind = 'timed'"
        }
    }

    pub(crate) fn rows<T>(
        &self,
        action: &'static str,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params, read)?.collect())
            .during(action)
    }
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(|Time(at)| at)
}

pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    row.get(column).map(|Word(variant)| variant)
}
