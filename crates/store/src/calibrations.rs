//! The backend of a run's load, and the load generator's ceiling on the host.

use std::collections::BTreeMap;

use jiff::Timestamp;
use prony_model::{Backend, Calibration};
use rusqlite::params;

use crate::database::{change, first, rows};
use crate::values::{Json, Time, Word, json};
use crate::{Store, StoreError};

impl Store {
    /// Records the backend of the run's load, or checks that it is still the one on record: figures
    /// of two backends can't be compared.
    ///
    /// # Errors
    /// When the run began with another backend, or the file can't be written.
    pub fn record_backend(&mut self, backend: Backend) -> Result<(), StoreError> {
        match self.run()?.backend {
            Some(before) if before == backend => Ok(()),
            Some(before) => Err(StoreError::BackendChanged {
                before,
                now: backend,
            }),
            None => self.write("record the backend", |transaction, _| {
                let sql = "UPDATE run SET backend = ?1";
                change(transaction, "record the backend", sql, [Word(&backend)]).map(drop)
            }),
        }
    }

    /// Adds the load generator's ceiling on the host, as it was known when the run began or was
    /// resumed.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_calibration(
        &mut self,
        calibration: &Calibration,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write("record the calibration", |transaction, _| {
            change(
                transaction,
                "record the calibration",
                "INSERT INTO calibration (recorded_at, ceiling, host_id)
                 SELECT ?1, ?2, max(id) FROM host",
                params![Time(at), Json(calibration)],
            )
            .map(drop)
        })
    }

    /// The load generator's ceiling on the host, as last recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn calibration(&self) -> Result<Option<Calibration>, StoreError> {
        self.calibration_by("SELECT ceiling FROM calibration ORDER BY id DESC LIMIT 1")
    }

    /// The load generator's ceiling on the host when the run began, or when it was first recorded
    /// after that: decisions that rest on it hold for the whole run.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn first_calibration(&self) -> Result<Option<Calibration>, StoreError> {
        self.calibration_by("SELECT ceiling FROM calibration ORDER BY id LIMIT 1")
    }

    /// The load generator's ceiling on each host, as last recorded there, by index in
    /// [`Store::hosts`].
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn calibrations(&self) -> Result<BTreeMap<usize, Calibration>, StoreError> {
        let rows = rows(
            &self.connection,
            "read the calibrations",
            "SELECT host_id, ceiling FROM calibration WHERE host_id IS NOT NULL ORDER BY id",
            [],
            |row| Ok((row.get(0)?, json(row, 1)?)),
        )?;
        Ok(rows.into_iter().collect())
    }

    fn calibration_by(&self, query: &str) -> Result<Option<Calibration>, StoreError> {
        first(&self.connection, "read the calibration", query, [], |row| {
            json(row, 0)
        })
    }
}
