use std::collections::BTreeMap;

use super::*;
use crate::{
    Backend, Baseline, BuildFacts, Collect, Config, CountedBy, CountedSteps, Counting, Display,
    Effect, Engine, Family, Group, Groups, IntentValue, Length, Pace, PasswordSource, Phase,
    PlacementRule, PlannedTrial, Processors, Protocol, Schema, Settle, Spacing, Statement,
    TableChoice, Think, Thousandths, Timing, Transport, TrialKind, Version, Workload,
};

fn library(file: &str, sha256: &str) -> crate::PreloadedLibrary {
    crate::PreloadedLibrary {
        file: file.into(),
        sha256: sha256.into(),
    }
}

/// Two steps, the second with a group beside its own clients, on one target.
fn statement() -> Statement {
    Statement {
        name: "select".into(),
        sql: "SELECT c FROM {table} WHERE id = 1".parse().unwrap(),
        row: None,
        repeat: 1,
        table: TableChoice::Random,
        params: Vec::new(),
        expect: crate::Expect::default(),
        expect_rows: None,
        expect_affected: None,
        change: crate::Change::default(),
        weight: None,
    }
}

fn plan() -> Plan {
    let group = ClientGroup {
        name: None,
        workload: Workload {
            name: "w".into(),
            group: Group::Point,
            effect: Effect::None,
            schema: Schema::SBTEST,
            description: "d".into(),
            parameters: BTreeMap::new(),
            transaction: false,
            display: Display::Rate,
            text_only: false,
            needs_rows: None,
            statements: vec![statement()],
        },
        parameters: BTreeMap::from([("range".to_owned(), 10)]),
        clients: 2,
        pace: Pace::default(),
        reconnect_every: None,
        sla_percent: None,
    };
    let step = Step {
        name: "s".into(),
        entry: 0,
        groups: Groups::new(group.clone()),
        warmup_ms: 1000,
        length: Length::Time { ms: 5000 },
        phase: None,
        warm_only: false,
        settle: None,
        timing: Timing::Operations,
        ramp_ms: 0,
        placement: None,
        margin_percent: None,
    };
    let mut mixed = step.clone();
    mixed.groups.push(ClientGroup {
        name: Some("g".into()),
        ..group
    });
    Plan {
        name: "p".into(),
        question: "q".into(),
        base: 0,
        bases: None,
        seed: 1,
        dataset: Dataset::sbtest(1, 1000, 7),
        targets: vec![target()],
        steps: vec![step, mixed],
        sections: Vec::new(),
        display: crate::RatioDisplay::default(),
        placement: None,
        preset: None,
        profile: None,
        allow: Vec::new(),
        backend: None,
        counting: None,
        counting_note: None,
        profiling: None,
        profiling_note: None,
        canary: crate::CanaryRule::default(),
        twin: None,
        turn_ms: None,
        campaign: None,
        without: Vec::new(),
        confirms: None,
        left_out: Vec::new(),
        trials: Vec::new(),
    }
}

fn target() -> Target {
    Target {
        name: "t".into(),
        build: BuildFacts {
            id: "mysql-5.0".into(),
            family: Family::Mysql,
            version: Version::new(5, 0, 21),
            engines: vec![Engine::Innodb],
            engine_options: BTreeMap::new(),
            lacks: Vec::new(),
            caution: None,
            compiled: None,
            no_valgrind: None,
        },
        engine: Engine::Innodb,
        config: Config::default(),
        protocol: Protocol::Prepared,
        transport: Transport::Socket,
        preload: Vec::new(),
        external: None,
        collect: Collect::default(),
        placement: None,
    }
}

fn external(address: Address, tls: Tls) -> External {
    External {
        address,
        user: "u".into(),
        password: PasswordSource::None,
        database: "d".into(),
        tls,
    }
}

fn tcp(address: &str) -> Address {
    Address::Tcp(address.parse().unwrap())
}

/// Fingerprints of the target's two cells after a change of the plan.
fn after(change: impl FnOnce(&mut Plan)) -> [String; 2] {
    let mut plan = plan();
    change(&mut plan);
    let mut fingerprints = plan.fingerprints();
    fingerprints.remove(0).try_into().unwrap()
}

#[test]
fn labels_blocks_seed_and_build_change_nothing() {
    let before = after(|_| {});
    assert_eq!(before[0].len(), LENGTH);
    let same: [fn(&mut Plan); 18] = [
        |plan| plan.name = "other".into(),
        |plan| plan.question = "other".into(),
        |plan| plan.seed = 2,
        |plan| plan.sections = vec![],
        |plan| plan.preset = Some("x".into()),
        |plan| plan.profile = Some("x".into()),
        |plan| plan.allow = vec!["x".into()],
        |plan| plan.counting_note = Some("x".into()),
        |plan| plan.profiling_note = Some("x".into()),
        |plan| plan.canary.exclude = true,
        |plan| {
            plan.trials.push(PlannedTrial {
                block: 0,
                target: 0,
                kind: TrialKind::Timed,
            });
        },
        |plan| plan.targets.insert(1, target()),
        |plan| plan.targets[0].name = "other".into(),
        |plan| {
            plan.targets[0].build.id = "mysql-9.7".into();
            plan.targets[0].build.version = Version::new(9, 7, 0);
        },
        |plan| plan.steps[0].name = "other".into(),
        |plan| {
            plan.steps[0].phase = Some(Phase::End);
            plan.steps[0].warm_only = true;
            plan.steps[0].entry = 4;
        },
        |plan| plan.steps[1].groups[1].name = Some("other".into()),
        |plan| {
            let workload = &mut plan.steps[0].groups[0].workload;
            workload.name = "other".into();
            workload.description = "other".into();
            workload.group = Group::Range;
            workload.display = Display::Milliseconds;
        },
    ];
    for (index, change) in same.into_iter().enumerate() {
        assert_eq!(after(change), before, "{index}");
    }
    let counted = |blocks| {
        move |plan: &mut Plan| {
            plan.counting = Some(Counting {
                blocks,
                by: CountedBy::Hardware,
                operations: None,
                time_ms: None,
                steps: CountedSteps::All,
            });
        }
    };
    assert_eq!(after(counted(1)), after(counted(2)));
}

#[test]
fn every_input_of_all_cells_changes_all_of_them() {
    let mut seen = vec![after(|_| {})];
    let different: [fn(&mut Plan); 27] = [
        |plan| plan.dataset.rows = 1001,
        |plan| plan.dataset.tables = 2,
        |plan| plan.dataset.seed = 8,
        |plan| plan.dataset.primary_key = false,
        |plan| plan.dataset.schema = Schema::FOO,
        |plan| plan.targets[0].engine = Engine::Myisam,
        |plan| plan.targets[0].protocol = Protocol::Text,
        |plan| plan.targets[0].transport = Transport::Tcp,
        |plan| plan.targets[0].external = Some(external(tcp("127.0.0.1:1"), Tls::Off)),
        |plan| plan.targets[0].external = Some(external(tcp("127.0.0.1:1"), Tls::Required)),
        |plan| {
            plan.targets[0].external = Some(external(Address::Unix("/s".into()), Tls::Off));
        },
        |plan| {
            let intents = &mut plan.targets[0].config.intents;
            intents.insert("binlog".into(), IntentValue::Flag(false));
        },
        |plan| {
            let intents = &mut plan.targets[0].config.intents;
            intents.insert("binlog".into(), IntentValue::Flag(true));
        },
        |plan| {
            let raw = &mut plan.targets[0].config.raw;
            raw.insert("a".into(), "1".into());
        },
        |plan| plan.targets[0].config.baseline = Baseline::Shipped,
        |plan| plan.targets[0].preload = vec![library("/a/x.so", "1")],
        |plan| plan.targets[0].preload = vec![library("/a/x.so", "2")],
        |plan| plan.targets[0].collect = Collect::NOTHING,
        |plan| plan.backend = Some(Backend::Epoll),
        |plan| plan.backend = Some(Backend::IoUring),
        |plan| plan.placement = Some(rule(PlacementRule::Together)),
        |plan| plan.placement = Some(rule(PlacementRule::Apart)),
        |plan| plan.placement = Some(WantedPlacement::Sets(on("0"))),
        |plan| plan.targets[0].placement = Some(WantedPlacement::Sets(on("1"))),
        |plan| plan.counting = Some(counting(CountedBy::Hardware, None)),
        |plan| plan.counting = Some(counting(CountedBy::Valgrind, None)),
        |plan| plan.counting = Some(counting(CountedBy::Hardware, Some(20))),
    ];
    for (index, change) in different.into_iter().enumerate() {
        let now = after(change);
        for before in &seen {
            assert_ne!(now[0], before[0], "{index}");
            assert_ne!(now[1], before[1], "{index}");
        }
        seen.push(now);
    }
}

const fn rule(rule: PlacementRule) -> WantedPlacement {
    WantedPlacement::Rule(rule)
}

/// Sessions on these processors.
fn on(cpus: &str) -> Processors {
    Processors {
        sessions: Some(cpus.parse().unwrap()),
        ..Processors::default()
    }
}

#[test]
fn the_placement_that_applies_counts() {
    let apart = || Some(rule(PlacementRule::Apart));
    let everywhere = after(|plan| plan.placement = apart());
    let by_target = after(|plan| {
        plan.placement = Some(rule(PlacementRule::Free));
        plan.targets[0].placement = apart();
    });
    let by_step = after(|plan| {
        for step in &mut plan.steps {
            step.placement = apart();
        }
    });
    assert_eq!((&by_target, &by_step), (&everywhere, &everywhere));
}

fn counting(by: CountedBy, operations: Option<u64>) -> Counting {
    Counting {
        blocks: 1,
        by,
        operations,
        time_ms: None,
        steps: CountedSteps::All,
    }
}

#[test]
fn an_external_server_is_told_apart_by_the_way_to_it_and_not_by_its_place() {
    let at =
        |address, tls| after(move |plan| plan.targets[0].external = Some(external(address, tls)));
    assert_eq!(
        at(tcp("127.0.0.1:1"), Tls::VerifyCa("/a".into())),
        at(tcp("127.0.0.1:2"), Tls::VerifyCa("/b".into()))
    );
    assert_ne!(
        at(tcp("127.0.0.1:1"), Tls::VerifyCa("/a".into())),
        at(tcp("127.0.0.1:1"), Tls::VerifyFull("/a".into()))
    );
}

#[test]
fn every_input_of_a_step_changes_its_cells_and_those_after_it() {
    let before = after(|_| {});
    assert_ne!(before[0], before[1]);
    let mut seen = vec![before.clone()];
    let different: [fn(&mut Step); 16] = [
        |step| step.warmup_ms = 1,
        |step| step.ramp_ms = 1,
        |step| step.length = Length::Time { ms: 1 },
        |step| step.length = Length::Count { operations: 1 },
        |step| {
            step.settle = Some(Settle {
                idle_ms: 1,
                limit_ms: 2,
            });
        },
        |step| step.timing = Timing::WholeRun,
        |step| step.placement = Some(rule(PlacementRule::Apart)),
        |step| step.groups[0].clients = 3,
        |step| step.groups[0].reconnect_every = Some(1),
        |step| {
            step.groups[0].pace = Pace::Closed {
                think: Some(Think {
                    mean_us: 1,
                    spacing: Spacing::Regular,
                }),
            };
        },
        |step| {
            step.groups[0].pace = Pace::Open {
                rate: Thousandths(1),
                spacing: Spacing::Regular,
            };
        },
        |step| {
            step.groups[0].parameters.insert("range".into(), 11);
        },
        |step| step.groups[0].workload.transaction = true,
        |step| step.groups[0].workload.text_only = true,
        |step| step.groups[0].workload.statements[0].repeat = 2,
        |step| {
            let sql = "SELECT pad FROM {table} WHERE id = 1";
            step.groups[0].workload.statements[0].sql = sql.parse().unwrap();
        },
    ];
    for (index, change) in different.into_iter().enumerate() {
        let first = after(|plan| change(&mut plan.steps[0]));
        for other in &seen {
            assert_ne!(first[0], other[0], "{index}");
            assert_ne!(first[1], other[1], "{index}");
        }
        seen.push(first);
        let second = after(|plan| change(&mut plan.steps[1]));
        assert_eq!(second[0], before[0], "{index}");
        assert_ne!(second[1], before[1], "{index}");
    }
    let beside = after(|plan| plan.steps[1].groups[1].clients = 3);
    assert_eq!(beside[0], before[0]);
    assert_ne!(beside[1], before[1]);
    // Which of two steps comes first decides what the second one finds.
    let [_, swapped] = after(|plan| plan.steps.swap(0, 1));
    assert_ne!(swapped, before[1]);
}

/// The text that is hashed. Another text means that fingerprints of files written before are no
/// longer comparable.
#[test]
fn the_text_that_is_hashed_keeps_its_form() {
    let plan = plan();
    assert_eq!(
        line(plan.common_inputs(&plan.targets[0])),
        "{\"collect\":{\"cgroup\":true,\"counters\":\"auto\",\"period_ms\":1000,\
         \"status\":true,\"system\":true},\"dataset\":{\"primary_key\":true,\"rows\":1000,\
         \"schema\":\"sbtest\",\"seed\":7,\"tables\":1},\"dataset_version\":1,\
         \"engine\":\"innodb\",\"protocol\":\"prepared\",\"transport\":\"socket\"}\n"
    );
    assert_eq!(
        line(step_inputs(&plan.steps[0], Family::Mysql, None)),
        "{\"groups\":[{\"clients\":2,\"effect\":\"none\",\"parameters\":{\"range\":10},\
         \"schema\":\"sbtest\",\"statements\":[{\"change\":{\"rows\":0},\"name\":\"select\",\
         \"repeat\":1,\"sql\":\"SELECT c FROM {table} WHERE id = 1\",\"table\":\"random\"}],\
         \"text_only\":false,\"transaction\":false}],\"length\":{\"time\":{\"ms\":5000}},\
         \"ramp_ms\":0,\"timing\":\"operations\",\"warmup_ms\":1000}\n"
    );
}

#[test]
fn work_is_data_and_statements_and_neither_names_nor_lengths() {
    let works = |change: fn(&mut Plan)| {
        let mut plan = plan();
        change(&mut plan);
        plan.works()
    };
    let before = works(|_| {});
    assert_eq!(works(|plan| plan.steps[0].name = "other".into()), before);
    assert_eq!(works(|plan| plan.steps[0].warmup_ms += 1), before);
    assert_eq!(works(|plan| plan.seed += 1), before);
    assert_ne!(works(|plan| plan.dataset.rows += 1)[1], before[1]);
    assert_ne!(works(|plan| plan.dataset.seed += 1)[1], before[1]);
    let clients = works(|plan| plan.steps[0].groups.own_mut().clients += 1);
    assert_ne!(clients[0], before[0]);
    assert_eq!(clients[1], before[1]);
}

/// Words of other families change no measurement of a family.
#[test]
fn statements_count_in_the_words_of_the_target() {
    let with = |json: &str| {
        let mut plan = plan();
        let sql = serde_json::from_str(json).unwrap();
        plan.steps[0].groups.own_mut().workload.statements[0].sql = sql;
        (plan.fingerprints(), plan.works())
    };
    let before = with(r#""SELECT c FROM {table} WHERE id = 1""#);
    let any = r#""any":"SELECT c FROM {table} WHERE id = 1""#;
    let others = with(&format!("{{{any},\"postgresql\":\"SELECT 1\"}}"));
    assert_eq!(others, before);
    let own = with(&format!("{{{any},\"mysql\":\"SELECT 1\"}}"));
    assert_ne!(own.0, before.0);
    assert_ne!(own.1, before.1);
}
