//! Message for targets that must not be compared.

use std::collections::BTreeSet;
use std::fmt;

use crate::difference::{Difference, DifferenceKind};
use crate::subject::Subject;

/// Names of targets that are listed for one value.
const NAMES_MAX: usize = 4;

/// The differences because of which a run must stop. Fits after "failed to".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnequalTargets {
    /// Targets, with versions where the names do not tell them.
    labels: Vec<String>,
    /// Those that stop, at least one.
    differences: Vec<Difference>,
}

impl UnequalTargets {
    /// Differences that stop a run of these subjects, if any. `differences` are those of
    /// [`crate::VariableTable::compare`] for the same subjects.
    pub fn of(subjects: &[Subject<'_>], differences: &[Difference]) -> Option<Self> {
        let stopping = differences.iter().filter(|difference| difference.stops());
        let differences: Vec<Difference> = stopping.cloned().collect();
        (!differences.is_empty()).then(|| Self {
            labels: subjects.iter().map(Subject::label).collect(),
            differences,
        })
    }

    /// The differences that stop the run.
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// `200 in mysql-8.0.31 and 0 in the other 9`, the rarest value first.
    fn values(&self, difference: &Difference) -> String {
        let mut by_value = difference.by_value();
        by_value.sort_by_key(|(_, subjects)| subjects.len());
        let count = by_value.len();
        let parts: Vec<String> = by_value
            .iter()
            .enumerate()
            .map(|(index, (value, subjects))| {
                let others = index + 1 == count && count > 1 && subjects.len() > NAMES_MAX;
                let place = if others {
                    format!("the other {} targets", subjects.len())
                } else {
                    self.names(subjects)
                };
                format!("{} in {place}", value_text(*value, difference))
            })
            .collect();
        match parts.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => parts.join(""),
        }
    }

    fn names(&self, subjects: &[usize]) -> String {
        let labels = subjects
            .iter()
            .map(|&subject| self.labels[subject].as_str());
        let shown = labels.take(NAMES_MAX).collect::<Vec<_>>().join(", ");
        match subjects.len().saturating_sub(NAMES_MAX) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

impl fmt::Display for UnequalTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "compare the targets: they differ in variables that are known to matter for \
                     speed",
        )?;
        for difference in &self.differences {
            let variable = &difference.variable;
            write!(f, "\n  `{variable}` is {}", self.values(difference))?;
            if let Some(why) = &difference.matters {
                write!(f, ": {why}")?;
            }
            write!(f, ";\n    {}", remedy(difference))?;
        }
        Ok(())
    }
}

fn value_text(value: Option<&str>, difference: &Difference) -> String {
    match (value, &difference.absent) {
        (Some(""), _) => "empty".into(),
        (Some(value), _) => value.to_owned(),
        (None, Some(absent)) => format!("missing (which means {absent})"),
        (None, None) => "missing".into(),
    }
}

fn remedy(difference: &Difference) -> String {
    let cause = match (difference.kind, &difference.governed_by) {
        (DifferenceKind::RawOption, _) => {
            "give the raw option to all targets or to none".to_owned()
        }
        (DifferenceKind::Adjusted, _) => {
            let asked = difference.asked.iter().flatten().map(String::as_str);
            let asked: Vec<&str> = asked.collect::<BTreeSet<_>>().into_iter().collect();
            let asked = asked.join(", ");
            format!("the servers were told {asked}: ask for what all of them take")
        }
        (_, Some(intent)) => format!(
            "request one value with the intent `{intent}` (for an external server, set it there)"
        ),
        // What Prony finds out about a program is no option of it.
        _ if difference.variable.starts_with("prony.") => "choose builds that are alike".to_owned(),
        _ => "set it to one value by a raw option in `defaults`".to_owned(),
    };
    // A product is allowed by its first factor.
    let variable = difference.variable.as_str();
    let (name, _) = variable.split_once(" * ").unwrap_or((variable, ""));
    format!("{cause}, or declare allow = [\"{name}\"]")
}
