//! The operations that steps have in counting trials.

use rusqlite::Connection;

use crate::database::{first, insert_row};
use crate::{Store, StoreError};

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
            insert_row! { transaction, "record the operations to count", counting_operations {
                step_id: step, operations: operations,
            } " ON CONFLICT DO NOTHING" }?;
            Ok(operations_of(transaction, step)?.unwrap_or(operations))
        })
    }

    /// The number of operations that a step has in counting trials; `None` before it is settled.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn counting_operations(&self, step: usize) -> Result<Option<u64>, StoreError> {
        operations_of(&self.connection, step)
    }
}

fn operations_of(connection: &Connection, step: usize) -> Result<Option<u64>, StoreError> {
    first(
        connection,
        "read the operations to count",
        "SELECT operations FROM counting_operations WHERE step_id = ?1",
        [step],
        |row| row.get(0),
    )
}
