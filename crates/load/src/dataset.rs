//! The rows of a dataset: making them, filling tables with them, and checking tables against them.

pub(crate) mod checksum;
pub(crate) mod conditions;
pub(crate) mod fill;
#[cfg(test)]
mod golden;
pub(crate) mod marks;
mod rows;
pub(crate) mod sums;

use prony_client::{Answer, Connection};

use crate::LoadError;

/// Sends one statement; `action` says in an error what it was for.
pub(crate) fn ask(
    connection: &mut Connection,
    sql: impl AsRef<[u8]>,
    action: impl Fn() -> String,
) -> Result<Answer, LoadError> {
    connection
        .query(sql)
        .map_err(|source| LoadError::fill(action(), source))
}
