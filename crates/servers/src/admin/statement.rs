//! One statement of an administrator, and its failure.

use prony_client::{Answer, ClientError, Connection};

/// A statement that a server did not run.
#[derive(Debug, thiserror::Error)]
#[error("{source} (in `{statement}`)")]
pub struct StatementError {
    /// The statement.
    pub statement: String,
    /// The reason.
    pub source: ClientError,
}

/// The first two cells of every row, which are a name and a value in most answers of servers; empty
/// for NULL.
pub(crate) fn pairs(answer: Answer) -> impl Iterator<Item = (String, String)> {
    answer.rows.into_iter().map(|row| {
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || cells.next().unwrap_or_default();
        (next(), next())
    })
}

/// Runs one statement.
pub(super) fn run(connection: &mut Connection, sql: &str) -> Result<Answer, StatementError> {
    connection.query(sql).map_err(|source| StatementError {
        statement: sql.to_owned(),
        source,
    })
}
