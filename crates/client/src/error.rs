//! What can go wrong on a connection.

use std::io;
use std::time::Duration;

use prony_wire::{ErrPacket, PublicKeyError, WireError};

use crate::{Address, TlsError};

/// Why a connection or a statement failed. Fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens at the address, or it can't be reached.
    #[error("connect to {address}: {source}")]
    Connect {
        /// Where.
        address: Address,
        /// The system's reason.
        source: io::Error,
    },
    /// The server refused the connection or the statement.
    #[error("satisfy the server: error {code} ({sqlstate}): {message}")]
    Server {
        /// The server's error code.
        code: u16,
        /// Five characters.
        sqlstate: String,
        /// The server's own words.
        message: String,
    },
    /// The server refused the account.
    #[error(
        "log in to {address} as `{user}` with {plugin}: the server answered with error {code} \
         ({sqlstate}): {message}; {remedy}"
    )]
    Login {
        /// Where.
        address: Address,
        /// The account.
        user: String,
        /// How it was to be proved.
        plugin: &'static str,
        /// The server's error code.
        code: u16,
        /// Five characters.
        sqlstate: String,
        /// The server's own words.
        message: String,
        /// What to look at.
        remedy: &'static str,
    },
    /// The connection could not be encrypted.
    #[error("encrypt the connection to {address}: failed to {source}")]
    Tls {
        /// Where.
        address: Address,
        /// Why.
        source: TlsError,
    },
    /// The password could not be encrypted for the server.
    #[error("log in: failed to {source}; connect with TLS or over the server's unix socket")]
    PublicKey {
        /// Why.
        #[from]
        source: PublicKeyError,
    },
    /// The server wants a kind of authentication that Prony does not know.
    #[error("log in: the server asks for {wanted}; create the account with {remedy}")]
    Authentication {
        /// What the server asks for.
        wanted: String,
        /// What would work.
        remedy: &'static str,
    },
    /// The bytes are not the protocol.
    #[error(transparent)]
    Protocol {
        /// What is wrong with them.
        #[from]
        source: WireError,
    },
    /// The server said nothing for as long as it was allowed to.
    #[error("hear from the server: it was silent for {after:?}")]
    Timeout {
        /// The longest silence allowed.
        after: Duration,
    },
    /// The server closed the connection, or an earlier error left it unusable.
    #[error("hear from the server: it closed the connection")]
    Closed,
    /// The system failed to carry the bytes.
    #[error("talk to the server: {source}")]
    Io {
        /// The system's reason.
        source: io::Error,
    },
}

impl ClientError {
    pub(crate) fn refused(packet: ErrPacket<'_>) -> Self {
        Self::Server {
            code: packet.code,
            sqlstate: packet.sqlstate_text(),
            message: packet.message_text(),
        }
    }

    /// Whether the conversation is out of step after this error, so that the connection is of no
    /// use any more. A refused statement is not: the next may be asked.
    pub(crate) const fn breaks_connection(&self) -> bool {
        !matches!(self, Self::Server { .. })
    }
}
