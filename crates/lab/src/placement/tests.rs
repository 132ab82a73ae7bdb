//! Placements on hosts of several kinds.

use super::*;

/// Processors by number, core and package.
fn host(places: &[(u16, u16, u16)]) -> HostProcessors {
    HostProcessors::ordered(places.iter().map(|(cpu, core, package)| ProcessorPlace {
        cpu: *cpu,
        core: *core,
        package: *package,
    }))
}

/// Distinct cores of one package.
fn cores(count: u16) -> HostProcessors {
    let places: Vec<_> = (0..count).map(|cpu| (cpu, cpu, 0)).collect();
    host(&places)
}

/// Four cores of two threads each.
fn threads() -> HostProcessors {
    let places: Vec<_> = (0..8).map(|cpu| (cpu, cpu % 4, 0)).collect();
    host(&places)
}

/// Two packages of two cores each, whose threads have neighbouring numbers.
fn packages() -> HostProcessors {
    let places: Vec<_> = (0..8).map(|cpu| (cpu, cpu & !1, cpu & !3)).collect();
    host(&places)
}

#[test]
fn cores_come_before_their_other_threads_and_the_last_first() {
    assert_eq!(cores(4).in_order, [3, 2, 1, 0]);
    assert_eq!(threads().in_order, [3, 2, 1, 0, 7, 6, 5, 4]);
    assert_eq!(packages().in_order, [6, 4, 2, 0, 7, 5, 3, 1]);
    let without_first = host(&[(2, 2, 0), (5, 5, 0), (3, 2, 0)]);
    assert_eq!(without_first.in_order, [5, 2, 3]);
}

#[test]
fn rules_on_hosts() {
    use PlacementRule::{Apart, Together};
    let cases: [(HostProcessors, PlacementRule, u32, [&str; 3]); 17] = [
        (cores(1), Together, 1, ["", "", ""]),
        (cores(1), Apart, 16, ["", "", ""]),
        (cores(2), Together, 1, ["1", "0", "1"]),
        (cores(2), Together, 2, ["0-1", "0-1", "0-1"]),
        (cores(2), Together, 16, ["0-1", "0-1", "0-1"]),
        (cores(2), Apart, 1, ["0", "0", "1"]),
        (cores(2), Apart, 1000, ["0", "0", "1"]),
        (cores(4), Together, 1, ["3", "0-2", "3"]),
        (cores(4), Together, 2, ["2-3", "0-1", "2-3"]),
        (cores(4), Apart, 1, ["0-2", "0-2", "3"]),
        (cores(4), Apart, 1000, ["0-1", "0-1", "2-3"]),
        (threads(), Together, 1, ["3", "0-2,4-7", "3"]),
        (threads(), Together, 4, ["0-3", "4-7", "0-3"]),
        (threads(), Together, 1000, ["0-7", "0-7", "0-7"]),
        (threads(), Apart, 1000, ["0-1,4-7", "0-1,4-7", "2-3"]),
        (packages(), Together, 2, ["4,6", "0-3,5,7", "4,6"]),
        (packages(), Apart, 16, ["0-3,5,7", "0-3,5,7", "4,6"]),
    ];
    for (host, rule, clients, expected) in cases {
        let size = StepSize {
            clients,
            generator_threads: clients.min(2),
            pairable: true,
        };
        let placement = resolve(&WantedPlacement::Rule(rule), size, &host);
        let Processors {
            sessions,
            background,
            generator,
        } = placement.processors;
        let shown = [sessions, background, generator]
            .map(|cpus| cpus.map_or_else(String::new, |cpus| cpus.to_string()));
        assert_eq!(shown, expected, "{rule}, {clients} clients, {host:?}");
        let free = host.count() == 1;
        assert_eq!(placement.rule == PlacementRule::Free, free);
        let pairs = rule == Together && host.count() > 1 && clients > 1;
        assert_eq!(
            placement.paired, pairs,
            "{rule}, {clients} clients, {host:?}"
        );
    }
}

#[test]
fn free_and_sets_are_as_written() {
    let size = StepSize {
        clients: 4,
        generator_threads: 1,
        pairable: true,
    };
    let free = WantedPlacement::Rule(PlacementRule::Free);
    let placement = resolve(&free, size, &cores(4));
    assert_eq!(placement.processors, Processors::default());
    let processors = Processors {
        sessions: "0".parse().ok(),
        ..Processors::default()
    };
    let sets = WantedPlacement::Sets(processors.clone());
    for host in [cores(1), cores(2)] {
        let placement = resolve(&sets, size, &host);
        assert_eq!(placement.rule, PlacementRule::Sets);
        assert_eq!(placement.processors, processors);
    }
}

#[test]
fn clients_that_connect_anew_or_while_measured_are_not_paired() {
    let paired = |change: fn(&mut Step), threads_asked| {
        let mut plan = plan();
        plan.steps[0] = prony_testkit::step("point-query", 3);
        plan.placement = Some(WantedPlacement::Rule(PlacementRule::Together));
        change(&mut plan.steps[0]);
        let placements = Placements {
            host: cores(2),
            default: PlacementRule::Free,
            threads_max: 1,
            threads_asked,
        };
        let placement = placements.of(&plan, &plan.targets[0], &plan.steps[0]);
        assert_eq!(placement.processors.sessions, cores(2).all());
        placement.paired
    };
    assert!(paired(|_| {}, false));
    assert!(!paired(|_| {}, true));
    assert!(!paired(|step| step.timing = Timing::WholeRun, false));
    let reconnect = |step: &mut Step| {
        let mut groups = step.groups.iter_mut();
        groups.next().unwrap().reconnect_every = Some(10);
    };
    assert!(!paired(reconnect, false));
}

/// One target and one step.
fn plan() -> Plan {
    let target = prony_testkit::target("mysql-8.0.31", prony_model::Version::new(8, 0, 31));
    let step = prony_testkit::step("point-query", 1);
    prony_testkit::plan("p", vec![target], vec![step], 1)
}

#[test]
fn named_processors_must_be_usable() {
    let mut plan = plan();
    assert!(check_processors(&plan, &cores(1)).is_ok());
    plan.targets[0].placement = Some(WantedPlacement::Sets(Processors {
        generator: "0,3".parse().ok(),
        ..Processors::default()
    }));
    assert!(check_processors(&plan, &cores(4)).is_ok());
    let error = check_processors(&plan, &cores(2)).unwrap_err().to_string();
    for word in [
        "mysql-8.0.31",
        "point-query",
        "generator",
        "processor 3",
        "0-1",
    ] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn the_default_leaves_external_servers_alone() {
    let mut plan = plan();
    let rule = |plan: &Plan| default_placement(plan, Some(3.0), &cores(2)).rule;
    assert_eq!(rule(&plan), PlacementRule::Together);
    plan.targets[0].external = Some(prony_model::External {
        address: prony_model::Address::Unix("/nowhere".into()),
        user: "u".into(),
        password: prony_model::PasswordSource::None,
        database: "d".into(),
        tls: prony_model::Tls::Off,
    });
    assert_eq!(rule(&plan), PlacementRule::Free);
    let apart = WantedPlacement::Rule(PlacementRule::Apart);
    plan.targets[0].placement = Some(apart);
    assert_eq!(rule(&plan), PlacementRule::Together);
}
