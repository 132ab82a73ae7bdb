//! Which differences somebody asked for.

use prony_model::IntentValue;

/// Two subjects that differ and were not asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Conflict {
    /// The intent that governs the variable was asked of neither, or none does.
    Unasked,
    /// The same was asked of both by intent.
    AlthoughAskedAlike,
}

/// What the experiment said to one subject about a variable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told<'a> {
    /// The value of the intent that governs the variable.
    pub(crate) intent: Option<&'a IntentValue>,
    /// The value of a raw option, in the form in which values are compared.
    pub(crate) raw: Option<String>,
}

/// The worst conflict among some subjects. `groups` has equal numbers for values that mean the
/// same. Different values of the intent explain a difference; different raw options never do.
pub(crate) fn worst(
    groups: &[Option<usize>],
    told: &[Told<'_>],
    subjects: &[usize],
) -> Option<Conflict> {
    let mut worst = None;
    for (position, &one) in subjects.iter().enumerate() {
        for &other in &subjects[position + 1..] {
            let explained =
                told[one].intent != told[other].intent && told[one].raw == told[other].raw;
            if groups[one] != groups[other] && !explained {
                let alike = told[one].intent.is_some() && told[one].intent == told[other].intent;
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
