//! Settings that can't be the same in all families.

use prony_equality::unlike_intents;
use prony_model::{IntentFacts, Plan, Target};

/// What is not alike between targets of several families, below a heading; empty where all is. Settings that
/// the experiment asks for are named if a family has nothing of the kind.
pub(super) fn lines(plan: &Plan, intents: &[IntentFacts]) -> Vec<String> {
    let targets: Vec<&Target> = plan.targets.iter().collect();
    let unlike = unlike_intents(&targets, intents).into_iter();
    let unlike = unlike.map(|intent| format!("  {intent}"));
    let ours = targets.iter().filter(|target| target.external.is_none());
    let none = ours.filter_map(|target| {
        let lacked = lacked(target, &targets, intents);
        let none = format!("  {} has no {}", target.name, lacked.join(", "));
        (!lacked.is_empty()).then_some(none)
    });
    let mut lines: Vec<String> = unlike.chain(none).collect();
    if !lines.is_empty() {
        lines.insert(0, "\nNot alike between families:".to_owned());
    }
    lines
}

/// The intents that another target is asked for, and that the family of this one has nothing of.
fn lacked<'i>(target: &Target, targets: &[&Target], intents: &'i [IntentFacts]) -> Vec<&'i str> {
    let is_asked = |facts: &&IntentFacts| {
        let mut targets = targets.iter();
        targets.any(|target| target.config.intents.contains_key(&facts.name))
    };
    let is_lacked = |facts: &&IntentFacts| !facts.baselines.contains_key(&target.build.family);
    let lacked = intents.iter().filter(is_asked).filter(is_lacked);
    lacked.map(|facts| facts.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use prony_model::{Family, IntentKind, IntentValue, Version};
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn targets_of_two_families() {
        let facts = |name: &str, baselines: &[(Family, u64)]| IntentFacts {
            name: name.to_owned(),
            kind: IntentKind::Number,
            choices: Vec::new(),
            description: String::new(),
            baselines: baselines
                .iter()
                .map(|&(family, value)| (family, Some(IntentValue::Number(value))))
                .collect(),
            summary: Vec::new(),
        };
        let intents = [
            facts("isolation", &[(Family::Mysql, 1), (Family::Postgresql, 2)]),
            facts("query_cache", &[(Family::Mysql, 0)]),
            facts("change_buffering", &[(Family::Mysql, 0)]),
        ];
        let target = |name| testkit::target(name, Version::new(8, 0, 31));
        let mut targets = [target("a"), target("b")];
        let asked = ("query_cache".to_owned(), IntentValue::Number(1));
        targets[0].config.intents.extend([asked]);
        let said = |targets: &[Target]| {
            let plan = testkit::plan("x", targets.to_vec(), vec![testkit::step("s", 1)], 1);
            lines(&plan, &intents).join("\n")
        };
        assert_eq!(said(&targets), "");
        targets[1].build.family = Family::Postgresql;
        assert_eq!(
            said(&targets),
            "\nNot alike between families:\n  isolation is 1 in a and 2 in b\n  b has no query_cache"
        );
    }
}
