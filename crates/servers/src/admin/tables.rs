//! The database and the tables of a dataset.

use prony_client::{ClientError, Connection};
use prony_model::{ColumnType, Dataset, TableIndex};

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
            let key = part.indexes(index).into_iter().next();
            let hint = key.map_or_else(String::new, |key| force(&key.name));
            if let Some(statement) = read_rows(&part, index, &hint) {
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

/// The same in PostgreSQL, by the extension that reads whole tables and indexes into its buffers: plans
/// decide there what a statement reads. Accounts of external servers may not make the extension, or it is
/// not installed there; then statements read all, as far as plans let them.
fn warm_postgres(connection: &mut Connection, dataset: &Dataset) -> Result<(), StatementError> {
    match run(connection, "CREATE EXTENSION IF NOT EXISTS pg_prewarm") {
        Err(error) if matches!(error.source, ClientError::Server { .. }) => {
            return read_postgres(connection, dataset);
        }
        outcome => outcome?,
    };
    for part in dataset.parts() {
        for table in part.table_names() {
            run(
                connection,
                &format!(
                    "SELECT pg_prewarm(oid) FROM pg_class WHERE oid = '{table}'::regclass OR oid IN \
                     (SELECT indexrelid FROM pg_index WHERE indrelid = '{table}'::regclass)"
                ),
            )?;
        }
    }
    Ok(())
}

/// Reads all rows and all indexes of a dataset in PostgreSQL, whose plans use an index where nothing else is
/// left.
fn read_postgres(connection: &mut Connection, dataset: &Dataset) -> Result<(), StatementError> {
    for part in dataset.parts() {
        for index in 0..part.tables {
            let table = part.table_name(index);
            let rows = read_rows(&part, index, "");
            let indexes = part.indexes(index).into_iter();
            let indexes = indexes.filter_map(|index| read_column(&table, &index, ""));
            run(connection, "RESET ALL")?;
            for statement in rows.into_iter().chain(indexes) {
                run(connection, &statement)?;
                run(
                    connection,
                    "SET enable_seqscan = off; SET enable_bitmapscan = off",
                )?;
            }
        }
    }
    run(connection, "RESET ALL").map(drop)
}

/// The statement that reads all rows of table `index`, by the index that `hint` names.
fn read_rows(dataset: &Dataset, index: u32, hint: &str) -> Option<String> {
    let table = dataset.table_name(index);
    // A column that is in no index makes the server read whole rows.
    let column = dataset.unindexed_column()?;
    let other = if column.kind.is_number() {
        column.name.clone()
    } else {
        format!("LENGTH({})", column.name)
    };
    Some(format!(
        "SELECT COUNT(*) FROM {table}{hint} WHERE {other} < 0"
    ))
}

/// The statement that reads all of an index, and not the rows that it leads to.
pub(super) fn read_index(table: &str, index: &TableIndex) -> Option<String> {
    read_column(table, index, &force(&index.name))
}

/// The hint that makes servers of MySQL and MariaDB use an index.
fn force(index: &str) -> String {
    format!(" FORCE INDEX ({index})")
}

/// The statement that reads the first column of an index, by the index that `hint` names.
fn read_column(table: &str, index: &TableIndex, hint: &str) -> Option<String> {
    let column = index.columns.first()?;
    let name = &column.name;
    // No text is below the empty one, and no date below this one.
    let (read, lowest) = match column.kind {
        ColumnType::Datetime => ("COUNT", "'1000-01-01'"),
        ColumnType::Char(_) | ColumnType::Varchar(_) => ("COUNT", "''"),
        kind if kind.is_number() && column.value.is_natural() => ("SUM", "0"),
        _ => ("SUM", "-9223372036854775807"),
    };
    Some(format!(
        "SELECT {read}({name}) FROM {table}{hint} WHERE {name} >= {lowest}"
    ))
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
                read_rows(dataset, 1, &force(&dataset.indexes(1)[0].name)).unwrap(),
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
