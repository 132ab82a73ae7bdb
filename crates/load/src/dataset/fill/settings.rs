//! Settings for the time of a fill.

use prony_client::{ClientError, Connection};
use prony_model::LoadMethod;
use prony_wire::codes::UNKNOWN_SYSTEM_VARIABLE;

use super::ask;
use crate::{FillTask, LoadError};

/// A variable and its value.
type Setting = (&'static str, &'static str);

/// Variables of the connections that fill. What a server does not know, or an account may not set,
/// stays as it is.
const SESSION: [Setting; 5] = [
    // MySQL 8.0.27 and later build an index in several threads, each with a part of the buffer.
    ("innodb_ddl_buffer_size", "33554432"),
    ("innodb_ddl_threads", "2"),
    ("innodb_parallel_read_threads", "2"),
    // A statement's rows are otherwise kept and locked in memory until it ends, a million at most.
    ("rocksdb_commit_in_the_middle", "1"),
    // Bulk loading sorts the secondary index, too.
    ("rocksdb_bulk_load_allow_sk", "1"),
];

/// The same where rows are inserted as any client would do it: their keys count from 1, in ones, in
/// an empty table.
const SESSION_OF_INSERTS: [Setting; 2] = [
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
];

/// The same on servers of our own, which have no replicas.
const SESSION_OF_OWN: [Setting; 1] = [("sql_log_bin", "0")];

/// Global variables, on servers of our own.
const GLOBAL: [Setting; 2] = [
    ("local_infile", "1"),
    // Nobody needs rows of a fill that did not end.
    ("innodb_flush_log_at_trx_commit", "0"),
];

/// Tells whether a status variable is there.
const REDO_LOG: &str = "SHOW STATUS LIKE 'Innodb_redo_log_enabled'";

/// Settings changed for a fill, on a server that Prony started.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Statements that take it back.
    undo: Vec<String>,
    /// `true` if InnoDB writes no redo log.
    pub(super) redo_log_is_off: bool,
}

/// Prepares a connection that fills.
pub(super) fn set_session(connection: &mut Connection, task: &FillTask) -> Result<(), LoadError> {
    if connection.is_postgresql() {
        return set_session_postgres(connection, task);
    }
    let (settings, own): (&[Setting], &[Setting]) = match task.dataset.load {
        LoadMethod::Inserts => (&SESSION_OF_INSERTS, &[]),
        LoadMethod::Bulk if task.own_server => (&SESSION, &SESSION_OF_OWN),
        LoadMethod::Bulk | LoadMethod::None => (&SESSION, &[]),
    };
    for (name, value) in settings.iter().chain(own) {
        attempt(connection, &format!("SET SESSION {name} = {value}"))?;
    }
    Ok(())
}

/// Rows of a fill that did not end are of no use, so that its commits need not wait for the disk. By
/// inserts everything is as the server has it.
fn set_session_postgres(connection: &mut Connection, task: &FillTask) -> Result<(), LoadError> {
    if task.dataset.load != LoadMethod::Inserts {
        let sql = "SET synchronous_commit = off";
        ask(connection, sql, || sql.to_owned())?;
    }
    Ok(())
}

impl Changes {
    /// Changes a server of our own.
    pub(super) fn make(connection: &mut Connection) -> Result<Self, LoadError> {
        let mut changes = Self::default();
        for (name, value) in GLOBAL {
            let Some(before) = attempt(connection, &format!("SELECT @@GLOBAL.{name}"))? else {
                continue;
            };
            let set = format!("SET GLOBAL {name} = {value}");
            if before != value && attempt(connection, &set)?.is_some() {
                changes.undo.push(format!("SET GLOBAL {name} = {before}"));
            }
        }
        let status = ask(connection, REDO_LOG, || "look for a redo log".to_owned())?;
        let disable = "ALTER INSTANCE DISABLE INNODB REDO_LOG";
        if !status.rows.is_empty() && attempt(connection, disable)?.is_some() {
            let enable = "ALTER INSTANCE ENABLE INNODB REDO_LOG";
            changes.undo.push(enable.to_owned());
            changes.redo_log_is_off = true;
        }
        Ok(changes)
    }

    /// Takes everything back.
    pub(super) fn undo(self, connection: &mut Connection) -> Result<(), LoadError> {
        self.undo
            .iter()
            .try_for_each(|sql| ask(connection, sql, || sql.clone()).map(drop))
    }
}

/// Returns `true` if the server has a global variable.
pub(super) fn exists(connection: &mut Connection, name: &str) -> Result<bool, LoadError> {
    let sql = format!("SELECT @@GLOBAL.{name}");
    match connection.query(&sql) {
        Ok(_) => Ok(true),
        Err(ClientError::Server { code, .. }) if code == UNKNOWN_SYSTEM_VARIABLE.into() => {
            Ok(false)
        }
        Err(source) => Err(LoadError::fill(sql, source)),
    }
}

/// Tries a statement that a server may refuse, which yields `None`; else its only value, if any.
fn attempt(connection: &mut Connection, sql: &str) -> Result<Option<String>, LoadError> {
    match connection.query(sql) {
        Ok(answer) => Ok(Some(answer.single().unwrap_or_default().to_owned())),
        Err(ClientError::Server { .. }) => Ok(None),
        Err(source) => Err(LoadError::fill(sql, source)),
    }
}
