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
    /// The server answered that it can't do what a statement asks for.
    #[error("settle the engine: the server answers `{statement}` with: {message}")]
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
