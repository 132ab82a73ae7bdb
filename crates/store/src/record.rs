//! What is written while a trial runs.

use prony_model::StepOutcome;
use rusqlite::{CachedStatement, Transaction, params};

use crate::error::Context as _;
use crate::groups::insert_groups;
use crate::schedules::{insert_schedules, insert_thread_use};
use crate::trials::require_running;
use crate::values::Word;
use crate::{Store, StoreError, TrialId};

/// The server build of a target, once it has been fetched.
#[derive(Debug, Clone, Copy)]
pub struct BuildRecord<'a> {
    /// What the server answers to `SELECT VERSION()`.
    pub server_version: &'a str,
    /// Hash of everything that makes up the build: equal hash, equal bytes.
    pub content_hash: &'a str,
    /// Everything else worth keeping (artefacts, checksums, sizes) as a JSON object.
    pub facts_json: &'a str,
}

/// A statement kept by the connection, since one outcome inserts hundreds of rows.
fn prepare<'c>(
    transaction: &'c Transaction<'_>,
    sql: &str,
) -> Result<CachedStatement<'c>, StoreError> {
    transaction
        .prepare_cached(sql)
        .during("prepare a statement for the result file")
}

impl Store {
    /// Records the build of a target, or checks that it is still the one on record: figures of
    /// two builds must not end up under one name.
    ///
    /// # Errors
    /// When the run began with another build, or there is no such target.
    pub fn record_build(
        &mut self,
        target: usize,
        build: &BuildRecord<'_>,
    ) -> Result<(), StoreError> {
        let before = self.builds()?.into_iter().nth(target);
        let before = before.ok_or(StoreError::NoSuchTarget { target })?;
        if let Some(before) = before {
            if before.content_hash == build.content_hash {
                return Ok(());
            }
            return Err(StoreError::BuildChanged {
                target: self.plan().targets[target].name.clone(),
                before: format!("{} ({})", before.server_version, before.content_hash),
                now: format!("{} ({})", build.server_version, build.content_hash),
            });
        }
        self.write("record a build", |transaction, _| {
            transaction
                .execute(
                    "UPDATE target SET server_version = ?2, build_hash = ?3, build_facts = ?4
                     WHERE id = ?1",
                    params![
                        target,
                        build.server_version,
                        build.content_hash,
                        build.facts_json
                    ],
                )
                .during("record a build")
                .map(drop)
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
        self.write("record the server's variables", |transaction, _| {
            require_running(transaction, trial)?;
            let mut pair = prepare(
                transaction,
                "INSERT INTO server_variable (name, value) VALUES (?1, ?2)
                 ON CONFLICT DO NOTHING",
            )?;
            let mut use_of_pair = prepare(
                transaction,
                "INSERT INTO trial_variable (trial_id, variable_id)
                 SELECT ?1, id FROM server_variable WHERE name = ?2 AND value = ?3
                 ON CONFLICT DO NOTHING",
            )?;
            for (name, value) in variables {
                pair.execute([name, value])
                    .and_then(|_| use_of_pair.execute(params![trial.0, name, value]))
                    .during("record the server's variables")?;
            }
            Ok(())
        })
    }

    /// Records what one step yielded, all of it or nothing.
    ///
    /// # Errors
    /// When the trial is not running, the step is not in the plan or has an outcome already, or a
    /// count exceeds 2⁶³ − 1.
    pub fn record_step(
        &mut self,
        trial: TrialId,
        step: usize,
        outcome: &StepOutcome,
    ) -> Result<(), StoreError> {
        self.write("record a step", |transaction, _| {
            require_running(transaction, trial)?;
            insert_outcome(transaction, trial, step, outcome)?;
            insert_statements(transaction, trial, step, outcome)?;
            insert_errors(transaction, trial, step, outcome)?;
            insert_intervals(transaction, trial, step, outcome)?;
            insert_groups(transaction, trial, step, outcome)?;
            insert_schedules(transaction, trial, step, outcome)?;
            insert_thread_use(transaction, trial, step, outcome)
        })
    }

    /// Records a condition that must be shown beside the figures: of the run, of a trial, or of
    /// one step of a trial. Also for trials that have ended.
    ///
    /// # Errors
    /// When the trial or the step does not exist.
    pub fn record_warning(
        &mut self,
        trial: Option<TrialId>,
        step: Option<usize>,
        code: &str,
        text: &str,
    ) -> Result<(), StoreError> {
        self.write("record a warning", |transaction, _| {
            transaction
                .execute(
                    "INSERT INTO warning (trial_id, step_id, code, text) VALUES (?1, ?2, ?3, ?4)",
                    params![trial.map(|trial| trial.0), step, code, text],
                )
                .during("record a warning")
                .map(drop)
        })
    }
}

fn insert_outcome(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    prepare(
        transaction,
        "INSERT INTO outcome (trial_id, step_id, clients, threads, operations, queries, busy_ns,
             client_user_ns, client_system_ns, start_ns, end_ns, timing, backend)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        trial.0,
        step,
        outcome.clients,
        outcome.threads,
        outcome.operations,
        outcome.queries,
        outcome.busy_ns,
        outcome.client_user_ns,
        outcome.client_system_ns,
        outcome.start_ns,
        outcome.end_ns,
        Word(&outcome.timing),
        Word(&outcome.backend)
    ])
    .during("record the counts of a step")?;
    insert_histogram(transaction, trial, step, 0, &outcome.histogram)
}

fn insert_histogram(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    position: usize,
    hdr: &[u8],
) -> Result<(), StoreError> {
    prepare(
        transaction,
        "INSERT INTO histogram (trial_id, step_id, position, hdr) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![trial.0, step, position, hdr])
    .during("record a histogram")
    .map(drop)
}

fn insert_statements(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    for (position, statement) in (1..).zip(&outcome.statements) {
        prepare(
            transaction,
            "INSERT INTO operation_count
                 (trial_id, step_id, position, statement, count, rows, affected, unexpected)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            trial.0,
            step,
            position,
            statement.name,
            statement.count,
            statement.rows,
            statement.affected,
            statement.unexpected
        ])
        .during("record the counts of a statement")?;
        insert_histogram(transaction, trial, step, position, &statement.histogram)?;
    }
    Ok(())
}

fn insert_errors(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    let mut insert = prepare(
        transaction,
        "INSERT INTO error_count (trial_id, step_id, code, class, count, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for error in &outcome.errors {
        insert
            .execute(params![
                trial.0,
                step,
                error.code,
                Word(&error.class),
                error.count,
                error.message
            ])
            .during("record the errors of a step")?;
    }
    Ok(())
}

fn insert_intervals(
    transaction: &Transaction<'_>,
    trial: TrialId,
    step: usize,
    outcome: &StepOutcome,
) -> Result<(), StoreError> {
    let mut insert = prepare(
        transaction,
        "INSERT INTO interval (trial_id, step_id, position, start_ns, end_ns, operations, queries,
             errors, latency_ns_p99, latency_ns_max, response_ns_p99, backlog)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for (position, interval) in outcome.intervals.iter().enumerate() {
        insert
            .execute(params![
                trial.0,
                step,
                position,
                interval.start_ns,
                interval.end_ns,
                interval.operations,
                interval.queries,
                interval.errors,
                interval.latency_ns_p99,
                interval.latency_ns_max,
                interval.response_ns_p99,
                interval.backlog
            ])
            .during("record the intervals of a step")?;
    }
    Ok(())
}
