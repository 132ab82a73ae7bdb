//! Mistakes in a catalogue.

use std::path::{Path, PathBuf};

use prony_host::IoError;
use serde::de::DeserializeOwned;

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

impl CatalogueError {
    /// A mistake in a line of a file.
    pub(crate) fn at(file: &Path, line: usize, reason: String) -> Self {
        let file = file.to_owned();
        Self::Invalid { file, line, reason }
    }
}

/// Reads the text of a file of the catalogue.
pub(crate) fn read_toml<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T, CatalogueError> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        CatalogueError::at(file, line_of(text, offset), error.message().to_owned())
    })
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let end = offset.min(text.len());
    text.as_bytes()[..end].split(|byte| *byte == b'\n').count()
}
