//! The canaries before and after trials.

use prony_model::{CanaryMoment, CanaryReading};
use rusqlite::Row;

use crate::database::{insert_row, rows};
use crate::trials::require_running;
use crate::values::{Word, word};
use crate::{Store, StoreError, TrialId};

/// One canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryRow {
    /// The trial.
    pub trial: TrialId,
    /// Index in [`Store::hosts`] of the first host on record that is the one of the trial: equal
    /// processor model, number of processors and kernel. Canaries of different hosts are not
    /// compared.
    pub host: usize,
    /// Its side of the trial.
    pub moment: CanaryMoment,
    /// Its times.
    pub times: CanaryReading,
}

impl Store {
    /// Records a canary of a trial.
    ///
    /// # Errors
    /// When the trial is not running, or has such a canary already.
    pub fn record_canary(
        &mut self,
        trial: TrialId,
        moment: CanaryMoment,
        reading: &CanaryReading,
    ) -> Result<(), StoreError> {
        self.write("record a canary", |transaction, _| {
            require_running(transaction, trial)?;
            insert_row! { transaction, "record a canary", canary {
                trial_id: trial, moment: Word(&moment), processor_ns: reading.processor_ns,
                memory_ns: reading.memory_ns, system_calls_ns: reading.system_calls_ns,
                wake_up_ns: reading.wake_up_ns,
            } }
        })
    }

    /// Every canary, of trials in any state, in the order in which they ran.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn canaries(&self) -> Result<Vec<CanaryRow>, StoreError> {
        let hosts = self.same_hosts()?;
        let canaries = rows(
            &self.connection,
            "read the canaries",
            "SELECT trial_id, host_id, moment, processor_ns, memory_ns, system_calls_ns, wake_up_ns
             FROM canary JOIN trial ON trial.id = trial_id
             ORDER BY trial_id, moment = 'after'",
            [],
            read_canary,
        )?;
        let first = |row: CanaryRow| CanaryRow {
            host: hosts.get(row.host).copied().unwrap_or(row.host),
            ..row
        };
        Ok(canaries.into_iter().map(first).collect())
    }
}

fn read_canary(row: &Row<'_>) -> rusqlite::Result<CanaryRow> {
    Ok(CanaryRow {
        trial: row.get(0)?,
        host: row.get(1)?,
        moment: word(row, 2)?,
        times: CanaryReading {
            processor_ns: row.get(3)?,
            memory_ns: row.get(4)?,
            system_calls_ns: row.get(5)?,
            wake_up_ns: row.get(6)?,
        },
    })
}
