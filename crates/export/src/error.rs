//! Reasons why there is no export.

use std::io;
use std::path::PathBuf;

use prony_report::ReportError;

use crate::format::Format;

/// The reason why a run can't be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run can't be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The format has no tables.
    #[error("write a table as {}: this format has no tables; leave out --table", format.name())]
    NoTables {
        /// The format.
        format: Format,
    },
    /// The format has several files.
    #[error("write {} as one file: it has {count} files", format.name())]
    SeveralFiles {
        /// The format.
        format: Format,
        /// Number of files.
        count: usize,
    },
    /// The program was built without the format.
    #[error("write Parquet: this program was built without it; choose csv or json")]
    #[cfg(not(feature = "parquet"))]
    WithoutParquet,
    /// A file or folder can't be created.
    #[error("create {}: {source}", path.display())]
    Create {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file exists.
    #[error("create {}: it exists; remove it or choose another name", path.display())]
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// A file can't be written to its end. It is removed.
    #[error("write {}: {source}; the file is removed", path.display())]
    Save {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The output refuses data.
    #[error("write {name}: {source}")]
    Write {
        /// Name of the table or document.
        name: String,
        /// The reason.
        source: io::Error,
    },
}
