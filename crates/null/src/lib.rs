//! The null server: it speaks the server's side of the protocol of MySQL, or of PostgreSQL, and answers
//! any query at once with a canned result. Against it, the load generator shows what it can do itself.
//!
//! One thread, thousands of connections, no allocation for a query in steady state. With a service
//! time it is a server of known capacity: queries are served one after the other, and each takes
//! exactly so long, by a timer and not by work.
//!
//! Deliberately absent: tables, transactions, passwords (every login is right), TLS, requests of
//! more than 16 MB, several executions in one request.

mod connection;
mod error;
mod limits;
mod listener;
mod mysql;
mod postgres;
mod protocol;
mod queue;
mod server;
mod statement;
mod timer;

pub use error::NullError;
pub use server::NullServer;
