//! Keys of judging: the base's twin, margins, and a precision in place of a number of blocks.

use prony_model::{Campaign, Plan, Thousandths, TrialKind};

use super::messages::{changed, check};
use super::{RIGHT, World, assert_says, rendered};
use crate::{Assumptions, predicted_block_ms, predicted_ms};

/// `RIGHT` with these lines in place of its number of blocks and of the lack of a twin.
fn with(lines: &str) -> String {
    RIGHT.replacen("blocks = 3\naa = false\n", &format!("{lines}\n"), 1)
}

/// The first target, which is the base, as an external server.
fn external_base(text: &str) -> String {
    text.replacen(
        "build = \"mysql-5.0.21\"\n",
        "name = \"mysql-5.0\"\n[target.external]\naddress = \"127.0.0.1:3306\"\nuser = \"bench\"\n",
        1,
    )
}

/// The base without contenders.
fn alone(text: &str) -> String {
    text.replacen("[[target]]\nbuild = \"mysql-5.7.22\"\n", "", 1)
}

#[track_caller]
fn parsed(world: &World, text: &str) -> Plan {
    let plan = world.parse(text);
    plan.unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)))
}

/// Numbers of timed and of counting trials of a target.
fn trials_of(plan: &Plan, target: usize) -> [usize; 2] {
    [TrialKind::Timed, TrialKind::Counting].map(|kind| {
        let planned = plan.trials.iter();
        planned
            .filter(|trial| (trial.target, trial.kind) == (target, kind))
            .count()
    })
}

#[test]
fn the_base_has_a_twin_where_several_blocks_compare() {
    let plan = parsed(&World::new(), &with("blocks = 3"));
    assert_eq!((plan.base, plan.twin, plan.targets.len()), (0, Some(2), 3));
    let (base, twin) = (&plan.targets[0], &plan.targets[2]);
    assert_eq!(twin.name, "mysql-5.0.21-again");
    assert_eq!((&twin.build, &twin.config), (&base.build, &base.config));
    assert_eq!(plan.contenders().collect::<Vec<_>>(), [1]);
    assert_eq!(trials_of(&plan, 2), [3, 0]);
    let fingerprints = plan.fingerprints();
    assert_eq!(fingerprints[0], fingerprints[2]);

    let twin = |text: &str| parsed(&World::new(), text).twin;
    assert_eq!(twin(&with("blocks = 3\naa = false")), None);
    assert_eq!(twin(&with("blocks = 1")), None);
    assert_eq!(twin(&with("blocks = 1\naa = true")), Some(2));
    assert_eq!(twin(&external_base(&with("blocks = 3"))), None);
    assert_eq!(twin(&alone(&with("blocks = 3"))), None);
}

#[test]
fn the_processor_counts_the_twin_and_valgrind_does_not() {
    let counted = parsed(&World::with_counters(), &with("blocks = 3"));
    assert_eq!([0, 2].map(|index| trials_of(&counted, index)), [[3, 2]; 2]);
    let valgrind = "[counting]\nwith = \"valgrind\"\n[dataset]";
    let text = with("blocks = 3").replacen("[dataset]", valgrind, 1);
    let counted = parsed(&World::new(), &text);
    assert_eq!(
        [0, 2].map(|index| trials_of(&counted, index)),
        [[3, 2], [3, 0]]
    );
}

#[test]
fn twins_that_can_not_be() {
    let world = World::new();
    assert_says(
        &world
            .parse(&external_base(&with("blocks = 3\naa = true")))
            .unwrap_err(),
        "`mysql-5.0` can't be measured twice: Prony does not start its server
         | aa = «true» asked for here
         | identical servers differ by their starts, and this one is started once: remove `aa`, or
         choose another `base`",
    );
    assert_says(
        &world
            .parse(&alone(&with("blocks = 3\naa = true")))
            .unwrap_err(),
        "the base can't be measured twice: nothing is compared with it
         | aa = «true» asked for here
         | add a [[target]], or remove `aa`; to measure a build against itself, name it in two
         targets",
    );
    check(
        "aa = false",
        "aa = 2",
        "`aa` must be true or false | aa = «2» this is a whole number",
    );
}

#[test]
fn turns_are_taken_by_servers_that_can_pause() {
    let world = World::new();
    assert_eq!(parsed(&world, RIGHT).turn_ms, None);
    let with_turn = parsed(&world, &with("blocks = 3\nturn = \"100ms\""));
    assert_eq!(with_turn.turn_ms, Some(100));
    assert_says(
        &world
            .parse(&external_base(&with("blocks = 3\nturn = \"1s\"")))
            .unwrap_err(),
        "`mysql-5.0` can't take turns: Prony does not start its server, and can't pause it
         | turn = «\"1s\"» asked for here
         | remove `turn`",
    );
    assert_says(
        &world
            .parse(&alone(&with("blocks = 3\nturn = \"1s\"")))
            .unwrap_err(),
        "one target has nobody to take turns with
         | turn = «\"1s\"» asked for here
         | remove `turn`",
    );
    check(
        "aa = false",
        "turn = \"10ms\"",
        "a turn lasts from 20ms to 10s
         | turn = «\"10ms\"» out of range
         | write `turn = \"100ms\"`, or remove `turn` to run one target after another",
    );
}

#[test]
fn the_most_specific_margin_counts() {
    let margins = |text: &str| -> Vec<Option<u32>> {
        let steps = parsed(&World::new(), text).steps;
        let margins = steps.iter().map(|step| step.margin_percent);
        margins
            .map(|margin| margin.map(|margin| margin.0))
            .collect()
    };
    let (one, two_and_a_half, five) = (Some(1_000), Some(2_500), Some(5_000));
    assert_eq!(margins(RIGHT), [None; 4]);
    let all = changed("aa = false", "aa = false\nmargin = \"2.5 %\"");
    assert_eq!(margins(&all), [two_and_a_half; 4]);
    let sections = "[[section]]\ntitle = \"A\"\nmargin = \"1 %\"\nsteps = [\"point-query\"]\n\
                    [[section]]\ntitle = \"B\"\nsteps = [\"read-only.range10\"]\n";
    let of_section = format!("{all}{sections}");
    let expected = [one, one, two_and_a_half, two_and_a_half];
    assert_eq!(margins(&of_section), expected);
    let point = "workload = \"point-query\"";
    let of_step = of_section.replacen(point, &format!("{point}\nmargin = \"5 %\""), 1);
    let expected = [five, five, two_and_a_half, two_and_a_half];
    assert_eq!(margins(&of_step), expected);
    check(
        "aa = false",
        "margin = \"0.05 %\"",
        "`0.05 %` is out of range | margin = «\"0.05 %\"» this can't be used | write a number from
         0.1 to 50 with at most three decimals and its sign, such as \"2 %\"",
    );
}

#[test]
fn a_precision_plans_the_blocks_up_to_the_first_look() {
    let text = with("precision = \"2 %\"\nbudget = \"6h\"");
    let plan = parsed(&World::with_counters(), &text);
    let campaign = Campaign {
        precision_percent: Thousandths(2_000),
        budget_ms: 6 * 3_600_000,
        looks: vec![5, 8, 12, 20, 30, 50],
    };
    assert_eq!(plan.campaign, Some(campaign));
    assert_eq!((plan.blocks(), plan.twin), (5, Some(2)));
    assert_eq!(trials_of(&plan, 1), [5, 2]);
    assert_eq!(parsed(&World::new(), RIGHT).campaign, None);
}

#[test]
fn a_precision_that_can_not_be() {
    let world = World::new();
    for (lines, expected) in [
        (
            "blocks = 3\nprecision = \"2 %\"\nbudget = \"6h\"",
            "`blocks` and `precision` exclude each other
             | blocks = «3» this number of blocks
             | precision = «\"2 %\"» as many blocks as this needs
             | remove `blocks`, or remove `precision` and `budget`",
        ),
        (
            "precision = \"2 %\"",
            "`precision` needs a `budget`
             | precision = «\"2 %\"» may need any number of blocks
             | write the time after which no block is begun, such as `budget = \"2h\"`",
        ),
        (
            "blocks = 3\nbudget = \"6h\"",
            "`budget` needs a `precision`
             | budget = «\"6h\"» ends nothing
             | write the half-width of ratios that is wanted in place of `blocks`, such as
             `precision = \"2 %\"`, or remove `budget`",
        ),
        (
            "precision = 2\nbudget = \"6h\"",
            "a percentage needs its sign | precision = «2» no sign | write a number from 0.1 to 50…",
        ),
    ] {
        assert_says(&world.parse(&with(lines)).unwrap_err(), expected);
    }
    let alone = alone(&with("precision = \"2 %\"\nbudget = \"6h\""));
    assert_says(
        &world.parse(&alone).unwrap_err(),
        "`precision` is that of ratios, and an experiment with one target has none
         | precision = «\"2 %\"» asked for here
         | add a [[target]], or write the number of `blocks` instead",
    );
}

/// A profile can't remove a key, so that blocks replace a precision and the other way round.
#[test]
fn profiles_choose_between_blocks_and_a_precision() {
    let world = World::new();
    let precise = "precision = \"2 %\"\nbudget = \"6h\"";
    let small = format!("{}\n[profile.small]\nblocks = 1\n", with(precise));
    let plan = world.parse_with("small", &small).unwrap();
    assert_eq!((plan.blocks(), plan.campaign), (1, None));
    let whole = format!("{RIGHT}\n[profile.precise]\n{precise}\naa = true\n");
    let plan = world.parse_with("precise", &whole).unwrap();
    assert!(plan.campaign.is_some() && plan.twin.is_some());
}

#[test]
fn a_twin_takes_trials_and_no_image() {
    let assumptions = Assumptions::default();
    let predicted = |lines: &str| {
        let plan = parsed(&World::new(), &with(lines));
        let block_ms = predicted_block_ms(&plan, &assumptions);
        (predicted_ms(&plan, &assumptions), block_ms)
    };
    let (three, of_two) = predicted("blocks = 3\naa = false");
    let (four, _) = predicted("blocks = 4\naa = false");
    assert_eq!(four - three, of_two);
    let (with_twin, of_three) = predicted("blocks = 3");
    assert_eq!(of_three, of_two / 2 * 3);
    assert_eq!(with_twin - three, 3 * (of_three - of_two));
}
