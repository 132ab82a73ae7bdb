//! The database and the tables of a dataset.

use prony_client::Connection;
use prony_model::{Column, ColumnType, Dataset, TableIndex};

use super::statement::{StatementError, run};

/// Makes a database unless it is there.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn create_database(connection: &mut Connection, name: &str) -> Result<(), StatementError> {
    if connection.is_postgresql() {
        let there = format!("SELECT 1 FROM pg_database WHERE datname = '{name}'");
        if run(connection, &there)?.rows.is_empty() {
            run(connection, &format!("CREATE DATABASE \"{name}\""))?;
        }
        return Ok(());
    }
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

/// Reads all indexes of every table of the dataset once, so that the first step that needs one
/// does not pay for bringing it into memory.
///
/// # Errors
/// When the server refuses it, or is gone.
pub fn warm(connection: &mut Connection, dataset: &Dataset) -> Result<(), StatementError> {
    if connection.is_postgresql() {
        return warm_postgres(connection, dataset);
    }
    for part in dataset.parts() {
        for index in 0..part.tables {
            let table = part.table_name(index);
            if let Some(statement) = read_rows(&part, index) {
                run(connection, &statement)?;
            }
            for index in part.secondary_indexes(index) {
                if let Some(statement) = read_index(&table, &index) {
                    run(connection, &statement)?;
                }
            }
        }
    }
    Ok(())
}

/// The same in PostgreSQL, in a session whose plans read by indexes. A scan of a large table would go through
/// a small part of its buffers only.
fn warm_postgres(connection: &mut Connection, dataset: &Dataset) -> Result<(), StatementError> {
    run(
        connection,
        "SET enable_seqscan = off; SET enable_bitmapscan = off",
    )?;
    for part in dataset.parts() {
        for number in 0..part.tables {
            let table = part.table_name(number);
            let indexes = part.indexes(number).into_iter();
            let statements = indexes.filter_map(|index| read_by_index(&part, &table, &index));
            for statement in statements {
                run(connection, &statement)?;
            }
        }
    }
    Ok(())
}

/// The statement that reads all of an index and the rows that it leads to.
fn read_by_index(part: &Dataset, table: &str, index: &TableIndex) -> Option<String> {
    let column = index.columns.first()?;
    let name = &column.name;
    let (_, lowest) = lowest_of(column);
    let other = unindexed(part)?;
    Some(format!(
        "SELECT COUNT(*) FROM {table} WHERE {name} >= {lowest} AND {other} < 0"
    ))
}

/// The statement that reads all rows of table `index` by its key.
fn read_rows(dataset: &Dataset, index: u32) -> Option<String> {
    let table = dataset.table_name(index);
    let key = dataset.indexes(index).into_iter().next()?.name;
    let other = unindexed(dataset)?;
    Some(format!(
        "SELECT COUNT(*) FROM {table} FORCE INDEX ({key}) WHERE {other} < 0"
    ))
}

/// A number that is never below 0, of a column that is in no index: it makes the server read whole rows.
fn unindexed(dataset: &Dataset) -> Option<String> {
    let column = dataset.unindexed_column()?;
    Some(match column.kind {
        kind if kind.is_number() => column.name.clone(),
        ColumnType::Datetime => format!("EXTRACT(YEAR FROM {})", column.name),
        _ => format!("LENGTH({})", column.name),
    })
}

/// The statement that reads all of an index, and not the rows that it leads to.
pub(super) fn read_index(table: &str, index: &TableIndex) -> Option<String> {
    let column = index.columns.first()?;
    let name = &column.name;
    let (read, lowest) = lowest_of(column);
    Some(format!(
        "SELECT {read}({name}) FROM {table} FORCE INDEX ({index}) WHERE {name} >= {lowest}",
        index = index.name
    ))
}

/// A function of the values of a column that reads all of them, and a value that none is below.
fn lowest_of(column: &Column) -> (&'static str, &'static str) {
    match column.kind {
        ColumnType::Datetime => ("COUNT", "'1000-01-01'"),
        ColumnType::Char(_) | ColumnType::Varchar(_) => ("COUNT", "''"),
        kind if kind.is_number() && column.value.is_natural() => ("SUM", "0"),
        _ => ("SUM", "-9223372036854775807"),
    }
}

#[cfg(test)]
mod tests {
    use prony_model::Schema;

    use super::*;

    #[test]
    fn every_index_is_read_by_its_name() {
        let sbtest = Dataset::sbtest(2, 10, 1);
        let foo = Dataset {
            schema: Schema::FOO,
            primary_key: false,
            ..sbtest
        };
        let reads = |dataset: &Dataset| {
            let index = dataset.secondary_indexes(1).next().unwrap();
            let table = dataset.table_name(1);
            (
                read_rows(dataset, 1).unwrap(),
                read_index(&table, &index).unwrap(),
            )
        };
        let (rows, index) = reads(&sbtest);
        assert_eq!(
            rows,
            "SELECT COUNT(*) FROM sbtest2 FORCE INDEX (PRIMARY) WHERE LENGTH(pad) < 0"
        );
        assert_eq!(
            index,
            "SELECT SUM(k) FROM sbtest2 FORCE INDEX (k_2) WHERE k >= 0"
        );
        let (rows, _) = reads(&foo);
        assert_eq!(
            rows,
            "SELECT COUNT(*) FROM foo2 FORCE INDEX (xid) WHERE l < 0"
        );
    }
}
