//! Errors in bytes.

/// Reason why bytes are not the protocol. Fits after "failed to …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A packet is shorter than its fields.
    #[error("read the server's {packet}: it ends too early")]
    Truncated {
        /// Name of the packet.
        packet: &'static str,
    },
    /// A packet is longer than its fields.
    #[error("read the server's {packet}: it is longer than its fields")]
    Overlong {
        /// Name of the packet.
        packet: &'static str,
    },
    /// A byte that is not allowed where it stands.
    #[error("read the server's {packet}: byte {byte:#04x} is not allowed there")]
    UnexpectedByte {
        /// Name of the packet.
        packet: &'static str,
        /// The byte.
        byte: u8,
    },
    /// Packets of one conversation carry consecutive numbers; this one did not.
    #[error("read the answer: expected packet number {expected}, got {found}")]
    Sequence {
        /// The number that should have come.
        expected: u8,
        /// The number that came.
        found: u8,
    },
    /// The server spoke out of turn.
    #[error(
        "read the answer: the server sent {bytes} unexpected {}",
        if *bytes == 1 { "byte" } else { "bytes" }
    )]
    Surplus {
        /// Number of bytes.
        bytes: usize,
    },
    /// A packet that no server sends where it stands.
    #[error(
        "read the answer: the server announced a packet of {size} bytes, more than the \
             maximum of {max}"
    )]
    Oversized {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Not the protocol of MySQL 3.21 and later.
    #[error("read the greeting: protocol version {version}, expected 10")]
    ProtocolVersion {
        /// The version it announced.
        version: u8,
    },
    /// A server that knows only the protocol of MySQL 4.0 and older.
    #[error("read the greeting: the server is older than MySQL 4.1")]
    ServerTooOld,
    /// A request that does not fit one packet.
    #[error("build a request of {size} bytes: a packet holds at most {max}")]
    RequestTooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
}
