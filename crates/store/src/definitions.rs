//! The files that the user wrote for a run.

use serde::{Deserialize, Serialize};

use crate::database::{insert_row, read_row, rows};
use crate::values::Word;
use crate::{Store, StoreError};

/// A file that the user wrote for a run, as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFile {
    /// Its kind.
    pub kind: DefinitionKind,
    /// Name of the file, without its folders.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// Kinds of files that users write for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefinitionKind {
    /// The experiment.
    Experiment,
    /// Workloads besides the built-in ones.
    Workloads,
}

impl Store {
    /// Keeps the files that the user wrote for the run.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn record_definitions(&mut self, definitions: &[DefinitionFile]) -> Result<(), StoreError> {
        let action = "store the experiment's files";
        self.write(action, |transaction, _| {
            for definition in definitions {
                insert_row! { transaction, action, definition {
                    kind: Word(&definition.kind), name: definition.name, text: definition.text,
                } }?;
            }
            Ok(())
        })
    }

    /// The files that the user wrote for the run, the experiment first. Empty in result files of
    /// programs that did not keep them.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn definitions(&self) -> Result<Vec<DefinitionFile>, StoreError> {
        rows(
            &self.connection,
            "read the experiment's files",
            "SELECT kind, name, text FROM definition ORDER BY id",
            [],
            |row| read_row! { row, 0 => DefinitionFile { kind as Word<_>, name, text } },
        )
    }
}
