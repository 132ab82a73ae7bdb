//! The one entry: a store and a format in, a text out.

use prony_equality::VariableTableError;
use prony_model::Backend;
use prony_store::{Store, StoreError};

use crate::analysis::Analysis;
use crate::effective::Detail;
use crate::{compose, csv, json, markdown, text};

/// What a report is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal of 100 columns or more.
    Text,
    /// For documents.
    Markdown,
    /// For spreadsheets: one row per target, step and block.
    Csv,
    /// For programs: everything that the other formats show.
    Json,
}

/// Why a run can't be reported.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The result file can't be read.
    #[error("read the run")]
    Store {
        /// The reason.
        #[from]
        source: StoreError,
    },
    /// A latency histogram in the result file can't be decoded.
    #[error(
        "decode the latency histogram of target {target}, step {step}, block {block}: {problem}; \
         the file is damaged"
    )]
    Histogram {
        /// Name of the target.
        target: String,
        /// Name of the step.
        step: String,
        /// The block, counted from 1.
        block: u32,
        /// What is wrong.
        problem: String,
    },
    /// The schedule errors of a calibration can't be decoded.
    #[error("decode the schedule errors of {backend}: {problem}; calibrate again")]
    Calibration {
        /// What was calibrated.
        backend: Backend,
        /// What is wrong.
        problem: String,
    },
    /// The table of variables can't be read.
    #[error("compare the targets")]
    Variables {
        /// The reason.
        #[from]
        source: VariableTableError,
    },
    /// An execution plan in the result file is no JSON.
    #[error(
        "read the execution plan of target {target} for `{statement}`: {problem}; the file is \
         damaged"
    )]
    ExecutionPlan {
        /// Name of the target.
        target: String,
        /// Name of the statement.
        statement: String,
        /// What is wrong.
        problem: String,
    },
    /// The report can't be written as JSON.
    #[error("write the report as JSON")]
    Json {
        /// The reason.
        source: serde_json::Error,
    },
}

/// Renders what is in `store` at this moment; ends with a line feed.
///
/// # Errors
/// When the result file can't be read or is damaged.
pub fn render(store: &Store, format: Format) -> Result<String, ReportError> {
    let analysis = Analysis::of(store)?;
    match format {
        Format::Text => Ok(text::write(&compose::document(&analysis, Detail::Brief))),
        Format::Markdown => Ok(markdown::write(&compose::document(&analysis, Detail::Full))),
        Format::Csv => csv::write(&analysis, store),
        Format::Json => json::write(&analysis, store),
    }
}
