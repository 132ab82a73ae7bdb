//! Mistakes in a catalogue.

use std::path::PathBuf;

use prony_host::IoError;

/// A catalogue that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A file or folder can't be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// An entry that was made up does not say what it must say.
    #[error("make a catalogue entry: {0}")]
    Entry(String),
    /// A file does not say what a catalogue file must say.
    #[error("read the catalogue: {}, line {line}: {reason}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The mistake, and how to put it right.
        reason: String,
    },
}
