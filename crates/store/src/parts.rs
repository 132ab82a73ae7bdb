//! Parts of a run: files of their own, into which hosts measure some of its blocks.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Row, params};

use crate::database::{change, insert_row, read_row, rows};
use crate::error::Context as _;
use crate::store::insert_host;
use crate::values::{Json, json};
use crate::{Store, StoreError};

/// What is known of a part when it begins.
#[derive(Debug, Clone, Copy)]
pub struct NewPart<'a> {
    /// Name of its file, unique in the run.
    pub name: &'a str,
    /// Name of its host among the hosts of the run.
    pub host_name: &'a str,
    /// Number of the attempt at its blocks.
    pub attempt: u32,
    /// Its job in the words of the engine that started it.
    pub job: Option<&'a str>,
    /// Hash of the program that measures it.
    pub prony_build: &'a str,
    /// Its blocks, counted from 0.
    pub blocks: &'a [u32],
    /// Facts of the host; see [`NewRun::host_json`](crate::NewRun::host_json).
    pub host_json: &'a str,
}

/// A part of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// Name of its file.
    pub name: String,
    /// Name of its host.
    pub host_name: String,
    /// Number of the attempt at its blocks.
    pub attempt: u32,
    /// Its job in the words of the engine that started it.
    pub job: Option<String>,
    /// Hash of the program that measured it.
    pub prony_build: String,
    /// The blocks that it was to measure, counted from 0.
    pub blocks: Vec<u32>,
    /// In a merged file, those that were taken from it; `None` in the part itself.
    pub used: Option<Vec<u32>>,
}

impl Store {
    /// Makes the file the plan of a run that several hosts measure: each copies it and begins a part.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_fleet(&mut self, uuid: &str, prony_build: &str) -> Result<(), StoreError> {
        let action = "record the run of several hosts";
        self.write(action, |transaction, _| {
            let sql = "UPDATE run SET run_uuid = ?1, prony_build = ?2";
            change(transaction, action, sql, [uuid, prony_build]).map(drop)
        })
    }

    /// Begins a part in a copy of the plan, or goes on with it: trials are of its host from now on,
    /// and those of its blocks alone are missing here.
    ///
    /// # Errors
    /// When the file is no plan of several hosts, or is the part of another host or of other blocks.
    pub fn begin_part(&mut self, part: &NewPart<'_>, at: Timestamp) -> Result<(), StoreError> {
        let path = || Path::new(self.connection.path().unwrap_or_default()).to_owned();
        if self.run()?.uuid.is_none() {
            return Err(StoreError::NotSubmitted {
                path: path(),
                problem: "it is the result of one host",
            });
        }
        let before = self.parts()?.pop();
        if let Some(before) = &before
            && (before.host_name.as_str(), &before.blocks[..]) != (part.host_name, part.blocks)
        {
            let words = |host_name: &str, blocks: &[u32]| format!("{host_name}, blocks {blocks:?}");
            return Err(StoreError::OtherPart {
                path: path(),
                before: words(&before.host_name, &before.blocks),
                now: words(part.host_name, part.blocks),
            });
        }
        let action = "begin the part";
        self.write(action, |transaction, _| {
            // The host on which the plan was made measures nothing.
            change(
                transaction,
                action,
                "DELETE FROM host WHERE host_name IS NULL",
                [],
            )?;
            change(transaction, action, "DELETE FROM part", [])?;
            insert_host(transaction, part.host_json, at)?;
            let name_host = "UPDATE host SET host_name = ?1 WHERE host_name IS NULL";
            change(transaction, action, name_host, [part.host_name])?;
            insert_row! { transaction, action, part {
                name: part.name, host_name: part.host_name, attempt: part.attempt, job: part.job,
                prony_build: part.prony_build, blocks: Json(&part.blocks),
            } }
        })
    }

    /// The parts that the file was merged from, or the part that it is.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn parts(&self) -> Result<Vec<PartRow>, StoreError> {
        rows(
            &self.connection,
            "read the parts",
            "SELECT name, host_name, attempt, job, prony_build, blocks, used FROM part ORDER BY id",
            [],
            read_part,
        )
    }

    /// The part that this file is; `None` where it is a whole run.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn part(&self) -> Result<Option<PartRow>, StoreError> {
        let mut parts = self.parts()?;
        parts.retain(|part| part.used.is_none());
        Ok(parts.pop())
    }

    /// Writes everything into a new file that needs no other beside it.
    ///
    /// # Errors
    /// When the file exists or can't be written.
    pub fn write_copy(&self, path: &Path) -> Result<(), StoreError> {
        self.connection
            .execute("VACUUM INTO ?1", params![path.to_string_lossy()])
            .map(drop)
            .during("write a copy of the result file", &self.connection)
    }
}

/// Reads a part from its columns in the order of [`Store::parts`].
pub(crate) fn read_part(row: &Row<'_>) -> rusqlite::Result<PartRow> {
    let used: Option<String> = row.get(6)?;
    let used = used.map(|_| json(row, 6)).transpose()?;
    read_row! { row, 0 => PartRow {
        name, host_name, attempt, job, prony_build, blocks as Json<_>,
    } with { used: used } }
}
