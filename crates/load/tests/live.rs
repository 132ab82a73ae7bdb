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

use live_gate::live;
use prony_client::Address;
use prony_load::{DriveTask, FillTask, Job, Message, Task};
use prony_model::{
    Config, Dataset, Engine, IntentValue, Length, Protocol, StepOutcome, StopFlag, Tls, Transport,
    Workload,
};
use prony_servers::{Catalogue, Depot, Instance, Launcher, Roots, Running, Wanted};

const CLIENTS_MAX: u32 = 64;
const OPERATIONS: u64 = 2000;
const DATASET: Dataset = Dataset::sbtest(1, 1000, 1);

/// A server with a certificate, on TCP and on its socket.
fn start(roots: &Roots) -> Running {
    let fetched = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/fixtures/guard");
    let launcher = Launcher::new(guard).unwrap();
    let stop = StopFlag::default();
    let depot = Depot::new(&fetched, &catalogue, &launcher);
    let build = depot.fetch("mysql-8.0.31", &stop, &mut |_| ()).unwrap();
    let config = Config {
        intents: [("tls".to_owned(), IntentValue::Flag(true))].into(),
        ..Config::default()
    };
    let wanted = Wanted {
        engine: Engine::Innodb,
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

fn run(server: &Running, address: Address, tls: Tls, task: Task) -> Vec<Message> {
    let login = server.load_login();
    let job = Job {
        address,
        user: login.user,
        password: login.password,
        tls,
        database: login.database.unwrap(),
        task,
    };
    let mut out = Vec::new();
    prony_load::run(&job, &mut out).unwrap_or_else(|error| panic!("{error}"));
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
    Task::Drive(Box::new(DriveTask {
        workload,
        parameters: BTreeMap::new(),
        dataset: DATASET,
        transactional: true,
        protocol: Protocol::Prepared,
        clients,
        threads_max: 2,
        seed: 1,
        warmup_ms: 0,
        length: Length::Count {
            operations: OPERATIONS,
        },
        interval_ms: 1000,
        stall_ms: 20_000,
        timing: prony_model::Timing::Operations,
    }))
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
    let server = start(&roots);
    let verified = server.load_login().tls;
    let fill = Task::Fill(FillTask {
        dataset: DATASET,
        engine: Engine::Innodb,
        connections: 2,
        own_server: true,
    });
    run(&server, server.address(), verified.clone(), fill);
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
                assert_eq!(outcome.operations, OPERATIONS, "{name} over {address}");
                assert_eq!(outcome.errors, [], "{name} over {address}");
            }
        }
    }
}
