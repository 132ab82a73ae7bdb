//! Choices of what is read of targets.

use prony_model::{Aspect, Collect, KeptSamples, RidingCounters};

use super::messages::{changed, check};
use super::{World, assert_says, rendered};

/// The collections of both targets of `RIGHT` when the second one says this.
fn second(says: &str) -> [Collect; 2] {
    let text = changed(
        "build = \"mysql-5.7.22\"\n",
        &format!("build = \"mysql-5.7.22\"\n{says}\n"),
    );
    let plan = World::new()
        .parse(&text)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    [plan.targets[0].collect, plan.targets[1].collect]
}

#[test]
fn what_is_not_written_is_as_ever() {
    let default = Collect::default();
    assert_eq!(second(""), [default; 2]);
    assert_eq!(second("collect = {}"), [default; 2]);
    assert_eq!(
        second(r#"collect = { period = "100ms", counters = "software" }"#),
        [
            default,
            Collect {
                period_ms: Some(100),
                kept: KeptSamples::All,
                counters: RidingCounters::Software,
                ..default
            }
        ]
    );
    assert_eq!(
        second(r#"collect = { period = "off", system = false, cgroup = false }"#),
        [
            default,
            Collect {
                period_ms: None,
                system: false,
                cgroup: false,
                ..default
            }
        ]
    );
    assert_eq!(
        second(
            r#"collect = { period = "off", system = false, cgroup = false, status = false, counters = "off" }"#
        ),
        second(r#"collect = "nothing""#)
    );
}

#[test]
fn a_target_replaces_what_the_defaults_say() {
    let text = changed("[defaults]", "[defaults]\ncollect = { status = false }").replace(
        "build = \"mysql-5.7.22\"\n",
        "build = \"mysql-5.7.22\"\ncollect = { cgroup = false }\n",
    );
    let plan = World::new().parse(&text).unwrap();
    let [first, second] = [0, 1].map(|target: usize| plan.targets[target].collect);
    assert_eq!((first.status, first.cgroup), (false, true));
    assert_eq!((second.status, second.cgroup), (true, false));
    assert_eq!(plan.varying(), [Aspect::Build, Aspect::Collect]);
}

#[test]
fn targets_are_named_after_it() {
    let text = "name = \"m\"\nbase = \"collect-nothing\"\nblocks = 2\naa = false\n[dataset]\nrows = 1000\n\
         [[target]]\nbuild = \"mysql-8.0.31\"\n\
         matrix.collect = [\"nothing\", {}, { status = false, period = \"off\" }]\n\
         [sequence]\ntime = \"1s\"\n[[step]]\nworkload = \"point-query\"\n";
    let plan = World::new().parse(&text.replace("{}, ", "")).unwrap();
    let names = |plan: &prony_model::Plan| -> Vec<String> {
        let targets = plan.targets.iter();
        targets.map(|target| target.name.clone()).collect()
    };
    assert_eq!(
        names(&plan),
        ["collect-nothing", "collect-system-cgroup-auto-counters"]
    );
    // What is left at its default is not in the name, so that nothing would be: hence the build.
    let whole = text.replace(
        r#"build = "mysql-8.0.31""#,
        "name = \"x\"\nbuild = \"mysql-8.0.31\"",
    );
    let plan = World::new()
        .parse(&whole.replace(r#"base = ""#, r#"base = "x-"#))
        .unwrap();
    assert_eq!(
        names(&plan),
        [
            "x-collect-nothing",
            "x",
            "x-collect-system-cgroup-auto-counters"
        ]
    );
}

/// `RIGHT` with an external server in place of its second target, which says this.
fn external(says: &str) -> String {
    changed(
        "build = \"mysql-5.7.22\"\n",
        &format!(
            "name = \"copy\"\n{says}\n[target.external]\naddress = \"127.0.0.1:3306\"\n\
             user = \"bench\"\n"
        ),
    )
}

#[test]
fn external_servers_are_looked_at_too() {
    let text = external("").replace("[defaults]", "[defaults]\ncollect = \"nothing\"");
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.targets[1].collect, Collect::NOTHING);
    let plan = World::new()
        .parse(&external("collect = { status = false }"))
        .unwrap();
    assert!(!plan.targets[1].collect.status);
    for counters in ["software", "hardware"] {
        let text = external(&format!(r#"collect = {{ counters = "{counters}" }}"#));
        let invalid = World::new().parse(&text).unwrap_err();
        assert_says(
            &invalid,
            &format!(
                r#"{counters} counters are unavailable: Prony does not start this server
                   | collect = «{{ counters = "{counters}" }}» asked for here
                   | counters are opened when a server is born; leave `counters` out"#
            ),
        );
    }
}

/// Counters are opened when a server is born.
#[test]
fn external_servers_have_none_of_the_counters_of_the_defaults() {
    for counters in ["software", "hardware"] {
        let says =
            format!("[defaults]\ncollect = {{ period = \"2s\", counters = \"{counters}\" }}");
        let plan = World::new()
            .parse(&external("").replace("[defaults]", &says))
            .unwrap();
        let [own, copy] = [0, 1].map(|target: usize| plan.targets[target].collect);
        assert_eq!(own.counters.name(), counters);
        let expected = Collect {
            counters: RidingCounters::Off,
            ..own
        };
        assert_eq!(copy, expected);
        assert!(plan.varying().contains(&Aspect::Collect));
    }
    // What the host decides, it decides for each.
    let plan = World::new().parse(&external("")).unwrap();
    assert_eq!(plan.targets[1].collect, Collect::default());
}

/// Two of the values are one where there are no counters.
#[test]
fn a_matrix_of_counters_is_less_for_external_servers() {
    let matrix = "[defaults]\nmatrix.collect = [{ counters = \"off\" }, \
                  { counters = \"software\" }, { counters = \"hardware\", status = false }]";
    let text = external("").replace("[defaults]", matrix).replace(
        r#""mysql-5.0""#,
        r#""copy-collect-system-cgroup-status-every-1s""#,
    );
    let plan = World::new()
        .parse(&text)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    let copies = plan.targets.iter().filter(|t| t.external.is_some());
    let copies: Vec<_> = copies
        .map(|target| (target.name.as_str(), target.collect.status))
        .collect();
    assert_eq!(
        copies,
        [
            ("copy-collect-system-cgroup-status-every-1s", true),
            ("copy-collect-system-cgroup-every-1s", false)
        ]
    );
    assert_eq!(plan.targets.len(), 3 + 2);
}

#[test]
fn wrong_collections() {
    let target = |says: &str, expected: &str| {
        check(
            "build = \"mysql-5.7.22\"\n",
            &format!("build = \"mysql-5.7.22\"\n{says}\n"),
            expected,
        );
    };
    target(
        r#"collect = "everything""#,
        r#"`collect` must be a table, or "nothing"
           | collect = «"everything"» neither of them
           | write the differences from the defaults, such as { status = false }"#,
    );
    target(
        "collect = false",
        r#"`collect` must be a table, or "nothing"
           | collect = «false» neither of them
           | write the differences from the defaults, such as { status = false }"#,
    );
    target(
        "collect = { statistics = false }",
        "unknown key `statistics`
         | collect = { «statistics» = false } what is collected has no such key
         | known keys: period, system, cgroup, status, counters",
    );
    target(
        r#"collect = { period = "5ms" }"#,
        r#"`period` must be at least "10ms", or "off"
           | collect = { period = «"5ms"» } sampling would be a load itself"#,
    );
    target(
        "collect = { period = 1 }",
        r#"a duration needs a unit
           | collect = { period = «1» } seconds? minutes?
           | write a whole number and a unit: "500ms", "10s", "5m", "2h""#,
    );
    target(
        r#"collect.counters = "all""#,
        r#"unknown counters `all`
           | collect.counters = «"all"» no such counters
           | known values of counters: auto, off, software, hardware"#,
    );
    target(
        r#"matrix.collect = ["nothing", {}, { system = true }]"#,
        r#"`collect` has default twice
           | matrix.collect = ["nothing", «{}», { system = true }] first here
           | matrix.collect = ["nothing", {}, «{ system = true }»] here again
           | each value makes targets of its own: remove one"#,
    );
}
