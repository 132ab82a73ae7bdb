//! How work on a target can end badly, and what that means for the run.

use prony_store::StoreError;

/// What ended a trial or the making of an image.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server or the load failed: the trial is marked so and the run goes on.
    Failed(Failure),
    /// The user asked to stop: the trial is discarded and the run can be resumed.
    Interrupted,
    /// The result file can't be written: nothing more can be kept, so the run ends.
    Store(StoreError),
}

/// Why a trial failed, and what the server said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// One or two lines for people.
    pub(crate) reason: String,
    /// The end of the server's own log; empty where there is none.
    pub(crate) log_tail: String,
}

impl Fault {
    /// A failure without a log to show.
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(Failure {
            reason: reason.into(),
            log_tail: String::new(),
        })
    }

    /// A failure with the end of the server's log.
    pub(crate) fn failed_with_log(reason: impl Into<String>, log_tail: String) -> Self {
        Self::Failed(Failure {
            reason: reason.into(),
            log_tail,
        })
    }

    /// The same fault, with the step in which it happened.
    pub(crate) fn during(self, step: &str, clients: u32) -> Self {
        match self {
            Self::Failed(Failure { reason, log_tail }) => {
                let reason = format!("step {step} with {clients} clients: {reason}");
                Self::Failed(Failure { reason, log_tail })
            }
            other => other,
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
