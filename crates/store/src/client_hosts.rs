//! The host that load generators run on, where that is another one than the servers'.

use jiff::Timestamp;
use prony_model::ClientHostFacts;
use rusqlite::params;

use crate::database::{change, rows};
use crate::values::{Json, Time, json};
use crate::{Store, StoreError};

impl Store {
    /// Adds the client host as it is now that the run begins or is resumed.
    ///
    /// # Errors
    /// When the run began with another one, or the file can't be written.
    pub fn record_client_host(
        &mut self,
        facts: &ClientHostFacts,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let before = self.client_hosts()?.pop();
        if let Some(before) = before.filter(|before| before.name != facts.name) {
            return Err(StoreError::ClientHostChanged {
                before: before.name,
                now: facts.name.clone(),
            });
        }
        self.write("record the client host", |transaction, _| {
            change(
                transaction,
                "record the client host",
                "INSERT INTO client_host (recorded_at, facts) VALUES (?1, ?2)",
                params![Time(at), Json(facts)],
            )
            .map(drop)
        })
    }

    /// The client host each time that the run began or was resumed; empty where load generators run
    /// beside the servers.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn client_hosts(&self) -> Result<Vec<ClientHostFacts>, StoreError> {
        rows(
            &self.connection,
            "read the client hosts",
            "SELECT facts FROM client_host ORDER BY id",
            [],
            |row| json(row, 0),
        )
    }
}
