//! Settings that all targets share.

use std::collections::BTreeSet;

use prony_model::{Aspect, Baseline, Family, IntentFacts, Plan, Target};

/// The settings that all targets whose servers Prony starts have in common, in at most three lines
/// under a heading: the use of the targets, the settings that the experiment asks for, and the
/// most important ones of the common baseline. Empty if Prony starts none.
pub(super) fn lines(plan: &Plan, intents: &[IntentFacts]) -> Vec<String> {
    let ours = plan
        .targets
        .iter()
        .filter(|target| target.external.is_none());
    let ours: Vec<&Target> = ours.collect();
    let Some(first) = ours.first() else {
        return Vec::new();
    };
    let varying = Aspect::varying(ours.iter().copied());
    let is_shared = |aspect: &Aspect| !varying.contains(aspect);
    let value = |aspect: Aspect| format!("{aspect} {}", first.aspect(&aspect));
    let manner = [
        Aspect::Engine,
        Aspect::Protocol,
        Aspect::Transport,
        Aspect::Preload,
        Aspect::Baseline,
    ];
    let is_used = |aspect: &Aspect| *aspect != Aspect::Preload || !first.preload.is_empty();
    let manner = manner.into_iter().filter(|aspect| is_used(aspect));
    let asked = first.config.intents.keys().cloned().map(Aspect::Intent);
    let asked = asked.chain(first.config.raw.keys().cloned().map(Aspect::Option));
    let left = if is_shared(&Aspect::Baseline) {
        left_to_baseline(&ours, first.config.baseline, intents)
    } else {
        Vec::new()
    };
    let unasked = match first.config.baseline {
        Baseline::Common => "at the baseline: ",
        Baseline::Shipped => "as shipped: ",
    };
    let lines = [
        ("", manner.filter(is_shared).map(value).collect()),
        ("asked for: ", asked.filter(is_shared).map(value).collect()),
        (unasked, left),
    ];
    let lines: Vec<String> = lines
        .into_iter()
        .filter(|(_, settings): &(_, Vec<String>)| !settings.is_empty())
        .map(|(what, settings)| format!("  {what}{}", settings.join(", ")))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    let heading = if ours.len() == plan.targets.len() {
        "\nShared by all targets:"
    } else {
        "\nShared by all targets that Prony starts:"
    };
    std::iter::once(heading.to_owned()).chain(lines).collect()
}

/// The intents that no target asks for and that are important for their engines.
fn left_to_baseline(ours: &[&Target], baseline: Baseline, intents: &[IntentFacts]) -> Vec<String> {
    let is_important = |facts: &&IntentFacts| {
        ours.iter()
            .any(|target| facts.summary.contains(&target.engine))
    };
    let is_left = |facts: &&IntentFacts| {
        let mut configs = ours.iter().map(|target| &target.config);
        configs.all(|config| !config.intents.contains_key(&facts.name))
    };
    let left = intents.iter().filter(is_important).filter(is_left);
    let text = |facts: &IntentFacts| match baseline {
        Baseline::Shipped => facts.name.clone(),
        Baseline::Common => format!("{}{}", facts.name, of_families(ours, facts)),
    };
    left.map(text).collect()
}

/// The value of an intent in the common baseline, after a space; if the families of the targets have several,
/// or some have no such thing, each value with its families.
fn of_families(ours: &[&Target], facts: &IntentFacts) -> String {
    let families: BTreeSet<Family> = ours.iter().map(|target| target.build.family).collect();
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for family in &families {
        let Some(Some(value)) = facts.baselines.get(family) else {
            continue;
        };
        let value = value.to_string();
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, families)) => families.push(family.name()),
            None => values.push((value, vec![family.name()])),
        }
    }
    match values.as_slice() {
        [] => String::new(),
        [(value, of)] if of.len() == families.len() => format!(" {value}"),
        several => {
            let said = |(value, of): &(String, Vec<&str>)| format!("{value} ({})", of.join(", "));
            let several: Vec<String> = several.iter().map(said).collect();
            format!(" {}", several.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use prony_model::{Engine, IntentKind, IntentValue, Version};
    use prony_testkit as testkit;

    use super::*;

    fn facts(name: &str, baseline: &IntentValue, summary: &[Engine]) -> IntentFacts {
        IntentFacts {
            name: name.to_owned(),
            kind: IntentKind::Text,
            choices: Vec::new(),
            description: String::new(),
            baselines: Family::ALL
                .map(|family| (family, Some(baseline.clone())))
                .into(),
            summary: summary.to_vec(),
        }
    }

    fn shown(change: impl Fn(&mut [Target])) -> String {
        let intents = [
            facts("binlog", &IntentValue::Flag(false), &Engine::ALL),
            facts(
                "key_buffer",
                &IntentValue::Bytes(64 << 20),
                &[Engine::Myisam],
            ),
            facts(
                "buffer_pool",
                &IntentValue::Bytes(128 << 20),
                &[Engine::Innodb],
            ),
        ];
        let target = |name| testkit::target(name, Version::new(8, 0, 31));
        let mut targets = [target("a"), target("b")];
        change(&mut targets);
        let plan = testkit::plan("x", targets.to_vec(), vec![testkit::step("s", 1)], 1);
        lines(&plan, &intents).join("\n")
    }

    #[test]
    fn what_is_shared_is_shown_once() {
        let ask = |targets: &mut [Target], name: &str, value: &[u64]| {
            for (target, bytes) in targets.iter_mut().zip(value) {
                let value = IntentValue::Bytes(*bytes);
                target.config.intents.insert(name.to_owned(), value);
            }
        };
        assert_eq!(
            shown(|targets| ask(targets, "buffer_pool", &[1 << 30, 1 << 30])),
            "\nShared by all targets:\n  engine innodb, protocol prepared, transport socket, \
             baseline common\n  asked for: buffer_pool 1G\n  at the baseline: binlog off"
        );
        let differing = shown(|targets| {
            targets[0].engine = Engine::Myisam;
            ask(targets, "buffer_pool", &[1 << 30, 2 << 30]);
        });
        assert_eq!(
            differing,
            "\nShared by all targets:\n  protocol prepared, transport socket, baseline common\n  \
             at the baseline: binlog off, key_buffer 64M"
        );
    }

    #[test]
    fn baselines_of_families_stand_side_by_side() {
        let mut isolation = facts("isolation", &IntentValue::Flag(true), &[Engine::Innodb]);
        let own = (Family::Postgresql, Some(IntentValue::Flag(false)));
        isolation.baselines.extend([own]);
        let target = |name| testkit::target(name, Version::new(8, 0, 31));
        let mut targets = [target("a"), target("b")];
        let left = |targets: &[Target], facts: &IntentFacts| {
            let targets: Vec<&Target> = targets.iter().collect();
            left_to_baseline(&targets, Baseline::Common, std::slice::from_ref(facts))
        };
        assert_eq!(left(&targets, &isolation), ["isolation on"]);
        targets[1].build.family = Family::Postgresql;
        assert_eq!(
            left(&targets, &isolation),
            ["isolation on (mysql) and off (postgresql)"]
        );
        isolation.baselines.remove(&Family::Postgresql);
        targets.reverse();
        assert_eq!(left(&targets, &isolation), ["isolation on (mysql)"]);
    }

    #[test]
    fn shipped_values_are_not_known() {
        let shipped = shown(|targets| {
            for target in targets {
                target.config.baseline = Baseline::Shipped;
            }
        });
        assert!(shipped.contains("baseline shipped\n"), "{shipped}");
        assert!(shipped.ends_with("as shipped: binlog, buffer_pool"));
        let mixed = shown(|targets| targets[0].config.baseline = Baseline::Shipped);
        assert!(!mixed.contains("baseline"), "{mixed}");
    }
}
