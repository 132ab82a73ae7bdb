//! Reasons why there is no report.

mod view;

use prony_equality::VariableTableError;
use prony_model::Backend;
use prony_profile::{ComponentsError, ProfileError};
use prony_store::StoreError;

pub use self::view::ViewError;
use crate::compare::SyntaxError;

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
    /// The table of components can't be read.
    #[error(transparent)]
    Components(#[from] ComponentsError),
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
    /// A part of the report was asked for that the run does not have.
    #[error("show {what} `{asked}`: the run has {known}")]
    NotInRun {
        /// The kind of the part: step, number of clients, section.
        what: &'static str,
        /// The name that was asked for.
        asked: String,
        /// Those that the run has.
        known: String,
    },
    /// Each choice fits some step, and no step fits all.
    #[error(
        "show steps: no step fits all of --step, --clients and --section; leave one of them out"
    )]
    NoStepChosen,
    /// CSV, JSON and HTML are always whole.
    #[error(
        "write some steps as CSV, JSON or HTML: these have all steps; choose text or md, or filter the rows"
    )]
    StepsOfData,
    /// A view can't be shown as it was asked for.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A filter or projection of a comparison can't be understood.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// No run has the target that a comparison was asked to take as its base.
    #[error("compare with `{base}`: no run has this target; choose one of {known}")]
    NoSuchBase {
        /// The name.
        base: String,
        /// Names of all targets.
        known: String,
    },
    /// Only whole runs have a page.
    #[error("write {what} as HTML: only the report of a run is a page; choose text, md or json")]
    NoHtml {
        /// The subject of the report.
        what: &'static str,
    },
    /// The run has nothing to explain.
    #[error(
        "explain the costs: the run has no execution profiles, because {reason}; these are made where \
         instructions are counted by valgrind: put `with = \"valgrind\"` into [counting], and run the \
         experiment again"
    )]
    NoProfiles {
        /// The reason.
        reason: String,
    },
    /// No trial has samples of stacks.
    #[error(
        "explain the time of operations: the run has no samples of stacks, because {reason}; put [profiling] \
         into the experiment, and run it again"
    )]
    NoSamples {
        /// The reason.
        reason: String,
    },
    /// Samples of stacks make no figures.
    #[error("explain the time of step {step} on {target}: {reason}")]
    Samples {
        /// Name of the target.
        target: String,
        /// Name of the step.
        step: String,
        /// The reason.
        reason: String,
    },
    /// A target was not profiled.
    #[error(
        "explain the costs of {target}: it has no execution profile of what was asked for; `prony report RUN --detail` \
         shows what could not be read"
    )]
    NoProfile {
        /// Its name.
        target: String,
    },
    /// A profile can't be read.
    #[error("explain step {step} of {target}: {problem}; the file is damaged")]
    Profile {
        /// Name of the target.
        target: String,
        /// Name of the step.
        step: String,
        /// The decoder's complaint.
        problem: ProfileError,
    },
    /// Stacks are of one step, and of one target or two.
    #[error("write stacks: name a step and a target by --step and --target")]
    NoCellNamed,
    /// Stacks can't be compressed.
    #[error("write stacks for pprof: {source}")]
    Pprof {
        /// The reason.
        source: std::io::Error,
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
