//! Intents of targets of different families, whose variables can't be compared.

use std::collections::BTreeMap;
use std::fmt;

use prony_model::{Baseline, Family, IntentFacts, Target};

/// An intent whose values differ between families, although the experiment does not ask for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlikeIntent {
    /// Its name.
    pub intent: String,
    /// The value of each target, in the order of the targets: as asked for, or else the baseline's. `None` for
    /// a target whose family has no such thing, and for one that has what its version ships.
    pub values: Vec<Option<String>>,
    /// The names of the targets.
    names: Vec<String>,
}

/// The intents whose values differ between targets of PostgreSQL and others, and are known. Different values
/// that the experiment asks for are no difference, and a server that Prony does not start has none.
pub fn unlike_intents(targets: &[&Target], intents: &[IntentFacts]) -> Vec<UnlikeIntent> {
    let unlike = intents.iter().filter_map(|facts| {
        let values: Vec<Option<String>> = targets.iter().map(|one| value(one, facts)).collect();
        let is_unlike = |(one, other): (usize, usize)| {
            let [left, right] = [one, other].map(|index| targets[index]);
            let of = |target: &Target| target.build.family == Family::Postgresql;
            let asked = |target: &Target| target.config.intents.get(&facts.name).cloned();
            of(left) != of(right)
                && asked(left) == asked(right)
                && values[one].is_some()
                && values[other].is_some()
                && values[one] != values[other]
        };
        let firsts = 0..targets.len();
        let mut pairs = firsts.flat_map(|one| (0..one).map(move |other| (other, one)));
        pairs.any(is_unlike).then(|| UnlikeIntent {
            intent: facts.name.clone(),
            values,
            names: targets.iter().map(|target| target.name.clone()).collect(),
        })
    });
    unlike.collect()
}

fn value(target: &Target, facts: &IntentFacts) -> Option<String> {
    let baseline = facts.baselines.get(&target.build.family)?;
    if target.external.is_some() {
        return None;
    }
    let asked = target.config.intents.get(&facts.name);
    let common = target.config.baseline == Baseline::Common;
    let value = asked.or(baseline.as_ref().filter(|_| common));
    value.map(ToString::to_string)
}

/// `isolation is repeatable-read in a, b and read-committed in c`.
impl fmt::Display for UnlikeIntent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (value, name) in self.values.iter().zip(&self.names) {
            if let Some(value) = value {
                by_value.entry(value).or_default().push(name);
            }
        }
        let parts = by_value.iter();
        let parts = parts.map(|(value, names)| format!("{value} in {}", names.join(", ")));
        let parts: Vec<String> = parts.collect();
        write!(f, "{} is {}", self.intent, parts.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use prony_model::{Config, IntentKind, IntentValue, Version};
    use prony_testkit as testkit;

    use super::*;

    fn facts(name: &str, mysql: Option<u64>, postgresql: Option<u64>) -> IntentFacts {
        let of = |family, value: Option<u64>| (family, value.map(IntentValue::Number));
        IntentFacts {
            name: name.to_owned(),
            kind: IntentKind::Number,
            choices: Vec::new(),
            description: String::new(),
            baselines: BTreeMap::from([
                of(Family::Mysql, mysql),
                of(Family::Postgresql, postgresql),
            ]),
            summary: Vec::new(),
        }
    }

    fn target(name: &str, family: Family) -> Target {
        let mut target = testkit::target(name, Version::new(18, 6, 0));
        target.build.family = family;
        target.config = Config::default();
        target
    }

    fn unlike(targets: &[Target]) -> Vec<String> {
        let targets: Vec<&Target> = targets.iter().collect();
        let mut of_mysql = facts("row_format", Some(1), None);
        of_mysql.baselines.remove(&Family::Postgresql);
        let intents = [
            facts("same", Some(1), Some(1)),
            facts("isolation", Some(1), Some(2)),
            facts("left_alone", Some(1), None),
            of_mysql,
        ];
        let unlike = unlike_intents(&targets, &intents);
        unlike.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn baselines_of_families_differ_in_what_is_not_asked_for() {
        let mut targets = [
            target("a", Family::Mysql),
            target("b", Family::Mysql),
            target("c", Family::Postgresql),
        ];
        assert_eq!(unlike(&targets), ["isolation is 1 in a, b and 2 in c"]);
        assert_eq!(unlike(&targets[..2]), [""; 0]);
        for target in &mut targets {
            let asked = ("isolation".to_owned(), IntentValue::Number(3));
            target.config.intents.extend([asked]);
        }
        assert_eq!(unlike(&targets), [""; 0]);
        targets[2].config.intents.clear();
        assert_eq!(unlike(&targets), [""; 0], "asked to differ");
    }

    #[test]
    fn what_a_version_ships_is_not_known() {
        let mut targets = [target("a", Family::Mysql), target("c", Family::Postgresql)];
        targets[1].config.baseline = Baseline::Shipped;
        assert_eq!(unlike(&targets), [""; 0]);
    }
}
