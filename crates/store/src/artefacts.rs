//! Files beside the result file that belong to trials.

use crate::database::{insert_row, read_row, rows};
use crate::{Store, StoreError, TrialId};

/// A file beside the result file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// The trial that it was made in.
    pub trial: TrialId,
    /// Index of the step that it is of; `None` for the whole trial.
    pub step: Option<usize>,
    /// A short stable word for its kind.
    pub kind: String,
    /// Its path relative to the folder of the run; unique in the run.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Store {
    /// Records a file that stands beside the result file already. Also for trials that have ended.
    ///
    /// # Errors
    /// When the trial or the step does not exist, or the path is on record.
    pub fn record_artefact(&mut self, artefact: &Artefact) -> Result<(), StoreError> {
        self.write("record an artefact", |transaction, _| {
            insert_row! { transaction, "record an artefact", artefact {
                trial_id: artefact.trial, step_id: artefact.step, kind: artefact.kind,
                path: artefact.path, bytes: artefact.bytes,
            } }
        })
    }

    /// The artefacts of a trial, those of the whole trial first, then step by step, each in the
    /// order of their recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn artefacts(&self, trial: TrialId) -> Result<Vec<Artefact>, StoreError> {
        rows(
            &self.connection,
            "read the artefacts",
            "SELECT trial_id, step_id, kind, path, bytes FROM artefact
             WHERE trial_id = ?1 ORDER BY step_id, id",
            [trial],
            |row| read_row! { row, 0 => Artefact { trial, step, kind, path, bytes } },
        )
    }
}
