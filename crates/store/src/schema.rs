//! The schema of a file: its identification, its version, and the way to the present one.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction};

use crate::StoreError;
use crate::database::in_transaction;
use crate::error::Context as _;
use crate::header::{self, APPLICATION_ID, UNRELEASED_ID};

/// Scripts that each bring a file to the next version; the first one makes version 1. Scripts are
/// only ever appended.
const SCRIPTS: [&str; 9] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
];

/// For each version after the first, a script that makes temporary stand-ins for what it adds, so that
/// older files can be read and stay as they are.
const FOR_READERS: [&str; 8] = [
    include_str!("schema/2-for-readers.sql"),
    // Nothing is read from what version 3 adds.
    "",
    // Samples of loads are missing in older files, which have a step with every sample.
    "",
    include_str!("schema/5-for-readers.sql"),
    include_str!("schema/6-for-readers.sql"),
    include_str!("schema/7-for-readers.sql"),
    include_str!("schema/8-for-readers.sql"),
    include_str!("schema/9-for-readers.sql"),
];

/// The version that this program writes.
pub(crate) const CURRENT: i64 = SCRIPTS.len().cast_signed() as i64;

/// Gives an empty database the present schema.
pub(crate) fn create(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    run_scripts(transaction, &SCRIPTS, 0)?;
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .during("mark the result file", transaction)
}

/// The version of an existing file that this program can read.
///
/// # Errors
/// When the file is not a result file, was cut short or never filled, is of an unreleased layout,
/// or is newer than this program.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    if !header::has_log(path) {
        header::check_length(path)?;
    }
    let application_id = pragma(connection, "application_id", path)?;
    let version = pragma(connection, "user_version", path)?;
    let path = path.to_owned();
    match application_id {
        APPLICATION_ID if version > CURRENT => Err(StoreError::Newer {
            path,
            found: version,
            known: CURRENT,
        }),
        APPLICATION_ID if version >= 1 => Ok(version),
        UNRELEASED_ID => Err(StoreError::Unreleased { path }),
        0 if version == 0 && is_empty(connection)? => {
            header::check_length(&path)?;
            Err(StoreError::NeverBegun { path })
        }
        _ => Err(StoreError::Foreign { path }),
    }
}

/// Brings a file of version `from` to the present schema.
pub(crate) fn migrate(connection: &mut Connection, from: i64) -> Result<(), StoreError> {
    migrate_by(connection, &SCRIPTS, from)
}

/// Lets this program read a file of version `from`, without a change to the file.
pub(crate) fn stand_in(connection: &Connection, from: i64) -> Result<(), StoreError> {
    let missing = (2..)
        .zip(FOR_READERS)
        .filter(|(version, _)| *version > from);
    for (_, script) in missing {
        connection
            .execute_batch(script)
            .during("open the result file for reading", connection)?;
    }
    Ok(())
}

fn migrate_by(connection: &mut Connection, scripts: &[&str], from: i64) -> Result<(), StoreError> {
    // Scripts may make tables anew to which others refer. Enforcement can't be changed within a
    // transaction.
    enforce_foreign_keys(connection, false)?;
    let action = "bring the result file to the present schema";
    in_transaction(connection, action, |transaction| {
        run_scripts(transaction, scripts, from)
    })?;
    enforce_foreign_keys(connection, true)
}

/// Refuses, or permits, rows that refer to others that do not exist.
pub(crate) fn enforce_foreign_keys(
    connection: &Connection,
    enforced: bool,
) -> Result<(), StoreError> {
    connection
        .pragma_update(None, "foreign_keys", enforced)
        .during("open the result file", connection)
}

/// Runs what lies between version `from` and the last script's.
fn run_scripts(
    transaction: &Transaction<'_>,
    scripts: &[&str],
    from: i64,
) -> Result<(), StoreError> {
    for (version, script) in (1..).zip(scripts).filter(|(version, _)| *version > from) {
        transaction
            .execute_batch(script)
            .and_then(|()| transaction.pragma_update(None, "user_version", version))
            .during("bring the result file to the present schema", transaction)?;
    }
    Ok(())
}

fn pragma(connection: &Connection, name: &str, path: &Path) -> Result<i64, StoreError> {
    let action = "read the header of the result file";
    let value = connection.pragma_query_value(None, name, |row| row.get(0));
    value.or_else(|source| {
        let code = source.sqlite_error_code();
        if matches!(
            code,
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
        ) {
            // The log did not make up for it.
            header::check_length(path)?;
        }
        Err(match code {
            Some(ErrorCode::NotADatabase) => StoreError::Foreign { path: path.into() },
            _ => StoreError::database(action, connection, source),
        })
    })
}

fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
            row.get(0)
        })
        .during("read the schema of the result file", connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: [&str; 3] = [
        "CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT) STRICT;
         CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parent (id)) STRICT;",
        "ALTER TABLE child ADD COLUMN weight INTEGER NOT NULL DEFAULT 7;",
        // A table made anew, to which rows of another refer.
        "CREATE TABLE parent_with_check (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
         INSERT INTO parent_with_check SELECT id, name FROM parent;
         DROP TABLE parent;
         ALTER TABLE parent_with_check RENAME TO parent;",
    ];

    /// A file of version 1 with one row in each table.
    fn first_version() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_by(&mut connection, &VERSIONS[..1], 0).unwrap();
        connection
            .execute_batch("INSERT INTO parent VALUES (1, 'a'); INSERT INTO child VALUES (2, 1);")
            .unwrap();
        connection
    }

    fn number(connection: &Connection, sql: &str) -> i64 {
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_file_is_brought_through_all_versions_and_keeps_its_rows() {
        let mut connection = first_version();
        assert_eq!(number(&connection, "PRAGMA user_version"), 1);
        migrate_by(&mut connection, &VERSIONS, 1).unwrap();
        assert_eq!(number(&connection, "PRAGMA user_version"), 3);
        assert_eq!(number(&connection, "PRAGMA foreign_keys"), 1);
        assert_eq!(number(&connection, "SELECT weight FROM child"), 7);
        let joined = "SELECT count(*) FROM child JOIN parent ON parent.id = parent_id";
        assert_eq!(number(&connection, joined), 1);
        assert_eq!(
            number(&connection, "SELECT count(*) FROM pragma_foreign_key_check"),
            0
        );
        // A present file stays as it is.
        migrate_by(&mut connection, &VERSIONS, 3).unwrap();
        assert_eq!(number(&connection, joined), 1);
    }

    /// Samples of version 3, of which one refers to another, and values refer to both.
    #[test]
    fn samples_stay_when_loads_get_theirs() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_by(&mut connection, &SCRIPTS[..3], 0).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF;
                 INSERT INTO sample VALUES (1, 1, 0, 0, 'start', 5, 1, NULL);
                 INSERT INTO sample VALUES (2, 1, 0, 1, 'end', 9, 1, 1);
                 INSERT INTO counter VALUES (1, 'status', 'reads');
                 INSERT INTO sample_value VALUES (1, 1, 77);",
            )
            .unwrap();
        migrate_by(&mut connection, &SCRIPTS, 3).unwrap();
        let sum = "SELECT sum(at_ns * 10 + coalesce(base_id, 0)) FROM sample";
        assert_eq!(number(&connection, sum), 141);
        let whole = "SELECT sum(value) FROM whole_sample_value";
        assert_eq!(number(&connection, whole), 2 * 77);
        let of_load = "INSERT INTO sample VALUES (3, 1, NULL, 0, 'start', 1, 1, NULL)";
        enforce_foreign_keys(&connection, false).unwrap();
        connection.execute_batch(of_load).unwrap();
        let again = of_load.replace("(3,", "(4,");
        assert!(connection.execute_batch(&again).is_err());
        let refers = "SELECT count(*) FROM pragma_foreign_key_list('sample_value')
             WHERE \"table\" = 'sample'";
        assert_eq!(number(&connection, refers), 1);
    }

    #[test]
    fn a_file_is_brought_to_the_last_version_or_left_as_it_was() {
        let mut connection = first_version();
        let broken = [VERSIONS[0], VERSIONS[1], "CREATE TABLE parent (id);"];
        assert!(migrate_by(&mut connection, &broken, 1).is_err());
        assert_eq!(number(&connection, "PRAGMA user_version"), 1);
        let columns = "SELECT count(*) FROM pragma_table_info('child')";
        assert_eq!(number(&connection, columns), 2);
    }
}
