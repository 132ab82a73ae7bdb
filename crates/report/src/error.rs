//! Reasons why there is no report.

use prony_equality::VariableTableError;
use prony_model::Backend;
use prony_store::StoreError;

/// The reason why a run can't be reported.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The result file can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A histogram of times in the result file can't be decoded.
    #[error(transparent)]
    Histogram(#[from] HistogramError),
    /// The schedule errors of a calibration can't be decoded.
    #[error("decode the schedule errors of {backend}: {problem}; calibrate again")]
    Calibration {
        /// The backend that was calibrated.
        backend: Backend,
        /// The decoder's complaint.
        problem: String,
    },
    /// The table of variables can't be read.
    #[error("compare the targets: {source}")]
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
        /// The parser's complaint.
        problem: String,
    },
    /// Changes over versions have no form in CSV.
    #[error("write the lineage as CSV: it has no rows of blocks; choose text, md or json")]
    LineageAsCsv,
    /// Only whole runs have a page.
    #[error("write {what} as HTML: only the report of a run is a page; choose text, md or json")]
    NoHtml {
        /// The subject of the report.
        what: &'static str,
    },
    /// The report can't be written as JSON.
    #[error("write the report as JSON: {source}")]
    Json {
        /// The reason.
        source: serde_json::Error,
    },
}

/// A histogram of times in the result file that can't be decoded. Only formats that show it fail.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "decode the histogram of times of target {target}, step {step}, block {block}: {problem}; the \
     file is damaged"
)]
pub struct HistogramError {
    pub(crate) target: String,
    pub(crate) step: String,
    /// Counted from 1.
    pub(crate) block: u32,
    /// The decoder's complaint.
    pub(crate) problem: String,
}
