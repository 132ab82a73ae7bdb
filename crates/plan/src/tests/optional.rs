//! Targets whose build the catalogue may lack.

use super::messages::{changed, check};
use super::{RIGHT, World};

const PLAIN: &str = "build = \"mysql-5.7.22\"\n";

fn with(target: &str) -> String {
    changed(PLAIN, &format!("{PLAIN}\n[[target]]\n{target}\n"))
}

#[test]
fn an_optional_build_that_is_absent_is_left_out() {
    let text = with("build = \"mysql-5.1.72\"\noptional = true\nengine = \"rocksdb\"");
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.left_out, ["mysql-5.1.72"]);
    let mut without = World::new().parse(RIGHT).unwrap();
    assert!(without.left_out.is_empty());
    without.left_out.clone_from(&plan.left_out);
    assert_eq!(plan, without, "everything else is as without the target");
}

#[test]
fn an_optional_build_that_is_present_takes_part() {
    let text = with("build = \"mysql-5.7.22\"\noptional = true\nprotocol = \"text\"");
    let plan = World::new().parse(&text).unwrap();
    assert_eq!((plan.targets.len(), plan.left_out.len()), (3, 0));
}

#[test]
fn absent_builds_of_a_matrix_are_left_out_once() {
    let text = with(
        "optional = true\nmatrix.build = [\"mysql-5.1.72\", \"mysql-5.7.22\", \"mine\"]\n\
         matrix.protocol = [\"text\"]\nmatrix.transport = [\"socket\", \"tcp\"]",
    );
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.left_out, ["mysql-5.1.72", "mine"]);
    assert_eq!(plan.targets.len(), 2 + 2);
}

#[test]
fn messages_about_optional_targets() {
    for (build, optional) in [("other", false), ("no name", true)] {
        let target = format!("build = \"{build}\"\noptional = {optional}\n");
        let text = RIGHT.replace(PLAIN, &target);
        let error = World::new().parse(&text).unwrap_err();
        let message = super::rendered(&error);
        assert!(
            message.contains(&format!("unknown build `{build}`")),
            "{message}"
        );
    }
    let target = "build = \"mysql-5.0.21\"\n";
    let refused = "the base `mysql-5.0` can't be optional
        | base = «\"mysql-5.0\"» its target has `optional = true`
        | every ratio is relative to the base: remove `optional` there, or make a target the base that
        every machine can have";
    check(target, &format!("{target}optional = true\n"), refused);
    let absent = refused.replace("mysql-5.0", "mysql-4.1.7");
    let text = RIGHT
        .replace("base = \"mysql-5.0\"", "base = \"mysql-4.1.7\"")
        .replace(target, "build = \"mysql-4.1.7\"\noptional = true\n");
    super::assert_says(&World::new().parse(&text).unwrap_err(), &absent);
    check(
        PLAIN,
        "name = \"copy\"\noptional = true\nexternal = { address = \"127.0.0.1:1\", user = \"x\" }\n",
        "an external server can't be `optional`
         | «optional» = true for builds that the catalogue may lack
         | remove `optional`; the server must run when the run begins",
    );
}
