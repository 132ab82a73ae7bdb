//! States of a trial.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a trial stands. Only `Done` trials enter reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialState {
    /// Begun and not ended.
    Running,
    /// Every step ended; the only state whose figures count.
    Done,
    /// Ended by a fault of the server or of the load; the reason is kept. Not repeated.
    Failed,
    /// Cut short from outside (interrupt, crash of Prony); the reason is kept. `resume` repeats it.
    Discarded,
}

impl TrialState {
    /// The word in the result file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Discarded => "discarded",
        }
    }
}

impl FromStr for TrialState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Running, Self::Done, Self::Failed, Self::Discarded]
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| format!("unknown trial state `{text}`"))
    }
}

impl fmt::Display for TrialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
