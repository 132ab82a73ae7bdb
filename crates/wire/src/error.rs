//! What can be wrong with bytes.

/// Why bytes are not the protocol. Fits after "failed to …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A packet is shorter than its fields.
    #[error("read the server's {packet}: it ends too early")]
    Truncated {
        /// Which packet.
        packet: &'static str,
    },
    /// A packet is longer than its fields.
    #[error("read the server's {packet}: it is longer than its fields")]
    Overlong {
        /// Which packet.
        packet: &'static str,
    },
    /// A byte that is not allowed where it stands.
    #[error("read the server's {packet}: byte {byte:#04x} is not allowed there")]
    UnexpectedByte {
        /// Which packet.
        packet: &'static str,
        /// The byte.
        byte: u8,
    },
    /// Packets of one conversation carry consecutive numbers; this one did not.
    #[error("follow the server: expected packet number {expected}, got {found}")]
    Sequence {
        /// The number that should have come.
        expected: u8,
        /// The number that came.
        found: u8,
    },
    /// The server spoke out of turn.
    #[error("follow the server: it sent {bytes} bytes that nobody asked for")]
    Surplus {
        /// How many.
        bytes: usize,
    },
    /// A packet that no server sends where it stands.
    #[error("follow the server: it announced a packet of {size} bytes where {max} are enough")]
    Oversized {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// Not the protocol of MySQL 3.21 and later.
    #[error("greet the server: it speaks protocol version {version}, expected 10")]
    ProtocolVersion {
        /// The version it announced.
        version: u8,
    },
    /// A server that knows only the protocol of MySQL 4.0 and older.
    #[error("greet the server: it is older than MySQL 4.1")]
    ServerTooOld,
    /// A request that does not fit one packet.
    #[error("build a request of {size} bytes: at most {max} fit one packet")]
    RequestTooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
}
