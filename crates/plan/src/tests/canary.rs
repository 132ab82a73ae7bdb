//! The bound on canaries, and messages where it can't be one.

use prony_model::{CanaryRule, Thousandths};

use super::{RIGHT, World, assert_says, rendered};
use crate::{Assumptions, predicted_ms};

/// `RIGHT` with this section on canaries.
fn with(section: &str) -> String {
    RIGHT.replacen("[dataset]", &format!("[canary]\n{section}\n\n[dataset]"), 1)
}

/// An external server in place of the second target.
fn external(text: &str) -> String {
    text.replacen(
        "build = \"mysql-5.7.22\"\n",
        "name = \"copy\"\n[target.external]\naddress = \"127.0.0.1:3306\"\nuser = \"bench\"\n",
        1,
    )
}

#[test]
fn a_trial_is_excluded_only_if_the_file_declares_it() {
    let rule = |bound_percent, exclude| CanaryRule {
        bound_percent: Thousandths(bound_percent),
        exclude,
    };
    let usual = World::new().parse(RIGHT).unwrap();
    assert_eq!(usual.canary, rule(10_000, false));
    for (section, expected) in [
        ("", rule(10_000, false)),
        ("exclude = false", rule(10_000, false)),
        ("exclude = true", rule(10_000, true)),
        ("bound = \"5 %\"", rule(5_000, false)),
        ("bound = \"2.5%\"\nexclude = true", rule(2_500, true)),
    ] {
        let plan = World::new().parse(&with(section));
        let plan = plan.unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
        assert_eq!(plan.canary, expected, "{section}");
    }
}

#[test]
fn wrong_bounds_are_explained() {
    let help = "write a number from 0.1 to 1000 with at most three decimals and its sign, such as \
                \"10 %\"";
    for (section, expected) in [
        (
            "bound = 10",
            format!("a percentage needs its sign | bound = «10» no sign | {help}"),
        ),
        (
            "bound = \"ten\"",
            format!("`ten` is not a percentage | bound = «\"ten\"» not a percentage | {help}"),
        ),
        (
            "bound = \"0.01 %\"",
            format!("`0.01 %` is out of range | bound = «\"0.01 %\"» this can't be used | {help}"),
        ),
        (
            "exclude = \"yes\"",
            "`exclude` must be true or false | exclude = «\"yes\"» this is a text".to_owned(),
        ),
        (
            "bounds = \"10 %\"",
            "unknown key `bounds` | «bounds» = \"10 %\" the canary has no such key | did you mean \
             `bound`?…"
                .to_owned(),
        ),
    ] {
        let invalid = World::new().parse(&with(section)).unwrap_err();
        assert_says(&invalid, &expected);
    }
}

#[test]
fn beside_an_external_server_nothing_is_excluded() {
    let invalid = World::new().parse(&external(&with("exclude = true")));
    assert_says(
        &invalid.unwrap_err(),
        "trials can't be excluded by their canaries: the server of `copy` runs beside these
         | exclude = «true» asked for here | leave this target out, or remove `exclude`",
    );
    let plan = World::new().parse(&external(&with("bound = \"5 %\"")));
    assert!(!plan.unwrap().has_canaries());
}

#[test]
fn prediction_knows_the_canaries() {
    let predict = |plan, canary_ms| {
        let assumptions = Assumptions {
            canary_ms,
            ..Assumptions::default()
        };
        predicted_ms(plan, &assumptions)
    };
    let plan = World::new().parse(RIGHT).unwrap();
    assert_eq!(predict(&plan, 200) - predict(&plan, 0), 6 * 2 * 200);
    let external = World::new().parse(&external(RIGHT)).unwrap();
    assert_eq!(predict(&external, 200), predict(&external, 0));
}
