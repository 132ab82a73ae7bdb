//! Scheduling groups of external servers.

use prony_model::SchedulingGroups;

use crate::database::{insert_row, rows};
use crate::trials::require_running;
use crate::{Store, StoreError, TrialId};

impl Store {
    /// Records the scheduling groups of a trial's external server and of the load generator.
    ///
    /// # Errors
    /// If the trial is not running, or has them already.
    pub fn record_scheduling_groups(
        &mut self,
        trial: TrialId,
        groups: &SchedulingGroups,
    ) -> Result<(), StoreError> {
        let action = "record the scheduling groups of a server and the load generator";
        self.write(action, |transaction, _| {
            require_running(transaction, trial)?;
            insert_row! { transaction, action, scheduling_group {
                trial_id: trial, server: groups.server.as_ref().ok(),
                reason: groups.server.as_ref().err(), generator: groups.generator,
            } }
        })
    }

    /// Scheduling groups of the trials with an external server, by trial.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn scheduling_groups(&self) -> Result<Vec<(TrialId, SchedulingGroups)>, StoreError> {
        rows(
            &self.connection,
            "read the scheduling groups",
            "SELECT trial_id, server, coalesce(reason, ''), generator FROM scheduling_group
             ORDER BY trial_id",
            [],
            |row| {
                let server: Option<String> = row.get(1)?;
                let reason: String = row.get(2)?;
                let groups = SchedulingGroups {
                    server: server.ok_or(reason),
                    generator: row.get(3)?,
                };
                Ok((row.get(0)?, groups))
            },
        )
    }
}
