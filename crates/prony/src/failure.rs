//! Expected failures, with what to do about them and the exit code that tells scripts.

use std::fmt;

use crate::signals::Signals;

/// The reason why a command ends without success. Anything else is a defect of Prony.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error: one or more complete lines, without a final newline.
    pub(crate) message: String,
    /// The remedy, where the message does not name it.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) code: ExitStatus,
}

/// Exit codes other than success. The help text of the command lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// The command line is wrong, or names a file or folder that can't be used.
    Usage,
    /// An experiment, workload or catalogue file is invalid.
    Invalid,
    /// A server could not be fetched, or none could be started.
    Server,
    /// Something that the host lacks.
    Host,
    /// The run is complete, with failed trials.
    TrialsFailed,
    /// A bad finding of `prony check`.
    Unfit,
    /// A defect of Prony.
    Defect,
    /// Stopped by this signal.
    Interrupted(u8),
}

impl ExitStatus {
    /// The number that the process ends with.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::Server => 4,
            Self::Host => 5,
            Self::TrialsFailed => 6,
            Self::Unfit => 7,
            Self::Defect => 70,
            Self::Interrupted(code) => code,
        }
    }
}

impl Failure {
    /// A failure whose message begins with "failed to".
    pub(crate) fn to(code: ExitStatus, error: &impl fmt::Display) -> Self {
        Self::new(code, format!("failed to {error}"))
    }

    /// A failure of the host.
    pub(crate) fn host(error: impl fmt::Display) -> Self {
        Self::to(ExitStatus::Host, &error)
    }

    /// A defect of Prony.
    pub(crate) fn defect(error: impl fmt::Display) -> Self {
        Self::to(ExitStatus::Defect, &error)
    }

    /// An invalid definition.
    pub(crate) fn invalid(error: impl fmt::Display) -> Self {
        Self::to(ExitStatus::Invalid, &error)
    }

    /// A wrong command line, or a file or folder that can't be used.
    pub(crate) fn usage(error: impl fmt::Display) -> Self {
        Self::to(ExitStatus::Usage, &error)
    }

    /// The end that the user wished for.
    pub(crate) fn interrupted(signals: &Signals, message: &str) -> Self {
        Self::new(ExitStatus::Interrupted(signals.exit_code()), message)
    }

    /// A failure with a message of its own.
    pub(crate) fn new(code: ExitStatus, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            code,
        }
    }

    /// The same with the end of a server's log, if there is one.
    pub(crate) fn with_log(self, tail: Option<&str>) -> Self {
        match tail {
            Some(tail) if !tail.is_empty() => self.with_hint(format!("its log ends:\n{tail}")),
            _ => self,
        }
    }

    /// The same with advice.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_follow_after_an_empty_line() {
        let failure = Failure::to(ExitStatus::Usage, &"read x.toml: no such file")
            .with_hint("name an experiment file");
        let text = "error: failed to read x.toml: no such file\n\nhint: name an experiment file";
        assert_eq!(failure.to_string(), text);
        assert_eq!(failure.code.code(), 2);
    }

    #[test]
    fn an_empty_log_is_not_quoted() {
        let failure = || Failure::to(ExitStatus::Server, &"start it");
        assert_eq!(failure().with_log(None).hint, None);
        assert_eq!(failure().with_log(Some("")).hint, None);
        let quoted = failure().with_log(Some("no room"));
        assert_eq!(quoted.hint.as_deref(), Some("its log ends:\nno room"));
    }
}
