use jiff::Timestamp;
use prony_model::{AdditionReason, BlockWithout, Effect, Thousandths, Version};
use prony_store::{Addition, NewRun, Store};
use prony_testkit as testkit;
use prony_testkit::planned;

use super::*;

/// A base and two contenders, five blocks; of four steps the third writes.
fn plan() -> Plan {
    let names = ["base", "b", "c"];
    let targets = names.map(|name| testkit::target(name, Version::new(8, 0, 0)));
    let mut steps = ["r0", "r1", "w2", "r3"].map(|name| testkit::step(name, 1));
    steps[2].groups.own_mut().workload.effect = Effect::Rewrite;
    testkit::plan("x", targets.to_vec(), steps.to_vec(), 5)
}

/// 2 %, looks at 5, 8 and 12 blocks.
fn campaign() -> Campaign {
    Campaign {
        precision_percent: Thousandths(2_000),
        budget_ms: 1_000_000,
        looks: vec![5, 8, 12],
    }
}

fn precision(step: usize, target: usize, half_width: f64) -> Precision {
    Precision {
        step,
        target,
        pairs: 5,
        half_width: Some(half_width),
    }
}

/// Both contenders at each step: the second one is this imprecise, the first one precise.
fn precisions(widths: [f64; 4]) -> Vec<Precision> {
    let of_step = |(step, width)| [precision(step, 1, 0.001), precision(step, 2, width)];
    widths.into_iter().enumerate().flat_map(of_step).collect()
}

fn decision(precisions: &[Precision]) -> CampaignDecision {
    let plan = plan();
    decide(
        &plan,
        &campaign(),
        precisions,
        &BlockTimes::constant(&plan, 0, 0, 0),
    )
}

fn more(blocks: u32, without: &[usize]) -> CampaignDecision {
    CampaignDecision::More {
        blocks,
        without: without.to_vec(),
    }
}

#[test]
fn a_step_is_settled_when_all_its_ratios_are_precise() {
    let settled = |widths| {
        let steps = step_precisions(&plan(), &campaign(), &precisions(widths));
        steps.iter().map(|step| step.is_settled).collect::<Vec<_>>()
    };
    assert_eq!(
        settled([0.02, 0.0201, 0.0, f64::INFINITY]),
        [true, false, true, false]
    );
    // One pair has no interval.
    let one = Precision {
        pairs: 1,
        half_width: None,
        ..precision(0, 2, 0.0)
    };
    let steps = step_precisions(&plan(), &campaign(), &[precision(0, 1, 0.01), one]);
    assert_eq!((steps[0].worst, steps[0].is_settled), (one, false));
}

#[test]
fn settled_steps_are_left_out_where_the_others_do_not_need_them() {
    let (good, bad) = (0.01, 0.05);
    for (widths, expected) in [
        ([bad, bad, bad, bad], more(3, &[])),
        ([good, bad, bad, bad], more(3, &[0])),
        // Nothing unsettled follows, so that the writes are left out, too.
        ([bad, good, good, good], more(3, &[1, 2, 3])),
        // The last step reads what the writes left.
        ([good, good, good, bad], more(3, &[0, 1])),
        (
            [good, good, good, good],
            CampaignDecision::End(CampaignEnd::Precise),
        ),
    ] {
        assert_eq!(decision(&precisions(widths)), expected, "{widths:?}");
    }
}

#[test]
fn steps_without_a_ratio_ask_for_no_blocks() {
    // The contender `c` failed everywhere, and nothing could be done at the last step.
    let only_b = [
        precision(0, 1, 0.01),
        precision(1, 1, 0.05),
        precision(2, 1, 0.01),
    ];
    assert_eq!(decision(&only_b), more(3, &[0, 2, 3]));
    let nothing = CampaignDecision::End(CampaignEnd::NothingToCompare);
    assert_eq!(decision(&[]), nothing);
    let mut plan = plan();
    plan.steps[1].warm_only = true;
    let warm = [precision(1, 1, 0.5)];
    let times = BlockTimes::constant(&plan, 0, 0, 0);
    assert_eq!(decide(&plan, &campaign(), &warm, &times), nothing);
}

#[test]
fn looks_are_used_up() {
    let imprecise = precisions([0.5; 4]);
    for (blocks, expected) in [
        (5, more(3, &[])),
        // Blocks that the user appended: the next look is the next planned one.
        (6, more(2, &[])),
        (8, more(4, &[])),
        (12, CampaignDecision::End(CampaignEnd::LooksUsedUp)),
        (13, CampaignDecision::End(CampaignEnd::LooksUsedUp)),
    ] {
        let mut plan = plan();
        plan.trials = (0..blocks).map(|block| planned(block, 0)).collect();
        let times = BlockTimes::constant(&plan, 0, 0, 0);
        assert_eq!(decide(&plan, &campaign(), &imprecise, &times), expected);
    }
}

#[test]
fn blocks_that_would_exceed_the_budget_are_not_begun() {
    let plan = plan();
    let times = BlockTimes::constant(&plan, 10_000, 100, 50);
    let decide = |widths, budget_ms| {
        let campaign = Campaign {
            budget_ms,
            ..campaign()
        };
        super::decide(&plan, &campaign, &precisions(widths), &times)
    };
    // Three blocks of three trials with all four steps: 2,700 ms.
    assert_eq!(decide([0.5; 4], 12_700), more(3, &[]));
    let needed_ms = 12_700;
    let over = CampaignDecision::End(CampaignEnd::BudgetUsedUp { needed_ms });
    assert_eq!(decide([0.5; 4], 12_699), over);
    // One step is less: 1,350 ms.
    assert_eq!(decide([0.5, 0.0, 0.0, 0.0], 11_350), more(3, &[1, 2, 3]));
}

#[test]
fn a_plan_counts_the_measurements_of_its_steps() {
    let mut plan = plan();
    assert_eq!(step_counts(&plan), (60, 60));
    plan.without = vec![BlockWithout {
        block: 4,
        steps: vec![0, 1],
    }];
    assert_eq!(step_counts(&plan), (54, 60));
}

#[test]
fn times_come_from_the_trials_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan();
    let at = |ms: i64| Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap();
    let run = NewRun {
        id: "x",
        plan: &plan,
        prony_version: "0.1.0",
        host_json: "{}",
        started_at: at(0),
    };
    let mut store = Store::create(&folder.path().join("run.sqlite"), &run).unwrap();
    let added = Addition {
        reason: AdditionReason::Campaign,
        trials: vec![planned(5, 0)],
        without: vec![BlockWithout {
            block: 5,
            steps: vec![0, 1],
        }],
    };
    store.add_trials(&added, at(0)).unwrap();
    // A step warms up for a second and measures five: 24 s of all four.
    for (block, began, took, steps) in [(0, 0, 30_000, 0..4), (5, 40_000, 20_000, 2..4)] {
        let trial = store.begin_trial(planned(block, 0), at(began)).unwrap();
        for step in steps {
            let group = testkit::group_outcome(1, 1000, 5_000_000_000, vec![]);
            store
                .record_step(trial, step, &testkit::step_outcome(group))
                .unwrap();
        }
        store.finish_trial(trial, at(began + took)).unwrap();
    }
    let failed = store.begin_trial(planned(1, 0), at(70_000)).unwrap();
    store.fail_trial(failed, "it died", "", at(71_000)).unwrap();
    let times = BlockTimes::of(&store).unwrap();
    assert_eq!(times.spent_ms(), 51_000);
    // Besides its steps a trial takes 6 or 8 s, 7 on average.
    assert_eq!(times.block_ms(&[0, 1, 2, 3]), 3 * 31_000);
    assert_eq!(times.block_ms(&[3]), 3 * 13_000);
}
