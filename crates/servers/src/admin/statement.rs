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

/// Runs one statement.
pub(super) fn run(connection: &mut Connection, sql: &str) -> Result<Answer, StatementError> {
    connection.query(sql).map_err(|source| StatementError {
        statement: sql.to_owned(),
        source,
    })
}
