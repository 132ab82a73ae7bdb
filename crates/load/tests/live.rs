//! The generator on a real server over everything that can carry load.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

#[path = "../../../tests/live_gate.rs"]
mod live_gate;

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use live_gate::live;
use prony_client::{Address, Connection};
use prony_host::{Launcher, Roots};
use prony_load::{CheckOutcome, CheckTask, DriveTask, FillTask, Job, Message, Task, violations};
use prony_model::{
    Backend, Config, Dataset, Distribution, Effect, Engine, Generator, Hot, IntentValue, Length,
    Param, Protocol, Schema, StepOutcome, StopFlag, Thousandths, Timing, Tls, Transport, Workload,
};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};

const CLIENTS_MAX: u32 = 64;
const OPERATIONS: u64 = 2000;
const DATASET: Dataset = Dataset::sbtest(1, 1000, 1);

/// A server on TCP and on its socket, with a certificate where `tls` is set.
fn start(roots: &Roots, build: &str, engine: Engine, tls: bool) -> Running {
    let fetched = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
    let launcher = Launcher::new(guard).unwrap();
    let stop = StopFlag::default();
    let depot = Depot::new(&fetched, &catalogue, &launcher);
    let build = depot.fetch(build, &stop, &mut |_| ()).unwrap();
    let intent = tls.then(|| ("tls".to_owned(), IntentValue::Flag(true)));
    let config = Config {
        intents: intent.into_iter().collect(),
        ..Config::default()
    };
    let wanted = Wanted {
        engine,
        config: &config,
        transport: Transport::Tcp,
        clients_max: CLIENTS_MAX,
        tables: 1,
        allow: &[],
    };
    let rendered = catalogue.render(&build.facts, wanted).unwrap();
    let mut instance = Instance::create(roots, &launcher, &build, &rendered).unwrap();
    instance.bootstrap(&stop).unwrap();
    instance.start(&stop).unwrap()
}

fn job(server: &Running, address: Address, tls: Tls, task: Task) -> Job {
    let login = server.load_login();
    Job {
        family: login.family,
        address,
        user: login.user,
        password: login.password,
        tls,
        database: login.database.unwrap(),
        task,
    }
}

fn run(server: &Running, address: Address, tls: Tls, task: Task) -> Vec<Message> {
    let job = job(server, address, tls, task);
    let mut out = Vec::new();
    prony_load::run(&job, &mut std::io::empty(), &mut out)
        .unwrap_or_else(|error| panic!("{error}"));
    out.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn workload(name: &str) -> Workload {
    let all = prony_plan::embedded_workloads().unwrap();
    all.into_iter()
        .find(|workload| workload.name == name)
        .unwrap()
}

fn drive(workload: Workload, clients: u32) -> Task {
    let length = Length::Count {
        operations: OPERATIONS,
    };
    let task = DriveTask::closed_loop(workload, clients, DATASET, length, Backend::Epoll);
    Task::Drive(Box::new(task))
}

fn fill(engine: Engine) -> Task {
    Task::Fill(FillTask {
        dataset: DATASET,
        engine,
        connections: 2,
        own_server: true,
        hold: false,
        flush_statistics: false,
    })
}

fn outcome(messages: Vec<Message>) -> StepOutcome {
    match messages.into_iter().last() {
        Some(Message::Done { outcome }) => *outcome,
        other => panic!("expected the outcome, got {other:?}"),
    }
}

#[test]
fn every_transport_with_few_and_many_clients() {
    if !live() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let server = start(&roots, "mysql-8.0.31", Engine::Innodb, true);
    let verified = server.load_login().tls;
    run(
        &server,
        server.address(),
        verified.clone(),
        fill(Engine::Innodb),
    );
    for (address, tls) in [
        (server.admin_address(), Tls::Off),
        (server.admin_address(), Tls::Required),
        (server.address(), Tls::Off),
        (server.address(), verified),
    ] {
        for clients in [1, 8, CLIENTS_MAX] {
            // Long answers take many records of TLS, which end anywhere.
            for name in ["point-query", "range-notcovered-pk"] {
                let task = drive(workload(name), clients);
                let outcome = outcome(run(&server, address.clone(), tls.clone(), task));
                assert_eq!(
                    outcome.groups.own().operations,
                    OPERATIONS,
                    "{name} over {address}"
                );
                assert_eq!(outcome.groups.own().errors, [], "{name} over {address}");
            }
            let mut task = drive(workload("point-query"), clients);
            if let Task::Drive(task) = &mut task {
                task.groups.own_mut().reconnect_every = Some(5);
            }
            let outcome = outcome(run(&server, address.clone(), tls.clone(), task));
            assert_eq!(
                outcome.groups.own().operations,
                OPERATIONS,
                "anew over {address}"
            );
            assert_eq!(outcome.groups.own().errors, [], "anew over {address}");
            let connects = outcome
                .groups
                .own()
                .statements
                .iter()
                .find(|it| it.name == "connect")
                .unwrap();
            let at_least = OPERATIONS / 5 - u64::from(clients);
            assert!(connects.count >= at_least, "{connects:?} over {address}");
        }
    }
}

/// Point queries turned into one over a list of keys, drawn by `distribution`.
fn in_list(distribution: Distribution) -> Workload {
    let mut workload = workload("point-query");
    workload.parameters.insert("range".into(), 20);
    let statement = &mut workload.statements[0];
    let sql = "SELECT id, c FROM {table} WHERE id IN ({ids:list})";
    statement.sql = sql.parse().unwrap();
    statement.expect.rows = Some("1..20".parse().unwrap());
    statement.params = vec![Param {
        name: "ids".into(),
        generator: Generator::Draw {
            low: "1".parse().unwrap(),
            high: "rows".parse().unwrap(),
            distribution,
            count: Some("range".parse().unwrap()),
        },
    }];
    workload
}

fn check(server: &Running, workload: &Workload, engine: Engine) -> CheckOutcome {
    let mut workload = workload.clone();
    // Of a mix, what is asked rarely is checked as well as the rest.
    for weight in workload
        .statements
        .iter_mut()
        .filter_map(|s| s.weight.as_mut())
    {
        *weight = 1;
    }
    let task = Task::Check(Box::new(CheckTask {
        workload,
        parameters: BTreeMap::new(),
        dataset: DATASET,
        transactional: engine.transactional(),
        operations: 50,
        seed: 3,
    }));
    match run(server, server.admin_address(), Tls::Off, task).pop() {
        Some(Message::Checked { outcome }) => *outcome,
        other => panic!("expected the outcome, got {other:?}"),
    }
}

/// Every workload is answered rightly, and all servers give the same answers.
#[test]
fn checks_on_old_and_new_servers() {
    if !live() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let distributions = [
        Distribution::Unique,
        Distribution::Zipfian {
            exponent: Thousandths(800),
            hot: Hot::Scattered,
        },
    ];
    let workloads: Vec<Workload> = prony_plan::embedded_workloads()
        .unwrap()
        .into_iter()
        .filter(|workload| workload.schema == DATASET.schema)
        // What servers say of a change of a table is in words of their version.
        .filter(|workload| !workload.goes_through_tables())
        .chain(distributions.map(in_list))
        .collect();
    let mut all = Vec::new();
    for (build, engine) in [
        ("mysql-5.0.21", Engine::Myisam),
        ("mysql-8.0.31", Engine::Innodb),
    ] {
        let server = start(&roots, build, engine, false);
        let mut outcomes = Vec::new();
        for workload in &workloads {
            run(&server, server.admin_address(), Tls::Off, fill(engine));
            let outcome = check(&server, workload, engine);
            let name = &workload.name;
            assert_eq!(outcome.wrong(workload), [""; 0], "{name} on {build}");
            let worked = outcome.statements.iter().any(|s| s.affected > 0);
            assert_eq!(worked, workload.effect != Effect::None, "{name} on {build}");
            outcomes.push(outcome);
        }
        all.push(outcomes);
    }
    for (old, new) in all[0].iter().zip(&all[1]) {
        assert_eq!(old, new);
    }
}

/// Lists and skewed values reach the server as they were drawn, in both protocols, also where the
/// whole run is timed.
#[test]
fn lists_are_answered_in_both_protocols() {
    if !live() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let server = start(&roots, "mysql-8.0.31", Engine::Innodb, false);
    let address = server.admin_address();
    run(&server, address.clone(), Tls::Off, fill(Engine::Innodb));
    for timing in [Timing::Operations, Timing::WholeRun] {
        let rows: Vec<u64> = [Protocol::Prepared, Protocol::Text]
            .into_iter()
            .map(|protocol| {
                let Task::Drive(mut task) = drive(
                    in_list(Distribution::Pareto {
                        h: Thousandths(200),
                    }),
                    8,
                ) else {
                    panic!("a drive task");
                };
                task.protocol = protocol;
                task.timing = timing;
                let outcome = outcome(run(&server, address.clone(), Tls::Off, Task::Drive(task)));
                assert_eq!(outcome.groups.own().operations, OPERATIONS);
                let [statement] = outcome.groups.own().statements.as_slice() else {
                    panic!("one statement");
                };
                assert_eq!((statement.count, statement.unexpected), (OPERATIONS, 0));
                if timing == Timing::WholeRun {
                    assert_eq!(
                        outcome.groups.own().busy_ns,
                        8 * (outcome.end_ns - outcome.start_ns)
                    );
                }
                statement.rows
            })
            .collect();
        assert_eq!(rows[0], rows[1]);
    }
}

/// The rows of orders, and the violated conditions.
fn orders(server: &Running, dataset: &Dataset) -> (u64, Vec<String>) {
    let login = server.load_login();
    let limit = Duration::from_mins(1);
    let mut connection = Connection::connect(&server.admin_address(), &login, limit).unwrap();
    let count = connection.query("SELECT COUNT(*) FROM orders1").unwrap();
    let rows = count.single().unwrap().parse().unwrap();
    (rows, violations(&mut connection, dataset).unwrap())
}

/// The server is killed in the middle of transactions over many tables. What is there when it is back
/// is that of whole transactions; and the conditions tell when it is not.
#[test]
fn conditions_hold_after_a_crash() {
    if !live() {
        return;
    }
    crash_in_the_middle("mysql-8.0.31", Engine::Innodb);
    crash_in_the_middle("postgresql-18.6", Engine::Heap);
}

fn crash_in_the_middle(build: &str, engine: Engine) {
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let server = start(&roots, build, engine, false);
    let dataset = Dataset {
        schema: Schema::built_in("wholesale").unwrap(),
        ..Dataset::sbtest(1, 1, 1)
    };
    let task = Task::Fill(FillTask {
        dataset,
        engine,
        connections: 2,
        own_server: true,
        hold: false,
        flush_statistics: false,
    });
    run(&server, server.admin_address(), Tls::Off, task);
    let (loaded, violated) = orders(&server, &dataset);
    assert_eq!((loaded, violated), (30_000, vec![]));

    let length = Length::Time { ms: 600_000 };
    let wholesale = workload("wholesale");
    let task = DriveTask::closed_loop(wholesale, 4, dataset, length, Backend::Epoll);
    let task = Task::Drive(Box::new(task));
    let endless = job(&server, server.admin_address(), Tls::Off, task);
    let driving = thread::spawn(move || {
        prony_load::run(&endless, &mut std::io::empty(), &mut std::io::sink())
            .map_err(|error| error.to_string())
    });
    while orders(&server, &dataset).0 < loaded + 200 {
        thread::sleep(Duration::from_millis(20));
    }
    let instance = server.crash();
    driving.join().unwrap().unwrap_err();

    let server = instance.start(&StopFlag::default()).unwrap();
    let (rows, violated) = orders(&server, &dataset);
    assert!(rows > loaded, "{rows}");
    assert_eq!(violated, [""; 0]);

    let login = server.load_login();
    let limit = Duration::from_mins(1);
    let mut connection = Connection::connect(&server.admin_address(), &login, limit).unwrap();
    let spoil = "UPDATE districts1 SET ytd = ytd + 1 WHERE id = 3";
    connection.query(spoil).unwrap();
    let (_, violated) = orders(&server, &dataset);
    assert_eq!(
        violated,
        [
            "the condition `warehouses-are-districts` of warehouses1 is violated 1 times",
            "the condition `districts-are-payments` of warehouses1 is violated 1 times"
        ]
    );
}
