//! The database and the tables of a dataset.

use prony_client::Connection;
use prony_model::{Dataset, Schema};

use super::statement::{StatementError, run};

/// Makes a database unless it is there.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn create_database(connection: &mut Connection, name: &str) -> Result<(), StatementError> {
    let create = format!("CREATE DATABASE IF NOT EXISTS `{name}`");
    run(connection, &create).map(drop)
}

/// Reads a row of table `index` of the dataset, counted from 0, so that a table that is missing or
/// closed to the account is an error.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn check_table(
    connection: &mut Connection,
    dataset: &Dataset,
    index: u32,
) -> Result<(), StatementError> {
    let table = dataset.table_name(index);
    let key = dataset.schema.key_column();
    run(connection, &format!("SELECT {key} FROM {table} LIMIT 1")).map(drop)
}

/// Reads both indexes of every table of the dataset once, so that the first step that needs one
/// does not pay for bringing it into memory.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn warm(connection: &mut Connection, dataset: &Dataset) -> Result<(), StatementError> {
    for index in 0..dataset.tables {
        let table = dataset.table_name(index);
        let [key, secondary] = dataset.indexes(index).map(|index| index.name);
        // A column that is in no index makes the server read whole rows.
        let other = match dataset.schema {
            Schema::Sbtest | Schema::Sbtest04 => "LENGTH(pad)",
            Schema::Foo => "l",
        };
        for statement in [
            format!("SELECT COUNT(*) FROM {table} FORCE INDEX ({key}) WHERE {other} < 0"),
            format!("SELECT SUM(k) FROM {table} FORCE INDEX ({secondary}) WHERE k >= 0"),
        ] {
            run(connection, &statement)?;
        }
    }
    Ok(())
}
