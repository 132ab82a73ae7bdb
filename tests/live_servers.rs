//! Real servers: every build is fetched, bootstrapped, loaded and driven with every workload; what
//! the load generator says it did is compared with what plain SQL finds afterwards.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use prony_client::Connection;
use prony_host::{Launcher, Roots};
use prony_load::{DriveTask, FillTask, Job, Message, Task, verify_table};
use prony_model::{
    Backend, Config, Dataset, Engine, GroupOutcome, Length, Protocol, StopFlag, Workload,
};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};
use support::{PRONY, live, nothing_left_of};

const DATASET: Dataset = Dataset::sbtest(2, 3_000, 11);
const CLIENTS: u32 = 3;
const OPERATIONS: u64 = 300;

/// A running server with the dataset, in one engine.
struct Loaded {
    server: Running,
    launcher: Launcher,
    engine: Engine,
}

/// Content of both tables together, as SQL finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Content {
    rows: i64,
    sum_k: i64,
    /// Sum of the checksums of `c`.
    sum_c: i64,
}

#[test]
fn mysql_5_0() {
    every_workload(
        "mysql-5.0.21",
        &[Engine::Innodb, Engine::Myisam, Engine::Memory],
    );
}

#[test]
fn mysql_5_5() {
    every_workload("mysql-5.5.34", &[Engine::Innodb]);
}

#[test]
fn mysql_5_6() {
    every_workload("mysql-5.6.24", &[Engine::Innodb]);
}

#[test]
fn mysql_5_7() {
    every_workload("mysql-5.7.22", &[Engine::Innodb, Engine::Myisam]);
}

#[test]
fn mysql_8_0() {
    every_workload("mysql-8.0.31", &[Engine::Innodb, Engine::Myisam]);
}

#[test]
fn mysql_9_7() {
    every_workload(
        "mysql-9.7",
        &[Engine::Innodb, Engine::Myisam, Engine::Memory],
    );
}

#[test]
fn mariadb_10_11() {
    every_workload("mariadb-10.11", &[Engine::Innodb, Engine::Myisam]);
}

/// Fetches and starts a build, and for each engine loads the dataset and runs all workloads.
fn every_workload(build: &str, engines: &[Engine]) {
    if !live() {
        return;
    }
    let roots = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let launcher = Launcher::new(PRONY.into()).unwrap();
    let stop = StopFlag::default();
    let depot = Depot::new(&roots, &catalogue, &launcher);
    let build = depot.fetch(build, &stop, &mut |_| ()).unwrap();
    let rendered = catalogue
        .render(
            &build.facts,
            Wanted::over_socket(engines[0], &Config::default(), 8),
        )
        .unwrap();
    let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
    instance.bootstrap(&stop).unwrap();
    let mut server = instance.start(&stop).unwrap();
    let pid = server.pid();
    for engine in engines {
        let loaded = Loaded {
            server,
            launcher: launcher.clone(),
            engine: *engine,
        };
        for protocol in [Protocol::Prepared, Protocol::Text] {
            loaded.fill();
            loaded.reads(protocol);
            loaded.writes(protocol);
        }
        server = loaded.server;
    }
    drop(server.stop(Duration::from_mins(1)).unwrap());
    assert!(
        !std::path::Path::new(&format!("/proc/{pid}")).exists(),
        "the server still runs"
    );
}

impl Loaded {
    fn fill(&self) {
        let task = FillTask {
            dataset: DATASET,
            engine: self.engine,
            connections: 2,
            own_server: true,
            hold: false,
            flush_statistics: false,
        };
        let messages = self.job(Task::Fill(task));
        let Some(Message::Filled { outcome }) = messages.last() else {
            panic!("{:?}", messages.last());
        };
        assert_eq!(outcome.rows, 6_000);
        let mut connection = self.connect();
        for table in 0..DATASET.tables {
            verify_table(&mut connection, &DATASET, table).unwrap();
        }
    }

    /// Workloads that change nothing: right counts, and the same content afterwards.
    fn reads(&self, protocol: Protocol) {
        let before = self.content();
        let point = self.drive("point-query", protocol);
        assert_eq!(rows(&point), [("point", OPERATIONS, OPERATIONS)]);
        let range = self.drive("range-notcovered-pk", protocol);
        assert_eq!(rows(&range), [("range", OPERATIONS, OPERATIONS * 101)]);
        let scan = self.drive("scan", protocol);
        assert_eq!(rows(&scan), [("scan", OPERATIONS, 0)]);
        let mixed = self.drive("read-only", protocol);
        let mut expected = vec![
            ("point", 10 * OPERATIONS, 10 * OPERATIONS),
            ("range", OPERATIONS, 100 * OPERATIONS),
            ("sum", OPERATIONS, OPERATIONS),
            ("order", OPERATIONS, 100 * OPERATIONS),
            ("distinct", OPERATIONS, 100 * OPERATIONS),
        ];
        if self.engine.transactional() {
            expected.extend([("begin", OPERATIONS, 0), ("commit", OPERATIONS, 0)]);
        }
        assert_eq!(rows(&mixed), expected);
        assert_eq!(self.content(), before);
    }

    /// Workloads that change rows: plain SQL finds as much change as was counted.
    fn writes(&self, protocol: Protocol) {
        let before = self.content();
        self.drive("update-index", protocol);
        let indexed = self.content();
        let sum_k = before.sum_k + i64::try_from(OPERATIONS).unwrap();
        assert_eq!(indexed, Content { sum_k, ..before });

        let outcome = self.drive("update-nonindex", protocol);
        assert_eq!(outcome.statements[0].affected, OPERATIONS);
        let updated = self.content();
        assert_eq!(
            Content {
                sum_c: 0,
                ..updated
            },
            Content {
                sum_c: 0,
                ..indexed
            }
        );
        assert_ne!(updated.sum_c, indexed.sum_c);

        let outcome = self.drive("delete", protocol);
        let deleted = i64::try_from(outcome.statements[0].affected).unwrap();
        assert!(deleted > 0);
        assert_eq!(self.content().rows, updated.rows - deleted);

        let before_insert = self.content();
        self.drive("insert", protocol);
        let inserted = i64::try_from(OPERATIONS).unwrap();
        assert_eq!(self.content().rows, before_insert.rows + inserted);
    }

    /// Runs a fixed number of operations of a workload; no answer may be unexpected.
    fn drive(&self, name: &str, protocol: Protocol) -> GroupOutcome {
        let length = Length::Count {
            operations: OPERATIONS,
        };
        let task = DriveTask {
            transactional: self.engine.transactional(),
            protocol,
            seed: 5,
            ..DriveTask::closed_loop(workload(name), CLIENTS, DATASET, length, Backend::Epoll)
        };
        let messages = self.job(Task::Drive(Box::new(task)));
        let Some(Message::Done { outcome }) = messages.last() else {
            panic!("{name} {protocol:?}: {:?}", messages.last());
        };
        let own = outcome.groups.own();
        assert_eq!(own.operations, OPERATIONS, "{name}");
        assert_eq!((own.clients, outcome.threads), (CLIENTS, 2), "{name}");
        assert!(own.errors.is_empty(), "{name}: {:?}", own.errors);
        for statement in &own.statements {
            assert_eq!(statement.unexpected, 0, "{name}: {statement:?}");
        }
        own.clone()
    }

    /// Hands a job to the load generator and returns what it says.
    fn job(&self, task: Task) -> Vec<Message> {
        let login = self.server.load_login();
        let job = Job {
            family: login.family,
            address: self.server.address(),
            user: login.user,
            password: login.password,
            tls: login.tls,
            database: "prony".into(),
            task,
        };
        let mut command = self.launcher.command(PRONY);
        command
            .arg("generator")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = self.launcher.spawn(command).unwrap();
        let child = process.child();
        // It stays open: its end would end the generator.
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", serde_json::to_string(&job).unwrap()).unwrap();
        let output = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn content(&self) -> Content {
        let mut connection = self.connect();
        let mut content = Content {
            rows: 0,
            sum_k: 0,
            sum_c: 0,
        };
        for table in 0..DATASET.tables {
            let name = DATASET.table_name(table);
            let sql = format!("SELECT COUNT(*), SUM(k), SUM(CRC32(c)) FROM {name}");
            let answer = connection.query(&sql).unwrap();
            let number = |at: usize| answer.rows[0][at].as_ref().unwrap().parse::<i64>().unwrap();
            content.rows += number(0);
            content.sum_k += number(1);
            content.sum_c += number(2);
        }
        content
    }

    fn connect(&self) -> Connection {
        let limit = Duration::from_mins(1);
        Connection::connect(&self.server.address(), &self.server.load_login(), limit).unwrap()
    }
}

/// An embedded workload with its expectations at its own parameters.
fn workload(name: &str) -> Workload {
    let all = prony_plan::embedded_workloads().unwrap();
    all.into_iter()
        .find(|workload| workload.name == name)
        .unwrap()
}

/// Name, count and rows of every statement.
fn rows(outcome: &GroupOutcome) -> Vec<(&str, u64, u64)> {
    let statements = outcome.statements.iter();
    statements
        .map(|statement| (statement.name.as_str(), statement.count, statement.rows))
        .collect()
}

#[test]
fn a_shell_starts_says_how_to_connect_and_stops_on_ctrl_c() {
    if !live() {
        return;
    }
    let mut command = std::process::Command::new(PRONY);
    command
        .args(["servers", "shell", "mysql-5.7.22"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    while !said.contains("Ctrl-C") {
        assert_ne!(
            std::io::BufRead::read_line(&mut output, &mut said).unwrap(),
            0,
            "{said}"
        );
    }
    let socket = said
        .lines()
        .find_map(|line| line.strip_prefix("socket"))
        .unwrap()
        .trim();
    let address = prony_client::Address::Unix(socket.into());
    let login = prony_client::Login {
        family: prony_model::Family::Mysql,
        user: "root".into(),
        password: String::new(),
        database: None,
        tls: prony_model::Tls::Off,
    };
    let mut connection = Connection::connect(&address, &login, Duration::from_secs(10)).unwrap();
    let version = connection.query("SELECT VERSION()").unwrap();
    assert_eq!(version.single(), Some("5.7.22"));
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!std::path::Path::new(socket).exists());
    nothing_left_of(child.id(), Duration::from_secs(5));
}
