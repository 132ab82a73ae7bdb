//! One variable that is not the same everywhere.

use crate::subject::canonical;

/// A variable whose value differs between targets for another reason than that they were asked to
/// differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The variable by the newest name that one of the servers uses; for a flag of a list, such as
    /// `optimizer_switch.mrr`, both; where numbers are multiplied, `a * b`.
    pub variable: String,
    /// The value in each subject, as its server writes it; `None` where the variable does not
    /// exist.
    pub values: Vec<Option<String>>,
    /// Value given to each subject's server; `None` if it was given none.
    pub asked: Vec<Option<String>>,
    /// Origin of the difference.
    pub kind: DifferenceKind,
    /// Reason why the variable matters for speed, if it is known to, for the subjects that differ.
    pub matters: Option<String>,
    /// The intent that sets the variable.
    pub governed_by: Option<String>,
    /// `true` if the experiment allows it.
    pub allowed: bool,
    /// `true` if no more than the settings that versions ship differ, which stops no run.
    pub shipped: bool,
    /// The value that servers without the variable behave as if they had.
    pub absent: Option<String>,
    /// By subject: equal numbers for values that mean the same; `None` where there is neither a
    /// value nor one that its absence stands for.
    pub(crate) groups: Vec<Option<usize>>,
    /// By subject: `true` if its family is the variable's. To the others it says nothing.
    pub(crate) of: Vec<bool>,
    /// `true` if it is only to be shown, however much it matters.
    pub(crate) warns_only: bool,
}

/// Origin of a difference. In the order in which differences are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// A raw option was given to some targets and not to all alike.
    RawOption,
    /// A server did not take the value that it was given: it lowered, raised or rounded it.
    Adjusted,
    /// Nobody asked for it: the versions' own defaults differ.
    DefaultChanged,
    /// The variable exists in some of the servers only, and is equal in these.
    OnlyInSome,
}

impl DifferenceKind {
    /// The kind as a word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RawOption => "raw-option",
            Self::Adjusted => "adjusted",
            Self::DefaultChanged => "default-changed",
            Self::OnlyInSome => "only-in-some",
        }
    }

    /// The kind in words, as in "… because of a raw option".
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::RawOption => "raw option",
            Self::Adjusted => "value adjusted by the server",
            Self::DefaultChanged => "default changed",
            Self::OnlyInSome => "exists only in some",
        }
    }
}

impl Difference {
    /// Returns `true` if a run must not go on with it: the variable is known to matter, its values
    /// differ, and the experiment does not allow that.
    pub fn stops(&self) -> bool {
        self.matters.is_some()
            && !self.allowed
            && !self.warns_only
            && self.kind != DifferenceKind::OnlyInSome
    }

    /// Returns `true` if a server could have the variable and does not.
    pub fn is_missing_somewhere(&self) -> bool {
        let mut values = self.values.iter().zip(&self.of);
        values.any(|(value, of)| *of && value.is_none())
    }

    /// Its place among others.
    pub(crate) fn rank(&self) -> (bool, DifferenceKind, &str) {
        (self.matters.is_none(), self.kind, &self.variable)
    }

    /// The distinct values, each with the indices of its subjects; both in the order of the
    /// subjects. Of values that mean the same, the first is given. Subjects of families without such a
    /// variable are left out.
    pub fn by_value(&self) -> Vec<(Option<&str>, Vec<usize>)> {
        let mut found: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
        let values = self.values.iter().enumerate();
        for (subject, value) in values.filter(|(subject, _)| self.of[*subject]) {
            let alike = |other: usize| {
                self.groups[other] == self.groups[subject]
                    && self.values[other].is_some() == value.is_some()
            };
            match found.iter_mut().find(|(_, subjects)| alike(subjects[0])) {
                Some((_, subjects)) => subjects.push(subject),
                None => found.push((value.as_deref(), vec![subject])),
            }
        }
        found
    }
}

/// Returns `true` if a list of allowed variables names this one: by any of its names, or by the
/// list that it is a flag of.
pub(crate) fn is_allowed<'n>(
    allow: &[String],
    variable: &'n str,
    names: impl Iterator<Item = &'n str>,
) -> bool {
    let (list, _) = variable.split_once('.').unwrap_or((variable, ""));
    let names: Vec<&str> = names.chain([variable, list]).collect();
    allow
        .iter()
        .any(|allowed| names.contains(&canonical(allowed).as_str()))
}
