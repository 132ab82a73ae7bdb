//! Placements as they are written, and messages about wrong ones.

use prony_model::{Aspect, PlacementRule, Plan, Processors, WantedPlacement};

use super::messages::{changed, check};
use super::{RIGHT, World, assert_says, rendered};

/// The external server in place of the second target of `RIGHT`, with more keys.
fn external(keys: &str) -> String {
    changed(
        "build = \"mysql-5.7.22\"\n",
        &format!(
            "name = \"copy\"\n{keys}\n[target.external]\naddress = \"127.0.0.1:3306\"\n\
             user = \"bench\"\n"
        ),
    )
}

fn parse(text: &str) -> Plan {
    World::new()
        .parse(text)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)))
}

/// The placement of every target and step, as people read it.
fn effective(plan: &Plan) -> Vec<String> {
    let of_target = |target| {
        plan.steps.iter().map(move |step| {
            plan.wanted_placement(target, step)
                .map_or_else(|| "default".to_owned(), ToString::to_string)
        })
    };
    plan.targets.iter().flat_map(of_target).collect()
}

#[test]
fn the_closest_wish_counts() {
    assert_eq!(effective(&parse(RIGHT)), ["default"; 8]);
    let of_all = changed("blocks = 3", "blocks = 3\nplacement = \"apart\"");
    assert_eq!(effective(&parse(&of_all)), ["apart"; 8]);
    let of_step = format!("{of_all}placement = \"together\"\n");
    let plan = parse(&of_step);
    let of_target = ["apart", "apart", "together", "together"];
    assert_eq!(effective(&plan), [of_target, of_target].concat());
    assert_eq!(
        plan.steps[2].placement,
        Some(WantedPlacement::Rule(PlacementRule::Together))
    );
    let of_target = of_step.replace(
        "build = \"mysql-5.7.22\"\n",
        "build = \"mysql-5.7.22\"\nplacement = { sessions = \"1,0\", generator = \"3\" }\n",
    );
    let plan = parse(&of_target);
    assert_eq!(effective(&plan)[4..], ["sessions 0-1, generator 3"; 4]);
    assert_eq!(
        plan.targets[1].placement,
        Some(WantedPlacement::Sets(Processors {
            sessions: Some("0-1".parse().unwrap()),
            background: None,
            generator: Some("3".parse().unwrap()),
        }))
    );
    assert_eq!(plan.varying(), [Aspect::Build, Aspect::Placement]);
}

#[test]
fn targets_differ_in_placement_alone() {
    let text = RIGHT
        .replace("base = \"mysql-5.0\"", "base = \"together\"")
        .replace(
            "[[target]]\nbuild = \"mysql-5.0.21\"\n\n[[target]]\nbuild = \"mysql-5.7.22\"\n",
            "[[target]]\nbuild = \"mysql-5.7.22\"\nmatrix.placement = \
             [\"together\", \"free\", { generator = \"0\", background = \"1\" }]\n",
        );
    let plan = parse(&text);
    let names: Vec<_> = plan.targets.iter().map(|target| &target.name).collect();
    assert_eq!(names, ["together", "free", "background-1-generator-0"]);
}

#[test]
fn wrong_placements() {
    check(
        "blocks = 3",
        "blocks = 3\nplacement = \"near\"",
        "unknown placement `near` | placement = «\"near\"» no such placement
         | known placements: together, apart, free",
    );
    check(
        "blocks = 3",
        "blocks = 3\nplacement = 1",
        "`placement` must be a word or a table | placement = «1» neither of them
         | write \"together\", \"apart\" or \"free\", or name the processors:
         { sessions = \"0\", background = \"1\", generator = \"0\" }",
    );
    check(
        "parameters.range = 10",
        "parameters.range = 10\nplacement = { session = \"0\" }",
        "unknown key `session` | placement = { «session» = \"0\" } a placement has no such key
         | did you mean `sessions`? known keys: sessions, background, generator",
    );
    check(
        "build = \"mysql-5.7.22\"\n",
        "build = \"mysql-5.7.22\"\nplacement = { sessions = \"3-1\" }\n",
        "`3-1` is not a set of processors: write their numbers, such as \"0\", \"0-3\" or \"0,2\"
         | placement = { sessions = «\"3-1\"» } not a set of processors",
    );
    check(
        "build = \"mysql-5.7.22\"\n",
        "build = \"mysql-5.7.22\"\nplacement = {}\n",
        "`placement` must name the processors of a role | placement = «{}» names none",
    );
}

#[test]
fn external_servers_stay_where_they_are() {
    let generator = "placement = { generator = \"1\" }";
    let plan =
        parse(&external(generator).replace("blocks = 3", "blocks = 3\nplacement = \"together\""));
    assert_eq!(effective(&plan)[4..], ["generator 1"; 4]);
    for free in ["placement = \"free\"", generator] {
        let text = external("").replace("blocks = 3", &format!("blocks = 3\n{free}"));
        parse(&text);
    }
    let refused = |text: &str, line: &str| {
        assert_says(
            &World::new().parse(text).unwrap_err(),
            &format!(
                "the server of `copy` can't be bound to processors: Prony does not start it
                 | {line} binds servers
                 | set `placement` in this [[target]] to \"free\", or to the processors of the
                 generator: {{ generator = \"0\" }}"
            ),
        );
    };
    let apart = "placement = «\"apart\"»";
    let plain = apart.replace(['«', '»'], "");
    refused(&external(&plain), apart);
    refused(
        &external("").replace("blocks = 3", &format!("blocks = 3\n{plain}")),
        apart,
    );
    refused(&format!("{}{plain}\n", external("")), apart);
    refused(
        &external("").replace("[defaults]", &format!("[defaults]\n{plain}")),
        apart,
    );
    refused(
        &external("placement = { background = \"0\", generator = \"1\" }"),
        "placement = «{ background = \"0\", generator = \"1\" }»",
    );
}
