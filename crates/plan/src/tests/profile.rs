//! Profiles: what is laid over an experiment.

use prony_model::IntentValue;

use super::{RIGHT, World, assert_says, golden};
use crate::Invalid;

/// `RIGHT` with a profile.
fn with_profile(keys: &str) -> String {
    format!("{RIGHT}\n[profile.small]\n{keys}\n")
}

fn refused(profile: &str, keys: &str) -> Invalid {
    World::new()
        .parse_with(profile, &with_profile(keys))
        .unwrap_err()
}

#[test]
fn tables_merge_and_values_replace() {
    let text = with_profile(
        "blocks = 1\nclients = [2]\ndataset.rows = 500\nsequence.time = \"100ms\"\n\
         defaults.config = { buffer_pool = \"64M\" }",
    );
    let plan = World::new().parse_with("small", &text).unwrap();
    assert_eq!(plan.profile.as_deref(), Some("small"));
    assert_eq!((plan.blocks(), plan.steps[0].own().clients), (1, 2));
    assert_eq!((plan.dataset.tables, plan.dataset.rows), (2, 500));
    let intents = &plan.targets[0].config.intents;
    assert_eq!(intents["buffer_pool"], IntentValue::Bytes(64 << 20));
    assert_eq!(intents["binlog"], IntentValue::Flag(false));
    assert_eq!(plan.steps[0].warmup_ms, 500);

    let whole = World::new().parse(&text).unwrap();
    assert_eq!(whole.profile, None);
    assert_eq!(whole, World::new().parse(RIGHT).unwrap());
}

#[test]
fn messages_point_into_the_profile() {
    assert_says(
        &refused("small", "dataset.rows = 0"),
        "`rows` must be at least 1 | dataset.rows = «0» too small",
    );
    golden(
        "profile-too-few-rows",
        &refused("small", "dataset.rows = 5"),
    );
    assert_says(
        &refused("small", "dataset.row = 5"),
        "unknown key `row`
         | dataset.«row» = 5 the dataset has no such key
         | did you mean `rows`? known keys: schema, tables, rows, seed, primary_key, load, indexes",
    );
}

#[test]
fn profiles_that_are_not_there() {
    assert_says(
        &refused("smal", "blocks = 1"),
        "the experiment has no profile `smal`
         | [«profile».small] requested on the command line
         | did you mean `small`? known profiles: small",
    );
    let none = World::new().parse_with("small", RIGHT).unwrap_err();
    assert_says(
        &none,
        r#"the experiment has no profile `small`
           | «»name = "small" requested on the command line
           | there are no profiles"#,
    );
}

/// Wrong keys of a profile are reported even where the profile is not used.
#[test]
fn what_profiles_can_not_change() {
    let text = with_profile("target = []\nbase = \"x\"");
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"× a profile can't change `target`
           | «target» = [] not for profiles
           | a profile can change only the amount of measuring and memory: blocks, precision,
           budget, aa, turn, clients, allow, backend, dataset, defaults, sequence, counting, profiling
           × a profile can't change `base`
           | «base» = "x" not for profiles
           | a profile can change only the amount of measuring and memory: blocks, precision,
           budget, aa, turn, clients, allow, backend, dataset, defaults, sequence, counting, profiling"#,
    );
}
