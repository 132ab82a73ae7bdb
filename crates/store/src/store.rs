//! Creating and opening result files.

use std::path::Path;

use jiff::Timestamp;
use prony_model::{Length, Plan};
use rusqlite::{Connection, OpenFlags, Transaction, params};

use crate::error::Context as _;
use crate::lock::RunLock;
use crate::values::{Time, Word};
use crate::{StoreError, schema};

/// The result file of one run.
///
/// Writes go through the one program that holds the run's lock; any number of others may read at
/// the same time. Every method that writes does so in one transaction.
#[derive(Debug)]
pub struct Store {
    // Declared before the lock, so that the database is closed before the lock is given up.
    pub(crate) connection: Connection,
    plan: Plan,
    /// Of the schema. Older than the present one where an older file is read.
    pub(crate) version: i64,
    lock: Option<RunLock>,
}

/// What is known when a run begins.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// Identifies the run for people, such as the name of its folder.
    pub id: &'a str,
    /// The expanded experiment; stored whole.
    pub plan: &'a Plan,
    /// Version of the program that creates the run.
    pub prony_version: &'a str,
    /// Facts of the host as a JSON object. Reports show `cpu_model` (text), `cpus` (number),
    /// `memory_bytes` (number) and `kernel` (text) where they are there.
    pub host_json: &'a str,
    /// Wall clock.
    pub started_at: Timestamp,
}

impl Store {
    /// Creates the file of a new run, takes its lock and stores what is known beforehand.
    ///
    /// # Errors
    /// When the file exists, its folder does not, or another program holds its lock.
    pub fn create(path: &Path, run: &NewRun<'_>) -> Result<Self, StoreError> {
        let lock = RunLock::take(path)?;
        if path.exists() {
            return Err(StoreError::Exists {
                path: path.to_owned(),
            });
        }
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        write_ahead(&connection)?;
        let transaction = connection.transaction().during("begin a transaction")?;
        schema::create(&transaction)?;
        insert_run(&transaction, run)?;
        insert_host(&transaction, run.host_json, run.started_at)?;
        insert_targets(&transaction, run.plan)?;
        insert_steps(&transaction, run.plan)?;
        transaction.commit().during("store the new run")?;
        Ok(Self {
            connection,
            plan: run.plan.clone(),
            version: schema::CURRENT,
            lock: Some(lock),
        })
    }

    /// Opens a run to go on with it, and takes its lock. Brings a file of an older version to the
    /// present schema.
    ///
    /// # Errors
    /// When there is no such file, it is not a result file, it is newer than this program, or
    /// another program holds its lock.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        must_exist(path)?;
        let lock = RunLock::take(path)?;
        let mut connection = connect(path, OpenFlags::empty())?;
        let version = schema::check(&connection, path)?;
        write_ahead(&connection)?;
        bring_up_to_date(&mut connection, version)?;
        let plan = read_plan(&connection)?;
        Ok(Self {
            connection,
            plan,
            version: schema::CURRENT,
            lock: Some(lock),
        })
    }

    /// Opens a run to read it, whether or not a program works on it. Every write fails.
    ///
    /// # Errors
    /// When there is no such file, it is not a result file, or it is newer than this program.
    pub fn open_for_reading(path: &Path) -> Result<Self, StoreError> {
        must_exist(path)?;
        // Not opened as read-only: the reader of a run that was killed must be allowed to take in
        // the write-ahead log.
        let connection = connect(path, OpenFlags::empty())?;
        let version = schema::check(&connection, path)?;
        connection
            .pragma_update(None, "query_only", true)
            .during("open the result file for reading")?;
        let plan = read_plan(&connection)?;
        Ok(Self {
            connection,
            plan,
            version,
            lock: None,
        })
    }

    /// The experiment as it was expanded when the run began.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Adds the facts of the host as they are now, as a JSON object; see [`NewRun::host_json`].
    /// For runs that are resumed.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_host(&mut self, host_json: &str, at: Timestamp) -> Result<(), StoreError> {
        self.write("record the host", |transaction, _| {
            insert_host(transaction, host_json, at)
        })
    }

    /// Notes that no program works on the run any more, and folds the write-ahead log into the
    /// file, so that it can be copied, or read from where nothing can be written.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn set_run_ended(&mut self, at: Timestamp) -> Result<(), StoreError> {
        self.write("record the end of the run", |transaction, _| {
            transaction
                .execute("UPDATE run SET ended_at = ?1", [Time(at)])
                .during("record the end of the run")
                .map(drop)
        })?;
        // Refused while somebody reads; the file is as good without it.
        let _refused = self
            .connection
            .pragma_update(None, "journal_mode", "DELETE");
        Ok(())
    }

    /// Runs `change` in one transaction.
    pub(crate) fn write<T>(
        &mut self,
        action: &'static str,
        change: impl FnOnce(&Transaction<'_>, &Plan) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.lock.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let transaction = self.connection.transaction().during(action)?;
        let value = change(&transaction, &self.plan)?;
        transaction.commit().during(action)?;
        Ok(value)
    }
}

fn must_exist(path: &Path) -> Result<(), StoreError> {
    if path.is_file() {
        return Ok(());
    }
    Err(StoreError::Missing {
        path: path.to_owned(),
    })
}

fn connect(path: &Path, extra: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let connection = Connection::open_with_flags(path, flags).during("open the result file")?;
    enforce_foreign_keys(&connection, true)?;
    Ok(connection)
}

fn enforce_foreign_keys(connection: &Connection, enforced: bool) -> Result<(), StoreError> {
    connection
        .pragma_update(None, "foreign_keys", enforced)
        .during("open the result file")
}

/// Brings a file of version `from` to the present schema.
fn bring_up_to_date(connection: &mut Connection, from: i64) -> Result<(), StoreError> {
    // Not possible within a transaction.
    enforce_foreign_keys(connection, false)?;
    let transaction = connection.transaction().during("begin a transaction")?;
    schema::migrate(&transaction, from)?;
    transaction
        .commit()
        .during("bring the result file to the present schema")?;
    enforce_foreign_keys(connection, true)
}

/// Write-ahead log, synced at checkpoints only: the death of the program loses nothing, and no
/// commit waits for the disk that the servers are measured on.
fn write_ahead(connection: &Connection) -> Result<(), StoreError> {
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .and_then(|()| connection.pragma_update(None, "synchronous", "NORMAL"))
        .during("open the result file for writing")
}

fn insert_run(transaction: &Transaction<'_>, run: &NewRun<'_>) -> Result<(), StoreError> {
    let plan = serde_json::to_string(run.plan).map_err(|source| StoreError::Json { source })?;
    transaction
        .execute(
            "INSERT INTO run (id, run_id, name, prony_version, started_at, plan)
             VALUES (1, ?1, ?2, ?3, ?4, ?5)",
            params![
                run.id,
                run.plan.name,
                run.prony_version,
                Time(run.started_at),
                plan
            ],
        )
        .during("store the new run")
        .map(drop)
}

fn insert_host(
    transaction: &Transaction<'_>,
    facts: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    transaction
        .execute(
            "INSERT INTO host (recorded_at, facts) VALUES (?1, ?2)",
            params![Time(at), facts],
        )
        .during("record the host")
        .map(drop)
}

fn insert_targets(transaction: &Transaction<'_>, plan: &Plan) -> Result<(), StoreError> {
    for (index, target) in plan.targets.iter().enumerate() {
        let config =
            serde_json::to_string(&target.config).map_err(|source| StoreError::Json { source })?;
        transaction
            .execute(
                "INSERT INTO target (id, name, is_base, build, engine, protocol, config)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    index,
                    target.name,
                    index == plan.base,
                    target.build.id,
                    target.engine.name(),
                    Word(&target.protocol),
                    config
                ],
            )
            .during("store the targets")?;
    }
    Ok(())
}

fn insert_steps(transaction: &Transaction<'_>, plan: &Plan) -> Result<(), StoreError> {
    for (index, step) in plan.steps.iter().enumerate() {
        let parameters = serde_json::to_string(&step.parameters)
            .map_err(|source| StoreError::Json { source })?;
        let (ms, operations) = match step.length {
            Length::Time { ms } => (Some(ms), None),
            Length::Count { operations } => (None, Some(operations)),
        };
        transaction
            .execute(
                "INSERT INTO step (id, name, clients, entry, workload, workload_group,
                     parameters, warmup_ms, measure_ms, measure_operations, phase, warm_only)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                params![
                    index,
                    step.name,
                    step.clients,
                    step.entry,
                    step.workload.name,
                    Word(&step.workload.group),
                    parameters,
                    step.warmup_ms,
                    ms,
                    operations,
                    step.phase.as_ref().map(Word),
                    step.warm_only
                ],
            )
            .during("store the steps")?;
    }
    Ok(())
}

fn read_plan(connection: &Connection) -> Result<Plan, StoreError> {
    let text: String = connection
        .query_row("SELECT plan FROM run", [], |row| row.get(0))
        .during("read the plan from the result file")?;
    serde_json::from_str(&text).map_err(|source| StoreError::Damaged {
        place: "run.plan",
        problem: source.to_string(),
    })
}
