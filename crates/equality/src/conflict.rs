//! Differences that an experiment requested.

use prony_model::{Baseline, IntentValue};

/// Two subjects that differ and were not asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Conflict {
    /// Nothing was asked of one at least, and that one has the settings that its version ships.
    Shipped,
    /// The intent that governs the variable was asked of neither, or none does.
    Unasked,
    /// The same was asked of both by intent.
    AlthoughAskedAlike,
}

/// The experiment's settings of a variable for one subject.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// The values of the intents that govern the variable, in the order of the table.
    pub(crate) intents: Vec<Option<&'a IntentValue>>,
    /// Values of settings that are not asked for.
    pub(crate) baseline: Baseline,
    /// `true` if no intent can be asked of it, because Prony did not start it.
    pub(crate) external: bool,
    /// The value of a raw option, in the form in which values are compared.
    pub(crate) raw: Option<String>,
}

impl Request<'_> {
    /// Returns `true` if the variable has the value that the version ships.
    fn is_as_shipped(&self) -> bool {
        self.baseline == Baseline::Shipped && self.intents.iter().all(Option::is_none)
    }
}

/// The worst conflict among some subjects. `groups` has equal numbers for values that mean the
/// same. Different values of the intents explain a difference, but not one from an external
/// server, which no experiment configures; different raw options never do.
pub(crate) fn worst(
    groups: &[Option<usize>],
    requests: &[Request<'_>],
    subjects: &[usize],
) -> Option<Conflict> {
    let mut worst = None;
    for (position, &one) in subjects.iter().enumerate() {
        for &other in &subjects[position + 1..] {
            let (left, right) = (&requests[one], &requests[other]);
            let explained = left.intents != right.intents
                && left.raw == right.raw
                && !left.external
                && !right.external;
            if groups[one] != groups[other] && !explained {
                let asked = left.intents.iter().any(Option::is_some);
                let shipped = [left, right].iter().any(|request| request.is_as_shipped());
                let conflict = if asked && left.intents == right.intents {
                    Conflict::AlthoughAskedAlike
                } else if shipped && left.raw == right.raw {
                    Conflict::Shipped
                } else {
                    Conflict::Unasked
                };
                worst = worst.max(Some(conflict));
            }
        }
    }
    worst
}
