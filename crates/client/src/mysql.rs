//! Conversations with servers of MySQL and MariaDB.

pub(crate) mod connection;
mod greet;
pub(crate) mod opening;
mod preparing;
pub(crate) mod transport;

/// The first byte of an ERR packet.
const ERR: u8 = 0xff;
