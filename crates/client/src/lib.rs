//! A small blocking connection to a server on this machine, for control statements: it connects,
//! asks and waits. Load is driven elsewhere; the generator takes over sockets opened here, or opens
//! them by an [`Opening`] inside an event loop of its own.
//!
//! One connection for all servers, MySQL 4.1 to 9.x, MariaDB and PostgreSQL, over unix sockets and TCP,
//! with TLS or without. Deliberately absent: compression, pools, types of values.

mod answer;
mod connection;
mod error;
mod login;
mod mysql;
mod opening;
mod postgres;
mod socket;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tls;

pub use answer::Answer;
pub use connection::Connection;
pub use error::ClientError;
pub use login::Login;
pub use opening::{Opening, OpeningProgress};
pub use prony_model::Address;
pub use prony_wire::PreparedStatement;
pub use socket::Socket;
pub use stream::Stream;
pub use tls::{Encryption, TlsError, TlsStream};
