//! Errors that end the server.

use std::io;

use prony_model::Address;

/// Reason why the null server can't begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum NullError {
    /// Nothing can listen there.
    #[error("listen on {address}: {source}{}", remedy(source))]
    Listen {
        /// Address of the server.
        address: Address,
        /// Error of the system.
        source: io::Error,
    },
    /// There are more connections than files may be open.
    #[error(
        "accept another connection beside {connections} others: the hard limit of open files is \
         {limit}; raise it (`ulimit -Hn`) or connect fewer clients"
    )]
    OpenFiles {
        /// Connections that are open.
        connections: usize,
        /// The limit of this process.
        limit: u64,
    },
    /// The system refuses something else.
    #[error("{action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

impl NullError {
    pub(crate) fn system(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            source: source.into(),
        }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "; end what listens there, or remove the file of a socket",
        io::ErrorKind::InvalidFilename => "; a socket's path has at most 107 bytes",
        _ => "",
    }
}
