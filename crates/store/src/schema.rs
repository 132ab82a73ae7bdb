//! Which schema a file has, and how to bring it to the present one.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction};

use crate::StoreError;
use crate::error::Context as _;

/// Marks an SQLite file as Prony's: the letters `PRNY`. Shown by file(1).
const APPLICATION_ID: i64 = 0x5052_4E59;

/// What brings a file from the version before to the one named. Entries are only ever appended.
const MIGRATIONS: [(i64, &str); 5] = [
    (1, include_str!("schema/1.sql")),
    (2, include_str!("schema/2.sql")),
    (3, include_str!("schema/3.sql")),
    (4, include_str!("schema/4.sql")),
    (5, include_str!("schema/5.sql")),
];

/// The version that this program writes.
pub(crate) const CURRENT: i64 = MIGRATIONS[MIGRATIONS.len() - 1].0;

/// Gives an empty database the present schema.
pub(crate) fn create(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    migrate(transaction, 0)?;
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .during("mark the result file")
}

/// The version of an existing file that this program can read.
///
/// # Errors
/// When the file is not a result file, was never filled, or is newer than this program.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let application_id = pragma(connection, "application_id", path)?;
    let version = pragma(connection, "user_version", path)?;
    if application_id == 0 && version == 0 && is_empty(connection)? {
        return Err(StoreError::NeverBegun {
            path: path.to_owned(),
        });
    }
    if application_id != APPLICATION_ID || version < 1 {
        return Err(StoreError::Foreign {
            path: path.to_owned(),
        });
    }
    if version > CURRENT {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: CURRENT,
        });
    }
    Ok(version)
}

/// Runs what lies between version `from` and the present one. Foreign keys must not be enforced
/// where the file has rows: some tables are made anew, and others refer to them meanwhile.
pub(crate) fn migrate(transaction: &Transaction<'_>, from: i64) -> Result<(), StoreError> {
    for (_, sql) in MIGRATIONS.iter().filter(|(version, _)| *version > from) {
        transaction
            .execute_batch(sql)
            .during("bring the result file to the present schema")?;
    }
    transaction
        .pragma_update(None, "user_version", CURRENT)
        .during("set the schema version of the result file")
}

fn pragma(connection: &Connection, name: &str, path: &Path) -> Result<i64, StoreError> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(|source| match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::Foreign {
                path: path.to_owned(),
            },
            _ => StoreError::Database {
                action: "read the header of the result file",
                source,
            },
        })
}

fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
            row.get(0)
        })
        .during("read the schema of the result file")
}
