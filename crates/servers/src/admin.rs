//! Statements of an administrator on a server that runs: accounts, what the server tells of itself,
//! execution plans, tables, settling.
//!
//! All SQL that is not a workload's is here, or in the load generator where it fills tables.

pub(crate) mod accounts;
mod explain;
mod facts;
pub(crate) mod settle;
pub(crate) mod statement;
mod status;
mod tables;

pub use explain::Explainer;
pub use facts::{variables, version};
pub use settle::{SettleError, Whose, debt, empty_binlog, settle};
pub use statement::StatementError;
pub use status::StatusReader;
pub use tables::{check_table, create_database, warm};
