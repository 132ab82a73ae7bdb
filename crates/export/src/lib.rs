//! Writes a stored run in the formats of other tools.
//!
//! `csv`, `json` and `parquet` write the tables of [`prony_report::tidy`], all with the same names,
//! columns and rows. The other formats write what one tool reads. An export is a pure function of the
//! result file: the same file gives the same bytes. `docs/formats/export.md` describes all of them.

mod bmf;
mod csv;
mod error;
mod file;
mod format;
mod github;
mod gobench;
mod json;
mod otava;
#[cfg(feature = "parquet")]
mod parquet;
mod series;

pub use error::ExportError;
pub use file::{File, files, save, save_as};
pub use format::Format;
