//! `[profiling]`.

use prony_model::{Length, Profiling, TrialKind};

use super::{RIGHT, World};

/// `RIGHT` with this said of profiling.
fn experiment(says: &str) -> String {
    RIGHT.replacen("[dataset]", &format!("{says}\n[dataset]"), 1)
}

#[test]
fn profiled_trials_follow_in_the_first_blocks() {
    let world = World::new();
    let plan = world.parse(&experiment("[profiling]\n")).unwrap();
    let expected = Profiling {
        blocks: 2,
        rate: 997,
        time_ms: None,
    };
    assert_eq!(plan.profiling, Some(expected));
    let without = world.parse(&experiment("")).unwrap();
    assert_eq!((without.profiling, without.profiling_note), (None, None));
    let (others, timed): (Vec<_>, Vec<_>) = plan
        .trials
        .iter()
        .copied()
        .partition(|trial| trial.kind == TrialKind::Profiling);
    // The order of the timed ones is as without.
    assert_eq!(timed, without.trials);
    let blocks: Vec<u32> = others.iter().map(|trial| trial.block).collect();
    assert_eq!(blocks.len(), 2 * plan.targets.len());
    assert!(blocks.iter().all(|block| *block < 2));
}

#[test]
fn steps_can_be_shorter_or_longer() {
    let plan = World::new()
        .parse(&experiment(
            "[profiling]\nblocks = 1\nrate = 99\ntime = \"15s\"\n",
        ))
        .unwrap();
    let profiling = plan.profiling.unwrap();
    assert_eq!((profiling.blocks, profiling.rate), (1, 99));
    let length = profiling.length(Length::Time { ms: 500 });
    assert_eq!(length, Length::Time { ms: 15_000 });
    let counted = Length::Count { operations: 7 };
    assert_eq!(profiling.length(counted), counted);
}

#[test]
fn a_host_without_the_right_says_so() {
    let world = World {
        stack_samples: Err("denied; allow it"),
        ..World::new()
    };
    let plan = world.parse(&experiment("[profiling]\n")).unwrap();
    assert_eq!(plan.profiling, None);
    insta::assert_snapshot!(plan.profiling_note.unwrap(), @"the stacks of servers can't be sampled here: denied; allow it");
    assert!(
        plan.trials
            .iter()
            .all(|trial| trial.kind == TrialKind::Timed)
    );
}

#[test]
fn mistakes_are_shown() {
    let error = |section: &str| {
        World::new()
            .parse(&experiment(section))
            .unwrap_err()
            .to_string()
    };
    let blocks = error("[profiling]\nblocks = 99\n");
    assert!(
        blocks.contains("can't be profiled in 99 blocks"),
        "{blocks}"
    );
    let rate = error("[profiling]\nrate = 0\n");
    assert!(rate.contains("rate"), "{rate}");
    let unknown = error("[profiling]\nwith = \"perf\"\n");
    assert!(unknown.contains("with"), "{unknown}");
}
