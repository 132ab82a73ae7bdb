use std::path::Path;

use rusqlite::ffi;

use super::*;
use crate::database::{change, first};

/// A table in a file, with one row.
fn table(folder: &Path) -> Connection {
    let connection = Connection::open(folder.join("run.sqlite")).unwrap();
    connection
        .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        .unwrap();
    connection
}

/// The message of an error, whose folder is called `FOLDER`.
fn message(error: &StoreError, folder: &Path) -> String {
    error
        .to_string()
        .replace(folder.to_str().unwrap(), "FOLDER")
}

fn insert(connection: &Connection) -> Result<usize, StoreError> {
    let sql = "INSERT INTO t VALUES (zeroblob(100000))";
    change(connection, "record a step", sql, [])
}

#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let connection = table(folder.path());
    connection.pragma_update(None, "max_page_count", 4).unwrap();
    let error = insert(&connection).unwrap_err();
    insta::assert_snapshot!(message(&error, folder.path()), @"record a step in FOLDER/run.sqlite: database or disk is full; free space on the disk that holds FOLDER, then continue with `prony resume`");
}

#[test]
fn a_file_that_can_only_be_read() {
    let folder = tempfile::tempdir().unwrap();
    drop(table(folder.path()));
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(folder.path().join("run.sqlite"), flags).unwrap();
    let error = insert(&connection).unwrap_err();
    insta::assert_snapshot!(message(&error, folder.path()), @"record a step in FOLDER/run.sqlite: attempt to write a readonly database; make FOLDER and its files writable, or copy it to where they are");
}

#[test]
fn a_locked_file() {
    let folder = tempfile::tempdir().unwrap();
    let connection = table(folder.path());
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let other = Connection::open(folder.path().join("run.sqlite")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = insert(&connection).unwrap_err();
    insta::assert_snapshot!(message(&error, folder.path()), @"record a step in FOLDER/run.sqlite: database is locked; another program writes to the file: wait for it or end it");
}

#[test]
fn a_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    let connection = table(folder.path());
    insert(&connection).unwrap();
    drop(connection);
    let path = folder.path().join("run.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0xAB);
    std::fs::write(&path, bytes).unwrap();
    let connection = Connection::open(&path).unwrap();
    let sum = "SELECT sum(length(a)) FROM t";
    let error = first(&connection, "read the outcomes", sum, [], |row| {
        row.get::<_, u64>(0)
    });
    insta::assert_snapshot!(message(&error.unwrap_err(), folder.path()), @"read the outcomes in FOLDER/run.sqlite: database disk image is malformed; the file is damaged: restore it from a copy, or run the experiment again");
}

#[test]
fn a_value_of_another_kind() {
    let folder = tempfile::tempdir().unwrap();
    let connection = table(folder.path());
    let text = "SELECT a FROM t";
    let error = first(&connection, "read the run", text, [], |row| {
        row.get::<_, String>(0)
    });
    insta::assert_snapshot!(message(&error.unwrap_err(), folder.path()), @"read the run in FOLDER/run.sqlite: Invalid column type Integer at index: 0, name: a; the file is damaged: restore it from a copy, or run the experiment again");
}

#[test]
fn what_nothing_can_be_done_about_has_its_reason_alone() {
    let folder = tempfile::tempdir().unwrap();
    let connection = table(folder.path());
    let error = change(
        &connection,
        "record a step",
        "INSERT INTO t VALUES (?1)",
        [u64::MAX],
    );
    insta::assert_snapshot!(message(&error.unwrap_err(), folder.path()), @"record a step in FOLDER/run.sqlite: out of range integral type conversion attempted");
}

#[test]
fn a_failing_disk_and_a_folder_that_cannot_be_written() {
    let failed = |code| StoreError::Database {
        action: "open the result file",
        path: "/runs/x/run.sqlite".into(),
        source: rusqlite::Error::SqliteFailure(ffi::Error::new(code), None),
    };
    insta::assert_snapshot!(failed(ffi::SQLITE_IOERR_FSYNC), @"open the result file in /runs/x/run.sqlite: Error code 1034: disk I/O error; free space on the disk that holds /runs/x if it is full, or check it, then continue with `prony resume`");
    insta::assert_snapshot!(failed(ffi::SQLITE_CANTOPEN), @"open the result file in /runs/x/run.sqlite: Error code 14: unable to open database file; make /runs/x and its files writable, or copy it to where they are");
}

#[test]
fn a_lock_file_that_cannot_be_made() {
    let failed = |kind: io::ErrorKind| StoreError::Lock {
        path: "/runs/x/run.sqlite.lock".into(),
        source: kind.into(),
    };
    insta::assert_snapshot!(failed(io::ErrorKind::StorageFull), @"lock /runs/x/run.sqlite.lock: no storage space; free space on the disk that holds /runs/x, then continue with `prony resume`");
    insta::assert_snapshot!(failed(io::ErrorKind::PermissionDenied), @"lock /runs/x/run.sqlite.lock: permission denied; make /runs/x and its files writable, or copy it to where they are");
    insta::assert_snapshot!(failed(io::ErrorKind::TimedOut), @"lock /runs/x/run.sqlite.lock: timed out");
}
