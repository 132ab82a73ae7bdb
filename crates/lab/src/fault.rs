//! The ways in which work ends early, and their meaning for the run.

use std::thread;
use std::time::{Duration, Instant};

use prony_model::StopFlag;
use prony_store::StoreError;

use crate::error::LabError;

/// Time after a failure in which the wish to stop may still arrive. A signal to every process, as
/// service managers and batch systems send it, ends children before this process has handled it.
const STOP_DELAY: Duration = Duration::from_millis(200);
/// Time between two looks at the wish to stop.
const STOP_POLL: Duration = Duration::from_millis(10);

/// The reason why all work ends early.
#[derive(Debug)]
pub(crate) enum Stop<E = LabError> {
    /// The user asked to stop.
    Interrupted,
    /// Nothing more can be done, or its result can't be kept.
    Error(E),
}

/// The reason why a trial, or the making of an image, ends early.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server or the load failed: a result of this target, and the run goes on.
    Failed(Failure),
    /// The run ends.
    Stop(Stop),
}

/// The failure of a trial, and the words of the server about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// One or two lines for people.
    pub(crate) reason: String,
    /// The end of the server's own log; empty where there is none.
    pub(crate) log_tail: String,
}

impl Failure {
    /// The reason, followed by the log.
    pub(crate) fn with_log(self) -> String {
        match self.log_tail.as_str() {
            "" => self.reason,
            log => format!("{}\nits log ends:\n{log}", self.reason),
        }
    }
}

impl<E> Stop<E> {
    /// The meaning of an error after which nothing goes on. A wish to stop wins over it.
    pub(crate) fn after(error: E, stop: &StopFlag) -> Self {
        if is_stopping(stop) {
            Self::Interrupted
        } else {
            Self::Error(error)
        }
    }
}

impl Fault {
    /// A failure without a log to show.
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self::failed_with_log(reason, String::new())
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
            ended @ Self::Stop(_) => ended,
        }
    }
}

/// Separates the failure of one target from a reason to end the run. A wish to stop wins over a
/// failure, which may be a consequence of the same signal.
pub(crate) fn contain<T>(
    stop: &StopFlag,
    result: Result<T, Fault>,
) -> Result<Result<T, Failure>, Stop> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Fault::Stop(stop)) => Err(stop),
        Err(Fault::Failed(_)) if is_stopping(stop) => Err(Stop::Interrupted),
        Err(Fault::Failed(failure)) => Ok(Err(failure)),
    }
}

/// Turns an interruption into the absence of a result, for callers outside of this crate.
pub(crate) fn unless_interrupted<T, E>(result: Result<T, Stop<E>>) -> Result<Option<T>, E> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Interrupted) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Waits a moment for the wish to stop.
fn is_stopping(stop: &StopFlag) -> bool {
    let begin = Instant::now();
    while !stop.requested() {
        if begin.elapsed() >= STOP_DELAY {
            return false;
        }
        thread::sleep(STOP_POLL);
    }
    true
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Self {
        Self::Error(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Stop(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Result<(), Fault> {
        Err(Fault::failed("the load generator was killed by signal 15"))
    }

    #[test]
    fn a_failure_stays_with_its_target() {
        let contained = contain(&StopFlag::default(), failed()).unwrap();
        assert!(contained.unwrap_err().reason.ends_with("signal 15"));
    }

    #[test]
    fn a_wish_to_stop_that_arrives_after_the_failure_wins() {
        let stop = StopFlag::default();
        let late = stop.clone();
        let signal = thread::spawn(move || {
            thread::sleep(STOP_DELAY / 4);
            late.request();
        });
        assert!(matches!(contain(&stop, failed()), Err(Stop::Interrupted)));
        signal.join().unwrap();
        assert!(matches!(Stop::after("no disk", &stop), Stop::Interrupted));
    }

    #[test]
    fn a_wish_to_stop_does_not_undo_what_ended_well() {
        let stop = StopFlag::default();
        stop.request();
        assert_eq!(contain(&stop, Ok(7)).unwrap(), Ok(7));
    }

    #[test]
    fn an_interruption_is_no_error_outside() {
        let interrupted: Result<(), Stop<&str>> = Err(Stop::Interrupted);
        assert_eq!(unless_interrupted(interrupted), Ok(None));
        assert_eq!(
            unless_interrupted::<(), _>(Err("no disk".into())),
            Err("no disk")
        );
    }
}
