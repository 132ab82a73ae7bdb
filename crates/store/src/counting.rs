//! What counting trials share, and what they yielded.

use prony_model::TrialKind;
use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Context as _;
use crate::samples::SINCE;
use crate::{OutcomeRow, Store, StoreError};

impl Store {
    /// Settles how many operations a step has in counting trials, and returns how many it has: the
    /// first number on record, so that all targets are counted over as many.
    ///
    /// # Errors
    /// When the step is not in the plan, or the number is 0 or exceeds 2⁶³ − 1.
    pub fn record_counting_operations(
        &mut self,
        step: usize,
        operations: u64,
    ) -> Result<u64, StoreError> {
        self.write("record the operations to count", |transaction, _| {
            transaction
                .execute(
                    "INSERT INTO counting_operations (step_id, operations) VALUES (?1, ?2)
                     ON CONFLICT DO NOTHING",
                    (step, operations),
                )
                .during("record the operations to count")?;
            Ok(operations_of(transaction, step)?.unwrap_or(operations))
        })
    }

    /// How many operations a step has in counting trials; `None` before that is settled.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counting_operations(&self, step: usize) -> Result<Option<u64>, StoreError> {
        if self.version < SINCE {
            return Ok(None);
        }
        operations_of(&self.connection, step)
    }

    /// The counts of every step of every done counting trial, by block, target and step. Their
    /// times mean nothing.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counted(&self) -> Result<Vec<OutcomeRow>, StoreError> {
        if self.version < SINCE {
            return Ok(Vec::new());
        }
        self.outcomes_of(TrialKind::Counting)
    }
}

fn operations_of(connection: &Connection, step: usize) -> Result<Option<u64>, StoreError> {
    connection
        .query_row(
            "SELECT operations FROM counting_operations WHERE step_id = ?1",
            [step],
            |row| row.get(0),
        )
        .optional()
        .during("read the operations to count")
}
