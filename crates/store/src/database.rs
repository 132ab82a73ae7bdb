//! SQL statements on a connection or in a transaction, prepared once, whose errors say what was
//! attempted on which file.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::error::Context as _;

/// Does `work` in one transaction: all of it or nothing.
pub(crate) fn in_transaction<T>(
    connection: &mut Connection,
    action: &'static str,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let connection = &*connection;
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
        .during(action, connection)?;
    let value = work(&transaction)?;
    transaction.commit().during(action, connection)?;
    Ok(value)
}

/// Changes rows, and returns how many.
pub(crate) fn change(
    connection: &Connection,
    action: &'static str,
    sql: &str,
    params: impl Params,
) -> Result<usize, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params))
        .during(action, connection)
}

/// Inserts a row, and returns its number.
pub(crate) fn insert(
    connection: &Connection,
    action: &'static str,
    sql: &str,
    params: impl Params,
) -> Result<i64, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.insert(params))
        .during(action, connection)
}

/// The rows of a query.
pub(crate) fn rows<T>(
    connection: &Connection,
    action: &'static str,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_map(params, read)?.collect())
        .during(action, connection)
}

/// The first row of a query, where it has any.
pub(crate) fn first<T>(
    connection: &Connection,
    action: &'static str,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(params, read).optional())
        .during(action, connection)
}

/// The existence of rows.
pub(crate) fn exists(
    connection: &Connection,
    action: &'static str,
    sql: &str,
    params: impl Params,
) -> Result<bool, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.exists(params))
        .during(action, connection)
}

/// Inserts a row into a table, with the value of each column beside its name. What can't be
/// written that way, such as the treatment of conflicts, follows as text.
macro_rules! insert_row {
    ($connection:expr, $action:expr, $table:ident {
        $first:ident: $first_value:expr $(, $column:ident: $value:expr)* $(,)?
    } $($rest:literal)?) => {
        $crate::database::change(
            $connection,
            $action,
            concat!(
                "INSERT INTO ", stringify!($table),
                " (", stringify!($first), $(", ", stringify!($column),)* ")",
                " VALUES (?", $($crate::database::insert_row!(@mark $column),)* ")",
                $($rest)?
            ),
            rusqlite::params![$first_value, $($value),*],
        )
        .map(drop)
    };
    (@mark $column:ident) => {
        ", ?"
    };
}

/// Reads columns of a row, from one on and in this order, into the fields of a struct; `as` names
/// the wrapper whose content a field is. Fields that are not columns of that order follow after
/// `with`.
macro_rules! read_row {
    ($row:expr, $first:expr => $type:ident { $($field:ident $(as $wrapper:ty)?),* $(,)? }
        $(with { $($other:ident: $value:expr),* $(,)? })?) => {{
        let mut next = $first;
        let mut column = || {
            next += 1;
            next - 1
        };
        Ok::<_, rusqlite::Error>($type {
            $($field: $crate::database::read_row!(@get $row, column() $(, $wrapper)?),)*
            $($($other: $value,)*)?
        })
    }};
    (@get $row:expr, $column:expr) => {
        $row.get($column)?
    };
    (@get $row:expr, $column:expr, $wrapper:ty) => {
        $row.get::<_, $wrapper>($column)?.0
    };
}

pub(crate) use {insert_row, read_row};
