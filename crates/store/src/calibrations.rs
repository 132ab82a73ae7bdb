//! What drives the load of a run: its backend, and the generator's ceiling on the host.

use jiff::Timestamp;
use prony_model::{Backend, Calibration};
use rusqlite::params;
use rusqlite::types::Type;

use crate::error::Context as _;
use crate::schedules::SINCE;
use crate::values::{Time, Word};
use crate::{Store, StoreError};

impl Store {
    /// Records what carries the connections of the run's load, or checks that it is still what it
    /// was: figures of two backends can't be compared.
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
                transaction
                    .execute("UPDATE run SET backend = ?1", [Word(&backend)])
                    .during("record the backend")
                    .map(drop)
            }),
        }
    }

    /// Adds what the load generator reaches on the host, as it was known when the run began or was
    /// resumed.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_calibration(
        &mut self,
        calibration: &Calibration,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let ceiling =
            serde_json::to_string(calibration).map_err(|source| StoreError::Json { source })?;
        self.write("record the calibration", |transaction, _| {
            transaction
                .execute(
                    "INSERT INTO calibration (recorded_at, ceiling) VALUES (?1, ?2)",
                    params![Time(at), ceiling],
                )
                .during("record the calibration")
                .map(drop)
        })
    }

    /// What the load generator reaches on the host, as last recorded.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn calibration(&self) -> Result<Option<Calibration>, StoreError> {
        self.calibration_by("SELECT ceiling FROM calibration ORDER BY id DESC LIMIT 1")
    }

    /// What the load generator reached on the host when the run began, or when it was first
    /// recorded after that: what is decided by it holds for the whole run.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn first_calibration(&self) -> Result<Option<Calibration>, StoreError> {
        self.calibration_by("SELECT ceiling FROM calibration ORDER BY id LIMIT 1")
    }

    fn calibration_by(&self, query: &str) -> Result<Option<Calibration>, StoreError> {
        if self.version < SINCE {
            return Ok(None);
        }
        let found = self.rows("read the calibration", query, [], |row| {
            let ceiling: String = row.get(0)?;
            serde_json::from_str(&ceiling).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
            })
        })?;
        Ok(found.into_iter().next())
    }
}
