//! The reasons to end settling early.

use prony_client::ClientError;

use crate::admin::statement::StatementError;

/// An engine that was not brought to a quiet state. A limit that was reached is no error.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// There is no connection.
    #[error("settle the engine: failed to {0}")]
    Connect(ClientError),
    /// The server refused a statement, or was gone.
    #[error("settle the engine: failed to {0}")]
    Statement(#[from] StatementError),
    /// The server answered that it can't do what a statement asks for.
    #[error("settle the engine: the server answered `{statement}` with: {message}")]
    Refused {
        /// The statement.
        statement: String,
        /// The server's words.
        message: String,
    },
    /// The user wished to stop.
    #[error("settle the engine: stopped")]
    Stopped,
}
