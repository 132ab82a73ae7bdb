//! Profiles: the work of servers by function, in trials that count it or sample stacks.

use rusqlite::params;

use crate::database::{first, insert_row};
use crate::{Store, StoreError, TrialId};

/// The source of profiles that count instructions.
const CALLGRIND: &str = "callgrind";

impl Store {
    /// Records the profile of a step whose outcome is on record, in the form of the crate `profile`.
    ///
    /// # Errors
    /// When there is no such outcome, or it has a profile.
    pub fn record_profile(
        &mut self,
        trial: TrialId,
        step: usize,
        content: &[u8],
    ) -> Result<(), StoreError> {
        self.write("record a profile", |transaction, _| {
            insert_row! { transaction, "record a profile", profile {
                trial_id: trial, step_id: step, source: CALLGRIND, content: content,
            } }
        })
    }

    /// Records the samples of stacks of a step whose outcome is on record, in the form of the crate `profile`.
    ///
    /// # Errors
    /// When there is no such outcome, or it has samples.
    pub fn record_stack_samples(
        &mut self,
        trial: TrialId,
        step: usize,
        content: &[u8],
    ) -> Result<(), StoreError> {
        self.write("record samples of stacks", |transaction, _| {
            insert_row! { transaction, "record samples of stacks", stack_samples {
                trial_id: trial, step_id: step, content: content,
            } }
        })
    }

    /// `true` if any step of a trial has a profile that counts instructions.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn has_profiles(&self) -> Result<bool, StoreError> {
        self.has_rows("SELECT 1 FROM profile LIMIT 1")
    }

    /// `true` if any step of a trial has samples of stacks.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn has_stack_samples(&self) -> Result<bool, StoreError> {
        self.has_rows("SELECT 1 FROM stack_samples LIMIT 1")
    }

    fn has_rows(&self, query: &str) -> Result<bool, StoreError> {
        let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let found = first(&self.connection, "look for profiles", query, [], read)?;
        Ok(found.is_some())
    }

    /// The samples of stacks of a step of a trial; `None` where none were taken.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn stack_samples(
        &self,
        trial: TrialId,
        step: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        first(
            &self.connection,
            "read samples of stacks",
            "SELECT content FROM stack_samples WHERE trial_id = ?1 AND step_id = ?2",
            params![trial, step],
            |row| row.get(0),
        )
    }

    /// The profile of a step of a trial; `None` where none was made.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn profile(&self, trial: TrialId, step: usize) -> Result<Option<Vec<u8>>, StoreError> {
        first(
            &self.connection,
            "read a profile",
            "SELECT content FROM profile WHERE trial_id = ?1 AND step_id = ?2 AND source = ?3",
            params![trial, step, CALLGRIND],
            |row| row.get(0),
        )
    }
}
