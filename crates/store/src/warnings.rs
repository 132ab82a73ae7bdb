//! Conditions that must be shown beside the figures.

use crate::database::{insert_row, read_row, rows};
use crate::{Store, StoreError, TrialId};

/// The part of a run that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The whole run.
    Run,
    /// A whole trial.
    Trial(TrialId),
    /// A step of a trial, by its index in the plan.
    Step(TrialId, usize),
    /// A group of clients of a step of a trial, by its index in the step.
    Group(TrialId, usize, usize),
}

/// One warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningRow {
    /// The part of the run that it is about.
    pub subject: Subject,
    /// A short stable word for its kind.
    pub code: String,
    /// One sentence for people.
    pub text: String,
}

impl Subject {
    /// The trial; `None` for the whole run.
    pub const fn trial(self) -> Option<TrialId> {
        match self {
            Self::Run => None,
            Self::Trial(trial) | Self::Step(trial, _) | Self::Group(trial, _, _) => Some(trial),
        }
    }

    /// Index of the step in the plan; `None` for a whole trial and the whole run.
    pub const fn step(self) -> Option<usize> {
        match self {
            Self::Run | Self::Trial(_) => None,
            Self::Step(_, step) | Self::Group(_, step, _) => Some(step),
        }
    }

    /// Index of the group of clients in the step; `None` for all groups.
    pub const fn group(self) -> Option<usize> {
        match self {
            Self::Run | Self::Trial(_) | Self::Step(..) => None,
            Self::Group(_, _, group) => Some(group),
        }
    }

    /// The subject that has these parts.
    fn of(trial: Option<TrialId>, step: Option<usize>, group: Option<usize>) -> Self {
        match (trial, step, group) {
            (None, _, _) => Self::Run,
            (Some(trial), None, _) => Self::Trial(trial),
            (Some(trial), Some(step), None) => Self::Step(trial, step),
            (Some(trial), Some(step), Some(group)) => Self::Group(trial, step, group),
        }
    }
}

impl Store {
    /// Records a condition that must be shown beside the figures. Also for trials that have ended.
    ///
    /// # Errors
    /// When the trial, the step or the group does not exist.
    pub fn record_warning(
        &mut self,
        subject: Subject,
        code: &str,
        text: &str,
    ) -> Result<(), StoreError> {
        self.write("record a warning", |transaction, _| {
            insert_row! { transaction, "record a warning", warning {
                trial_id: subject.trial(), step_id: subject.step(),
                group_position: subject.group(), code: code, text: text,
            } }
        })
    }

    /// Every warning that does not belong to a discarded or excluded trial, in the order of their
    /// recording.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn warnings(&self) -> Result<Vec<WarningRow>, StoreError> {
        rows(
            &self.connection,
            "read the warnings",
            "SELECT trial_id, step_id, group_position, code, text
             FROM warning LEFT JOIN trial ON trial.id = trial_id
             WHERE state IS NULL OR state NOT IN ('discarded', 'excluded') ORDER BY warning.id",
            [],
            |row| {
                let subject = Subject::of(row.get(0)?, row.get(1)?, row.get(2)?);
                read_row! { row, 3 => WarningRow { code, text } with { subject: subject } }
            },
        )
    }
}
