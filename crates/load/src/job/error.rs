//! Errors of a job before anything is connected.

use prony_model::{DatasetError, Workload};

use crate::StatementError;

/// A job that can't be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A number that must not be 0.
    #[error("run the task: {field} must be at least 1")]
    Zero {
        /// The field of the job.
        field: &'static str,
    },
    /// Rows that the schema can't have.
    #[error("make the rows: {0}")]
    Dataset(#[from] DatasetError),
    /// A value for a parameter that the workload does not have.
    #[error("set parameter `{name}`: workload `{workload}` does not define it")]
    UnknownParameter {
        /// The parameter.
        name: String,
        /// The workload.
        workload: String,
    },
    /// A time and a number of operations.
    #[error(
        "warm up: by time or by operations, not both; leave out `warmup_operations`, or `warmup_ms` \
         and `ramp_ms`"
    )]
    TwoWarmups,
    /// Turns in work that can't pause.
    #[error(
        "take turns: that takes a task that holds, that time ends, whose operations alone are timed, \
         and one group of clients that wait for nothing but answers; leave out `turn_ms`"
    )]
    Turns,
    /// The workload makes no sense.
    #[error("compile workload `{workload}`: failed to {source}")]
    Workload {
        /// Its name.
        workload: String,
        /// The statement and the problem.
        source: Box<StatementError>,
    },
}

impl JobError {
    /// Names the workload that did not compile.
    pub(crate) fn compiling(workload: &Workload) -> impl FnOnce(StatementError) -> Self {
        |source| Self::Workload {
            workload: workload.name.clone(),
            source: Box::new(source),
        }
    }
}
