//! Statements of an administrator on a server that runs: accounts, reading its state, settling.

pub(crate) mod accounts;
pub(crate) mod settle;
mod status;

pub use settle::{debt, empty_binlog, settle};
pub use status::status;
