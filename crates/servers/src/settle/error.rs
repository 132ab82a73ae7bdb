//! Why settling ended early.

use prony_client::ClientError;

/// Why an engine could not be brought to a quiet state. A limit that was reached is no error.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// There is no connection.
    #[error("settle the engine: failed to {source}")]
    Connect {
        /// Why.
        source: ClientError,
    },
    /// The server refused a statement, or was gone.
    #[error("settle the engine: failed to {source} (in `{statement}`)")]
    Statement {
        /// The statement.
        statement: String,
        /// Why.
        source: ClientError,
    },
    /// The user wished to stop.
    #[error("settle the engine: stopped")]
    Stopped,
}
