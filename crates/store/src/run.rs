//! The run as a whole: its hosts, the builds of its targets, and the fingerprints of its cells.

use jiff::Timestamp;
use prony_model::{Backend, CalibratedHost, Finding};
use rusqlite::params;

use crate::database::{change, first, read_row, rows};
use crate::store::insert_host;
use crate::values::{Json, Time, Word, time};
use crate::{Store, StoreError};

/// The run as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The id given when it was created.
    pub id: String,
    /// Version of the program that created it.
    pub prony_version: String,
    /// The time when it was created.
    pub started_at: Timestamp,
    /// The time when a program last stopped working on it in good order.
    pub ended_at: Option<Timestamp>,
    /// The backend of its load; `None` before that is decided.
    pub backend: Option<Backend>,
    /// Names the run in all its parts; `None` for a run of one host.
    pub uuid: Option<String>,
    /// Hash of the program that measures its parts; `None` for a run of one host.
    pub prony_build: Option<String>,
}

/// The host at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// The time when the facts were recorded.
    pub recorded_at: Timestamp,
    /// A JSON object; see [`crate::NewRun::host_json`].
    pub facts_json: String,
    /// Its state, as far as it decides how well measurements repeat; see
    /// [`Store::record_findings`]. Empty if it was not recorded.
    pub findings: Vec<Finding>,
    /// Its name among the hosts that measure parts of the run; `None` for a run of one host.
    pub host_name: Option<String>,
}

/// The build of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildRow {
    /// The server's answer to `SELECT VERSION()`.
    pub server_version: String,
    /// Hash of everything that makes up the build.
    pub content_hash: String,
    /// A JSON object.
    pub facts_json: String,
}

/// The server build of a target, once it has been fetched.
#[derive(Debug, Clone, Copy)]
pub struct BuildRecord<'a> {
    /// The server's answer to `SELECT VERSION()`.
    pub server_version: &'a str,
    /// Hash of everything that makes up the build: equal hash, equal bytes.
    pub content_hash: &'a str,
    /// Everything else worth keeping (artefacts, checksums, sizes) as a JSON object.
    pub facts_json: &'a str,
}

/// One cell of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Index of the target.
    pub target: usize,
    /// Index of the step in the plan.
    pub step: usize,
    /// Equal in comparable cells; as [`Plan::fingerprints`](prony_model::Plan::fingerprints)
    /// gave it when the run began.
    pub fingerprint: String,
}

impl Store {
    /// The run as a whole.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn run(&self) -> Result<RunRow, StoreError> {
        let run = first(
            &self.connection,
            "read the run",
            "SELECT run_id, prony_version, started_at, ended_at, backend, run_uuid, prony_build
             FROM run",
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
                    uuid: row.get(5)?,
                    prony_build: row.get(6)?,
                })
            },
        )?;
        run.ok_or_else(|| {
            StoreError::damaged(&self.connection, "run", "there is no row".to_owned())
        })
    }

    /// Adds the facts of the host as they are now, as a JSON object; see
    /// [`NewRun::host_json`](crate::NewRun::host_json). For runs that are resumed: trials that
    /// begin from now on are of this host.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_host(&mut self, host_json: &str, at: Timestamp) -> Result<(), StoreError> {
        self.write("record the host", |transaction, _| {
            insert_host(transaction, host_json, at)
        })
    }

    /// Records the state of the last host, as it was before the run did anything.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_findings(&mut self, findings: &[Finding]) -> Result<(), StoreError> {
        self.write("record the state of the host", |transaction, _| {
            change(
                transaction,
                "record the state of the host",
                "UPDATE host SET findings = ?1 WHERE id = (SELECT max(id) FROM host)",
                [Json(&findings)],
            )
            .map(drop)
        })
    }

    /// The host as it was when the run began and whenever it was resumed, oldest first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn hosts(&self) -> Result<Vec<HostRow>, StoreError> {
        rows(
            &self.connection,
            "read the hosts",
            "SELECT recorded_at, facts, findings, host_name FROM host ORDER BY id",
            [],
            |row| {
                let findings: Option<Json<Vec<Finding>>> = row.get(2)?;
                let findings = findings.map_or_else(Vec::new, |findings| findings.0);
                read_row! { row, 0 => HostRow { recorded_at as Time, facts_json }
                with { findings: findings, host_name: row.get(3)? } }
            },
        )
    }

    /// For each of [`Store::hosts`], the index of the first one that is the same machine: equal
    /// name, processor model, number of processors and kernel.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn same_hosts(&self) -> Result<Vec<usize>, StoreError> {
        let hosts = self.hosts()?;
        let facts = |host: &HostRow| serde_json::from_str::<CalibratedHost>(&host.facts_json).ok();
        let is_same = |a: &HostRow, b: &HostRow| match (facts(a), facts(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.facts_json == b.facts_json,
        };
        let is_same = |a: &HostRow, b: &HostRow| a.host_name == b.host_name && is_same(a, b);
        let first = |host: &HostRow| hosts.iter().position(|other| is_same(other, host));
        let indices = hosts.iter().enumerate();
        Ok(indices
            .map(|(index, host)| first(host).unwrap_or(index))
            .collect())
    }

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
            change(
                transaction,
                "record a build",
                "UPDATE target SET server_version = ?2, build_hash = ?3, build_facts = ?4
                 WHERE id = ?1",
                params![
                    target,
                    build.server_version,
                    build.content_hash,
                    build.facts_json
                ],
            )
            .map(drop)
        })
    }

    /// The build of every target, in the order of the plan; `None` where it was never recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn builds(&self) -> Result<Vec<Option<BuildRow>>, StoreError> {
        rows(
            &self.connection,
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

    /// All cells with their fingerprints, by target and step.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn cells(&self) -> Result<Vec<CellRow>, StoreError> {
        rows(
            &self.connection,
            "read the cells",
            "SELECT target_id, step_id, fingerprint FROM cell ORDER BY target_id, step_id",
            [],
            |row| read_row! { row, 0 => CellRow { target, step, fingerprint } },
        )
    }
}
