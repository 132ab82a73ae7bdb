//! The backend of a run's load, and the load generator's ceiling on the host.

use jiff::Timestamp;
use prony_model::{Backend, Calibration};

use crate::database::{change, first, insert_row};
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
            insert_row! { transaction, "record the calibration", calibration {
                recorded_at: Time(at), ceiling: Json(calibration),
            } }
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

    fn calibration_by(&self, query: &str) -> Result<Option<Calibration>, StoreError> {
        first(&self.connection, "read the calibration", query, [], |row| {
            json(row, 0)
        })
    }
}
