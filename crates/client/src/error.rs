//! Errors of a connection.

use std::io::{self, ErrorKind};
use std::time::Duration;

use prony_model::ErrorCode;
use prony_wire::{ErrPacket, PublicKeyError, WireError};

use crate::{Address, TlsError};

/// Reason why a connection or a statement failed. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens at the address, or it can't be reached.
    #[error("connect to {address}: {source}")]
    Connect {
        /// Address of the server.
        address: Address,
        /// The system's reason.
        source: io::Error,
    },
    /// The server refused the connection or the statement.
    #[error("{task}: server error {}: {message}", code.with_state(sqlstate))]
    Server {
        /// The refused task.
        task: &'static str,
        /// The server's error code.
        code: ErrorCode,
        /// Five characters.
        sqlstate: String,
        /// The server's own words.
        message: String,
    },
    /// The server refused the account.
    #[error(
        "log in to {address} as `{user}` with {plugin}: the server answered with error {}: \
         {message}; {remedy}",
        code.with_state(sqlstate)
    )]
    Login {
        /// Address of the server.
        address: Address,
        /// The account.
        user: String,
        /// Method of proof.
        plugin: &'static str,
        /// The server's error code.
        code: ErrorCode,
        /// Five characters.
        sqlstate: String,
        /// The server's own words.
        message: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The connection could not be encrypted.
    #[error("encrypt the connection to {address}: failed to {source}")]
    Tls {
        /// Address of the server.
        address: Address,
        /// The cause.
        source: TlsError,
    },
    /// The password could not be encrypted for the server.
    #[error("log in: failed to {source}; connect with TLS or over the server's unix socket")]
    PublicKey {
        /// The cause.
        #[from]
        source: PublicKeyError,
    },
    /// The server wants a kind of authentication that Prony does not know.
    #[error("log in: the server requires {wanted}; create the account with {remedy}")]
    Authentication {
        /// Authentication that the server requires.
        wanted: String,
        /// Remedy that would work.
        remedy: &'static str,
    },
    /// The protocol of PostgreSQL has no request to stop the server.
    #[error("ask the server to stop: PostgreSQL is stopped by a signal")]
    NoShutdown,
    /// The server's message is none of the protocol of PostgreSQL.
    #[error("read the server's message: {source}")]
    Message {
        /// The problem in its bytes.
        source: io::Error,
    },
    /// A request does not fit the protocol of PostgreSQL.
    #[error("build a request: {source}")]
    Request {
        /// The reason.
        source: io::Error,
    },
    /// The bytes are not the protocol.
    #[error(transparent)]
    Protocol {
        /// The problem in the bytes.
        #[from]
        source: WireError,
    },
    /// The server said nothing for as long as it was allowed to.
    #[error("receive an answer: the server was silent for {after:?}")]
    Timeout {
        /// The longest silence allowed.
        after: Duration,
    },
    /// The server closed the connection, or an earlier error left it unusable.
    #[error("receive an answer: the server closed the connection")]
    Closed,
    /// The system failed to carry the bytes.
    #[error("communicate with the server: {source}")]
    Io {
        /// The system's reason.
        source: io::Error,
    },
}

impl ClientError {
    /// Refusal of a statement.
    pub(crate) fn refused(packet: ErrPacket<'_>) -> Self {
        Self::server("run the statement", packet)
    }

    /// Refusal in place of the greeting.
    pub(crate) fn not_greeted(packet: ErrPacket<'_>) -> Self {
        Self::server("open the connection", packet)
    }

    fn server(task: &'static str, packet: ErrPacket<'_>) -> Self {
        Self::Server {
            task,
            code: packet.code.into(),
            sqlstate: packet.sqlstate_text(),
            message: packet.message_text(),
        }
    }

    /// The meaning of an error of reading or writing.
    pub(crate) fn broken(source: io::Error, timeout: Option<Duration>) -> Self {
        match source.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Timeout {
                after: timeout.unwrap_or_default(),
            },
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                Self::Closed
            }
            _ => Self::Io { source },
        }
    }

    /// Returns `true` if the conversation is out of step after this error, so that the connection
    /// is of no use any more. A refused statement is not: the next may be asked.
    pub(crate) const fn breaks_connection(&self) -> bool {
        !matches!(self, Self::Server { .. })
    }
}
