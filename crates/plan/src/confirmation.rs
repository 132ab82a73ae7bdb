//! The plan of a run that tests the verdicts of another one on data of its own.

use std::collections::BTreeSet;

use prony_model::{Bases, Plan, PlannedTrial, Section, TrialKind, needed_steps};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::more_trials;

/// A cell of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlaggedCell {
    /// Index of the step.
    pub step: usize,
    /// Index of the target, which is neither the base nor its twin.
    pub target: usize,
}

/// The plan that measures the flagged cells of `plan` again, in as many blocks, with an order and
/// drawn values of its own. It has the first base, its twin, and the flagged targets with their bases, and the flagged
/// steps. Steps that these need before them ([`needed_steps`]) run as well, and are not judged:
/// they only bring the server into a state. `None` if nothing is flagged.
///
/// The first run chose its flags by its own data, and large differences are flagged more easily
/// than small ones, so that flagged ratios are too large on average. Data of their own have no such
/// bias.
pub fn confirmation(plan: &Plan, run_id: &str, flagged: &[FlaggedCell]) -> Option<Plan> {
    let flagged_steps: BTreeSet<usize> = flagged.iter().map(|cell| cell.step).collect();
    let flagged_targets: BTreeSet<usize> = flagged.iter().map(|cell| cell.target).collect();
    let steps = needed_steps(&plan.steps, |step| flagged_steps.contains(&step));
    if steps.is_empty() {
        return None;
    }
    let bases: BTreeSet<usize> = flagged_targets
        .iter()
        .filter_map(|&target| plan.base_of(target))
        .collect();
    let is_kept = |target: &usize| {
        let always = [Some(plan.base), plan.twin];
        always.contains(&Some(*target))
            || flagged_targets.contains(target)
            || bases.contains(target)
    };
    let targets: Vec<usize> = (0..plan.targets.len()).filter(is_kept).collect();
    let place = |target: usize| targets.iter().position(|kept| *kept == target);
    let kept_steps = steps.iter().map(|&index| {
        let mut step = plan.steps[index].clone();
        step.warm_only |= !flagged_steps.contains(&index);
        step
    });
    let kept_steps: Vec<_> = kept_steps.collect();
    let entries: BTreeSet<usize> = kept_steps.iter().map(|step| step.entry).collect();
    let mut confirming = Plan {
        name: format!("{}-confirmation", plan.name),
        base: place(plan.base)?,
        bases: plan.bases.as_ref().map(|bases| Bases {
            of_target: targets
                .iter()
                .map(|&kept| bases.of_target[kept].and_then(place))
                .collect(),
            by: bases.by.clone(),
        }),
        twin: plan.twin.and_then(place),
        seed: other_seed(plan.seed),
        targets: targets
            .iter()
            .map(|kept| plan.targets[*kept].clone())
            .collect(),
        steps: kept_steps,
        sections: plan
            .sections
            .iter()
            .filter_map(|section| within(section, &entries))
            .collect(),
        campaign: None,
        without: Vec::new(),
        confirms: Some(run_id.to_owned()),
        trials: Vec::new(),
        left_out: Vec::new(),
        ..plan.clone()
    };
    let counting = plan.trials.iter().filter_map(|trial| {
        let target = place(trial.target)?;
        (trial.kind == TrialKind::Counting).then_some(PlannedTrial { target, ..*trial })
    });
    let mut trials = more_trials(&confirming, 0, plan.blocks());
    trials.extend(counting);
    // Stable: what is counted stays behind the timed trials of its block.
    trials.sort_by_key(|trial| trial.block);
    confirming.trials = trials;
    Some(confirming)
}

/// The part of a section whose entries are kept; `None` if none is.
fn within(section: &Section, entries: &BTreeSet<usize>) -> Option<Section> {
    let mut section = section.clone();
    section.entries.retain(|entry| entries.contains(entry));
    (!section.entries.is_empty()).then_some(section)
}

/// A seed that an experiment can name as well: it has 63 bits.
fn other_seed(seed: u64) -> u64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    generator.jump();
    generator.next_u64() >> 1
}

#[cfg(test)]
mod tests {
    use prony_model::{Campaign, CountedBy, CountedSteps, Counting, Effect, Thousandths, Version};
    use prony_testkit as testkit;

    use super::*;

    /// A base, its twin at the end and two contenders; the second of four steps writes.
    fn plan() -> Plan {
        let names = ["base", "b", "c", "twin"];
        let targets = names.map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let steps = ["a", "write", "b", "c"]
            .iter()
            .enumerate()
            .map(|(entry, name)| {
                let mut step = testkit::step(name, 1);
                step.entry = entry;
                if *name == "write" {
                    step.groups.own_mut().workload.effect = Effect::Rewrite;
                }
                step
            });
        let section = |title: &str, entries: &[usize]| Section {
            title: title.into(),
            entries: entries.to_vec(),
            display: None,
        };
        let mut plan = testkit::plan("x", targets.to_vec(), steps.collect(), 3);
        let counted = |target| PlannedTrial {
            kind: TrialKind::Counting,
            ..testkit::planned(0, target)
        };
        plan.trials.splice(4..4, [2, 0, 1, 3].map(counted));
        Plan {
            twin: Some(3),
            counting: Some(Counting {
                blocks: 1,
                by: CountedBy::Valgrind,
                operations: None,
                time_ms: None,
                steps: CountedSteps::Reads,
            }),
            campaign: Some(Campaign {
                precision_percent: Thousandths(1_000),
                budget_ms: 1,
                looks: vec![3],
            }),
            sections: vec![section("first", &[0]), section("last", &[3, 1])],
            ..plan
        }
    }

    fn names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
        names.map(String::as_str).collect()
    }

    #[test]
    fn flagged_cells_are_measured_with_what_they_need() {
        let first = plan();
        let flagged = [FlaggedCell { step: 3, target: 2 }];
        let again = confirmation(&first, "x-1", &flagged).unwrap();
        assert_eq!(
            names(again.targets.iter().map(|target| &target.name)),
            ["base", "c", "twin"]
        );
        assert_eq!((again.base, again.twin), (0, Some(2)));
        // The second read follows the writes as it did.
        assert_eq!(
            names(again.steps.iter().map(|step| &step.name)),
            ["write", "b", "c"]
        );
        let judged: Vec<_> = again.steps.iter().map(|step| !step.warm_only).collect();
        assert_eq!(judged, [false, false, true]);
        assert_eq!(again.sections.len(), 1);
        assert_eq!(again.sections[0].entries, [3, 1]);
        assert_eq!(again.confirms.as_deref(), Some("x-1"));
        assert_eq!((again.blocks(), &again.campaign), (3, &None));
        assert_ne!(again.seed, first.seed);
        assert!(i64::try_from(again.seed).is_ok());
    }

    #[test]
    fn every_kept_target_is_timed_in_each_block_and_counted_after_it() {
        let flagged = [FlaggedCell { step: 0, target: 1 }];
        let again = confirmation(&plan(), "x-1", &flagged).unwrap();
        let kinds: Vec<_> = again
            .trials
            .iter()
            .map(|trial| (trial.block, trial.kind))
            .collect();
        let (timed, counting) = (TrialKind::Timed, TrialKind::Counting);
        let mut expected = vec![(0, timed); 3];
        expected.extend([(0, counting); 3]);
        expected.extend([1, 1, 1, 2, 2, 2].map(|block| (block, timed)));
        assert_eq!(kinds, expected);
        for part in again.trials.chunks(3) {
            let targets: BTreeSet<_> = part.iter().map(|trial| trial.target).collect();
            assert_eq!(targets, [0, 1, 2].into());
        }
        assert_eq!(again.steps.len(), 1, "nothing follows");
    }

    #[test]
    fn nothing_flagged_is_nothing_to_confirm() {
        assert_eq!(confirmation(&plan(), "x-1", &[]), None);
    }
}
