//! Differences that an experiment requested.

use prony_model::IntentValue;

/// Two subjects that differ and were not asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Conflict {
    /// The intent that governs the variable was asked of neither, or none does.
    Unasked,
    /// The same was asked of both by intent.
    AlthoughAskedAlike,
}

/// The experiment's settings of a variable for one subject.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told<'a> {
    /// The values of the intents that govern the variable, in the order of the table.
    pub(crate) intents: Vec<Option<&'a IntentValue>>,
    /// `true` if no intent can be asked of it, because Prony did not start it.
    pub(crate) external: bool,
    /// The value of a raw option, in the form in which values are compared.
    pub(crate) raw: Option<String>,
}

/// The worst conflict among some subjects. `groups` has equal numbers for values that mean the
/// same. Different values of the intents explain a difference, but not one from an external
/// server, which nobody could ask; different raw options never do.
pub(crate) fn worst(
    groups: &[Option<usize>],
    told: &[Told<'_>],
    subjects: &[usize],
) -> Option<Conflict> {
    let mut worst = None;
    for (position, &one) in subjects.iter().enumerate() {
        for &other in &subjects[position + 1..] {
            let (one_told, other_told) = (&told[one], &told[other]);
            let explained = one_told.intents != other_told.intents
                && one_told.raw == other_told.raw
                && !one_told.external
                && !other_told.external;
            if groups[one] != groups[other] && !explained {
                let asked = one_told.intents.iter().any(Option::is_some);
                let alike = asked && one_told.intents == other_told.intents;
                let found = if alike {
                    Conflict::AlthoughAskedAlike
                } else {
                    Conflict::Unasked
                };
                worst = worst.max(Some(found));
            }
        }
    }
    worst
}
