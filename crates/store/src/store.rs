//! Creating and opening result files.

use std::path::Path;
use std::{fs, io};

use jiff::Timestamp;
use prony_model::{ClientGroup, Length, Plan, Sample, Step, Target};
use rusqlite::{Connection, OpenFlags, Transaction, params};

use crate::database::{change, in_transaction, insert_row};
use crate::error::Context as _;
use crate::lock::RunLock;
use crate::stored_plan::read_plan;
use crate::values::{Json, Time, Word};
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
    lock: Option<RunLock>,
    pub(crate) last_end: Option<LastEnd>,
}

/// The sample at the end of the step that was recorded last.
#[derive(Debug)]
pub(crate) struct LastEnd {
    /// Its trial's number in the file.
    pub(crate) trial: i64,
    /// Its number in the file.
    pub(crate) id: i64,
    pub(crate) sample: Sample,
}

/// Facts that are known when a run begins.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// Identifies the run for people, such as the name of its folder.
    pub id: &'a str,
    /// The expanded experiment; stored whole.
    pub plan: &'a Plan,
    /// Version of the program that creates the run.
    pub prony_version: &'a str,
    /// Facts of the host as a JSON object. Reports show `cpu_model` (text), `cpus`, `sockets`, `cores`,
    /// `threads` (numbers), `turbo` (flag), `memory_bytes` (number) and `kernel` (text) where they are
    /// there.
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
        in_transaction(&mut connection, "store the new run", |transaction| {
            schema::create(transaction)?;
            insert_host(transaction, run.host_json, run.started_at)?;
            insert_run(transaction, run)
        })?;
        Ok(Self {
            connection,
            plan: run.plan.clone(),
            lock: Some(lock),
            last_end: None,
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
        schema::migrate(&mut connection, version)?;
        let (plan, unknown) = read_plan(&connection)?;
        if let Some(kind) = unknown {
            let path = path.to_owned();
            return Err(StoreError::UnknownKind { path, kind });
        }
        Ok(Self {
            connection,
            plan,
            lock: Some(lock),
            last_end: None,
        })
    }

    /// Opens a run to read it, whether or not a program works on it. Every write fails.
    ///
    /// # Errors
    /// When there is no such file, it is not a result file, or it is newer than this program.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        must_exist(path)?;
        // Not opened as read-only: the reader of a run that was killed must be allowed to take in
        // the write-ahead log.
        let connection = connect(path, OpenFlags::empty())?;
        let version = schema::check(&connection, path)?;
        schema::stand_in(&connection, version)?;
        connection
            .pragma_update(None, "query_only", true)
            .during("open the result file for reading", &connection)?;
        let (plan, _) = read_plan(&connection)?;
        Ok(Self {
            connection,
            plan,
            lock: None,
            last_end: None,
        })
    }

    /// Opens the same file once more to read it, so that two threads can.
    ///
    /// # Errors
    /// When it can't be opened any more.
    pub fn reader(&self) -> Result<Self, StoreError> {
        Self::open_read_only(Path::new(self.connection.path().unwrap_or_default()))
    }

    /// The experiment as it was expanded when the run began, with the blocks that were added since,
    /// without trials of kinds that this version does not know.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    /// Notes that no program works on the run any more, and folds the write-ahead log into the
    /// file, so that it can be copied, or read from where nothing can be written.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn set_run_ended(&mut self, at: Timestamp) -> Result<(), StoreError> {
        self.write("record the end of the run", |transaction, _| {
            let sql = "UPDATE run SET ended_at = ?1";
            change(transaction, "record the end of the run", sql, [Time(at)]).map(drop)
        })?;
        // Refused while another program reads; the file is as good without it.
        let _refused = self
            .connection
            .pragma_update(None, "journal_mode", "DELETE");
        Ok(())
    }

    /// Does `work` in one transaction.
    pub(crate) fn write<T>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(&Transaction<'_>, &Plan) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.lock.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let plan = &self.plan;
        in_transaction(&mut self.connection, action, |transaction| {
            work(transaction, plan)
        })
    }
}

fn must_exist(path: &Path) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(StoreError::Foreign { path: path.into() }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::Missing { path: path.into() })
        }
        Err(source) => Err(StoreError::Inaccessible {
            path: path.into(),
            source,
        }),
    }
}

fn connect(path: &Path, extra: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|source| StoreError::Database {
            action: "open the result file",
            path: path.to_owned(),
            source,
        })?;
    schema::enforce_foreign_keys(&connection, true)?;
    Ok(connection)
}

/// Write-ahead log, synced at checkpoints only: the death of the program loses nothing, and no
/// commit waits for the disk that the servers are measured on.
fn write_ahead(connection: &Connection) -> Result<(), StoreError> {
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .and_then(|()| connection.pragma_update(None, "synchronous", "NORMAL"))
        .during("open the result file for writing", connection)
}

/// Inserts the host under the next number, counted from 0.
pub(crate) fn insert_host(
    transaction: &Transaction<'_>,
    facts: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    change(
        transaction,
        "record the host",
        "INSERT INTO host (id, recorded_at, facts) SELECT count(*), ?1, ?2 FROM host",
        params![Time(at), facts],
    )
    .map(drop)
}

/// Inserts the run with everything that its plan decides.
fn insert_run(transaction: &Transaction<'_>, run: &NewRun<'_>) -> Result<(), StoreError> {
    let NewRun { plan, .. } = run;
    insert_row! { transaction, "store the new run", run {
        id: 1, run_id: run.id, name: plan.name, prony_version: run.prony_version,
        started_at: Time(run.started_at), plan: Json(*plan),
    } }?;
    for (index, target) in plan.targets.iter().enumerate() {
        insert_target(transaction, index, target, plan.is_base(index))?;
    }
    for (index, step) in plan.steps.iter().enumerate() {
        insert_step(transaction, index, step)?;
        for (position, group) in step.groups.iter().enumerate() {
            insert_group(transaction, index, position, group)?;
        }
    }
    for (target, fingerprints) in plan.fingerprints().iter().enumerate() {
        for (step, fingerprint) in fingerprints.iter().enumerate() {
            insert_row! { transaction, "store the cells", cell {
                target_id: target, step_id: step, fingerprint: fingerprint,
            } }?;
        }
    }
    Ok(())
}

fn insert_target(
    transaction: &Transaction<'_>,
    index: usize,
    target: &Target,
    is_base: bool,
) -> Result<(), StoreError> {
    insert_row! { transaction, "store the targets", target {
        id: index, name: target.name, is_base: is_base, build: target.build.id,
        engine: target.engine.name(), protocol: Word(&target.protocol),
        config: Json(&target.config),
    } }
}

fn insert_step(transaction: &Transaction<'_>, index: usize, step: &Step) -> Result<(), StoreError> {
    let (ms, operations) = match step.length {
        Length::Time { ms } => (Some(ms), None),
        Length::Count { operations } => (None, Some(operations)),
    };
    insert_row! { transaction, "store the steps", step {
        id: index, name: step.name, clients: step.own().clients, entry: step.entry,
        warmup_ms: step.warmup_ms, measure_ms: ms, measure_operations: operations,
        phase: step.phase.as_ref().map(Word), warm_only: step.warm_only,
    } }
}

fn insert_group(
    transaction: &Transaction<'_>,
    step: usize,
    position: usize,
    group: &ClientGroup,
) -> Result<(), StoreError> {
    insert_row! { transaction, "store the steps", client_group {
        step_id: step, position: position, name: group.name, clients: group.clients,
        workload: group.workload.name, workload_group: Word(&group.workload.group),
        parameters: Json(&group.parameters),
    } }
}
