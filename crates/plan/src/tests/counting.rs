//! Trials that count, the ways to count, and messages where counting is impossible.

use prony_model::{CountedBy, CountedSteps, Counting, Plan, TrialKind};

use super::messages::changed;
use super::{NO_COUNTERS, RIGHT, World, assert_says, rendered};
use crate::{Assumptions, predicted_ms};

/// `RIGHT` with this said of counting.
fn with(says: &str) -> String {
    RIGHT.replacen("[dataset]", &format!("{says}\n[dataset]"), 1)
}

fn plan(world: &World, says: &str) -> Plan {
    world
        .parse(&with(says))
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)))
}

fn counted(plan: &Plan) -> Vec<(u32, usize)> {
    let counting = plan.trials.iter();
    let counting = counting.filter(|trial| trial.kind == TrialKind::Counting);
    counting.map(|trial| (trial.block, trial.target)).collect()
}

/// `RIGHT` with an external server in place of its second target.
fn with_external(says: &str) -> String {
    with(says).replacen(
        "build = \"mysql-5.7.22\"\n",
        "name = \"copy\"\n[target.external]\naddress = \"127.0.0.1:3306\"\nuser = \"bench\"\n",
        1,
    )
}

#[test]
fn where_there_are_counters_they_count_in_two_blocks() {
    let plain = plan(&World::with_counters(), "");
    assert_eq!(
        plain.counting,
        Some(Counting {
            blocks: 2,
            by: CountedBy::Hardware,
            operations: None,
            time_ms: None,
            steps: CountedSteps::All,
        })
    );
    assert_eq!(plain.counting_note, None);
    let mut pairs = counted(&plain);
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(plain.blocks(), 3);

    let world = World::with_counters();
    for says in ["[counting]", "[counting]\nwith = \"auto\"\nblocks = 2"] {
        assert_eq!(plan(&world, says), plain, "{says}");
    }
    let one = world.parse(&changed("blocks = 3", "blocks = 1")).unwrap();
    assert_eq!(one.counting.map(|counting| counting.blocks), Some(1));
}

#[test]
fn where_there_are_none_the_plan_says_so() {
    let plan = plan(&World::new(), "");
    assert_eq!(plan.counting, None);
    assert_eq!(counted(&plan), []);
    let note = plan.counting_note.unwrap();
    assert!(note.contains(NO_COUNTERS), "{note}");
    insta::assert_snapshot!(note, @r#"the processor's counters can't be read here: the processor has none for this machine; `with = "valgrind"` in [counting] counts without them"#);
}

#[test]
fn nothing_is_counted_that_is_not_wanted() {
    for world in [World::new(), World::with_counters()] {
        for says in [r#"counting = "off""#, "[counting]\nwith = \"off\""] {
            let plan = plan(&world, says);
            assert_eq!(
                (plan.counting, &plan.counting_note),
                (None, &None),
                "{says}"
            );
            assert_eq!(plan.trials.len(), 6);
        }
    }
}

#[test]
fn valgrind_needs_no_counters() {
    let says = "[counting]\nwith = \"valgrind\"\nblocks = 3\noperations = 500";
    let plan = plan(&World::new(), says);
    assert_eq!(
        plan.counting,
        Some(Counting {
            blocks: 3,
            by: CountedBy::Valgrind,
            operations: Some(500),
            time_ms: None,
            steps: CountedSteps::All,
        })
    );
    assert_eq!(counted(&plan).len(), 6);
    assert_eq!(plan.counting_note, None);
}

#[test]
fn builds_that_do_not_work_in_valgrind_are_left_out() {
    let mut world = World::with_counters();
    for build in &mut world.builds {
        build.no_valgrind = (build.id == "mysql-5.7.22").then(|| "it hangs".to_owned());
    }
    let targets = |with: &str| {
        let plan = plan(
            &world,
            &format!("[counting]\nwith = \"{with}\"\nblocks = 1"),
        );
        counted(&plan).iter().map(|&(_, target)| target).max()
    };
    assert_eq!(targets("valgrind"), Some(0));
    assert_eq!(targets("hardware"), Some(1));
    for build in &mut world.builds {
        build.no_valgrind = Some("it hangs".to_owned());
    }
    let text = with("[counting]\nwith = \"valgrind\"");
    assert_says(
        &world.parse(&text).unwrap_err(),
        "no target can be counted by valgrind: mysql-5.0.21 does not work in it: it hangs
         | with = «\"valgrind\"» asked for here
         | write `with = \"auto\"`, which counts where the processor has counters",
    );
    world.hardware_counters = Err(NO_COUNTERS);
    let undecided = plan(&world, "[counting]\nwith = \"any\"");
    assert_eq!(undecided.counting, None);
    let note = undecided.counting_note.unwrap();
    assert!(
        note.contains("can't count these servers: mysql-5.0.21"),
        "{note}"
    );
}

#[test]
fn any_means_is_the_best_that_the_host_has() {
    let says = "[counting]\nwith = \"any\"";
    let by = |world: &World| plan(world, says).counting.map(|counting| counting.by);
    let world = |hardware_counters, valgrind| World {
        hardware_counters,
        valgrind,
        ..World::new()
    };
    assert_eq!(by(&world(Ok(()), false)), Some(CountedBy::Hardware));
    assert_eq!(by(&world(Ok(()), true)), Some(CountedBy::Hardware));
    assert_eq!(
        by(&world(Err(NO_COUNTERS), true)),
        Some(CountedBy::Valgrind)
    );
    let nothing = plan(&world(Err(NO_COUNTERS), false), says);
    assert_eq!(nothing.counting, None);
    let note = nothing.counting_note.unwrap();
    insta::assert_snapshot!(note, @"the processor's counters can't be read here: the processor has none for this machine; valgrind counts without them: install it, as with `apt-get install valgrind`");
}

#[test]
fn a_short_time_of_the_steps_that_read_is_counted() {
    let says = "[counting]\nwith = \"valgrind\"\ntime = \"50ms\"\nsteps = \"reads\"";
    let counting = plan(&World::new(), says).counting.unwrap();
    assert_eq!((counting.time_ms, counting.operations), (Some(50), None));
    assert_eq!(counting.steps, CountedSteps::Reads);
    let both = with("[counting]\noperations = 5\ntime = \"50ms\"");
    assert_says(
        &World::new().parse(&both).unwrap_err(),
        r#"`operations` and `time` exclude each other
           | time = «"50ms"» the second of two numbers of operations
           | remove one of them"#,
    );
    let unknown = with("[counting]\nsteps = \"writes\"");
    assert_says(
        &World::new().parse(&unknown).unwrap_err(),
        r#"can't count the steps `writes`
           | steps = «"writes"» not a kind of steps
           | known words: all, reads"#,
    );
}

#[test]
fn external_servers_are_not_counted() {
    let world = World::with_counters();
    let mixed = world.parse(&with_external("")).unwrap();
    assert_eq!(counted(&mixed), [(0, 0), (1, 0)]);
    let alone = with_external("")
        .replacen("[[target]]\nbuild = \"mysql-5.0.21\"\n", "", 1)
        .replace(r#""mysql-5.0""#, r#""copy""#);
    let alone = world.parse(&alone).unwrap();
    assert_eq!((alone.counting, counted(&alone)), (None, vec![]));
    insta::assert_snapshot!(alone.counting_note.unwrap(), @"servers that Prony does not start can't be counted");

    for by in ["hardware", "valgrind"] {
        let text = with_external(&format!("[counting]\nwith = \"{by}\""));
        let invalid = world.parse(&text).unwrap_err();
        assert_says(
            &invalid,
            &format!(
                r#"`copy` can't be counted: Prony does not start its server
                   | with = «"{by}"» asked for here
                   | leave this target out, or write `with = "auto"`, which counts the other targets
                   where the processor has counters"#
            ),
        );
    }
}

#[test]
fn wrong_counting() {
    let world = World::new();
    let check = |says: &str, expected: &str| {
        assert_says(&world.parse(&with(says)).unwrap_err(), expected);
    };
    check(
        "[counting]\nwith = \"hardware\"",
        r#"the processor's counters can't be read here: the processor has none for this machine
           | with = «"hardware"» asked for here
           | write `with = "valgrind"`, which counts without them, or `with = "auto"`"#,
    );
    check(
        "[counting]\nblocks = 4",
        "targets can't be counted in 4 blocks: the experiment has 3
         | blocks = «4» more than the experiment has
         | write a number from 1 to 3, or leave it out",
    );
    check(
        "[counting]\nblocks = 0",
        "`blocks` must be at least 1 | blocks = «0» too small",
    );
    check(
        "[counting]\nby = \"valgrind\"",
        r#"unknown key `by`
           | «by» = "valgrind" the counting has no such key
           | known keys: blocks, with, operations, time, steps"#,
    );
    check(
        "[counting]\nwith = \"callgrind\"",
        r#"can't count with `callgrind`
           | with = «"callgrind"» nothing that counts
           | did you mean `valgrind`? known words: auto, any, hardware, valgrind, off"#,
    );
    check(
        r#"counting = "on""#,
        r#"`counting` must be a table, or "off"
           | counting = «"on"» neither of them
           | write [counting] with `blocks`, `with` or `operations` below it"#,
    );
    check(
        "[counting]\noperations = 0",
        "`operations` must be at least 1 | operations = «0» too small",
    );
}

#[test]
fn profiles_change_what_is_counted_and_read() {
    let world = World::with_counters();
    let text = format!(
        "{}\n[profile.small]\nblocks = 1\ncounting.blocks = 1\n\
         defaults.collect = \"nothing\"\n[profile.quick]\ncounting = \"off\"\n",
        with("[counting]\nblocks = 3\noperations = 70")
    );
    let small = world.parse_with("small", &text).unwrap();
    assert_eq!(
        small.counting,
        Some(Counting {
            blocks: 1,
            by: CountedBy::Hardware,
            operations: Some(70),
            time_ms: None,
            steps: CountedSteps::All,
        })
    );
    assert_eq!(small.targets[0].collect, prony_model::Collect::NOTHING);
    let quick = world.parse_with("quick", &text).unwrap();
    assert_eq!((quick.counting, counted(&quick)), (None, vec![]));
    assert_eq!(quick.targets[0].collect, prony_model::Collect::default());
}

#[test]
fn what_the_documentation_writes_is_right() {
    let document = include_str!("../../../../docs/formats/experiment.md");
    let example = |head: &str| {
        let from = document.find(&format!("```toml\n{head}")).unwrap();
        document[from..].split("```").nth(1).unwrap()[5..].to_owned()
    };
    let counted = plan(&World::new(), &example("[counting]"));
    let counting = counted.counting.unwrap();
    assert_eq!((counting.blocks, counting.operations), (3, Some(2000)));
    let text = RIGHT.replacen("[defaults]\n", &example("[defaults]\ncollect"), 1);
    let collect = World::new().parse(&text).unwrap().targets[0].collect;
    assert_eq!((collect.period_ms, collect.status), (Some(500), false));
}

#[test]
fn prediction_knows_what_is_counted() {
    let assumptions = Assumptions::default();
    let predict = |plan: &Plan| predicted_ms(plan, &assumptions);
    let timed = plan(&World::new(), r#"counting = "off""#);
    let clients = 2 * (1 + 4);
    let steps = |measured: u64| 4 * (measured + 200) + clients;
    assert_eq!(predict(&timed), 2 * 10_400 + 6 * (5300 + steps(500 + 3000)));
    // Two blocks of two targets; a fifth of the time, and half of that to warm up.
    let hardware = plan(&World::with_counters(), "");
    assert_eq!(
        predict(&hardware) - predict(&timed),
        4 * (5300 + steps(900))
    );
    let valgrind = plan(&World::new(), "[counting]\nwith = \"valgrind\"\nblocks = 1");
    assert_eq!(
        predict(&valgrind) - predict(&timed),
        2 * (5300 + 50_000 + steps(50 * 900))
    );
    // 1000 point queries at 10,000 each second, and transactions of 16; four clients are served
    // two at a time.
    let counted = plan(&World::with_counters(), "[counting]\noperations = 1000");
    let work = (100 + 50) + 16 * (100 + 50);
    assert_eq!(
        predict(&counted) - predict(&timed),
        4 * (5300 + steps(0) + work + work / 2)
    );
    // Tables in memory are loaded by the server that valgrind slows down.
    let in_memory = |says: &str| {
        let text = with(says).replacen(r#"engine = "innodb""#, r#"engine = "memory""#, 1);
        predict(&World::new().parse(&text).unwrap())
    };
    assert_eq!(
        in_memory("[counting]\nwith = \"valgrind\"\nblocks = 1") - in_memory(""),
        2 * (5300 + 50_000 + 50 * 400 + steps(50 * 900))
    );
}
