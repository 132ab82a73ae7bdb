//! Real servers of the catalogue: how their processes are set up, and how they are reached.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use prony_client::Connection;
use prony_host::{Launcher, Roots};
use prony_model::{Address, Allocator, Config, Engine, IntentValue, StopFlag, Tls, Transport};
use prony_servers::{Catalogue, Depot, Instance, InstanceError, Running, ServerBuild, Wanted};
use support::{PRONY, finish, live, prony};

const LIMIT: Duration = Duration::from_mins(1);
/// `CLIENT_SSL` in the lower half of a greeting's capabilities.
const CLIENT_SSL: u16 = 0x0800;

/// Servers with every kind of account table and encryption library.
/// And whether they can encrypt.
const REACHED: [(&str, bool); 8] = [
    ("mysql-4.1.13", false),
    ("mysql-5.0.21", false),
    ("mysql-5.7.29", true),
    ("mysql-8.0.31", true),
    ("mysql-9.7", true),
    ("mariadb-10.1.8", false),
    ("mariadb-10.5", true),
    ("mariadb-11.4.5", true),
];

/// The parts that every test here needs.
struct Stage {
    fetched: Roots,
    roots: Roots,
    catalogue: Catalogue,
    launcher: Launcher,
    _scratch: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        Self {
            fetched: Roots::from_environment().unwrap(),
            roots: Roots {
                cache: scratch.path().to_owned(),
            },
            catalogue: Catalogue::embedded().unwrap(),
            launcher: Launcher::new(PRONY.into()).unwrap(),
            _scratch: scratch,
        }
    }

    fn build(&self, id: &str, allocator: Allocator) -> ServerBuild {
        let depot = Depot::new(&self.fetched, &self.catalogue, &self.launcher);
        let stop = StopFlag::default();
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        depot
            .with_allocator(build, allocator, &stop, &mut |_| ())
            .unwrap()
    }

    fn start(
        &self,
        build: &ServerBuild,
        intents: &[(&str, IntentValue)],
        transport: Transport,
    ) -> Result<Running, InstanceError> {
        let asked = |(name, value): &(&str, IntentValue)| ((*name).to_owned(), value.clone());
        let config = Config {
            intents: intents.iter().map(asked).collect(),
            ..Config::default()
        };
        let wanted = Wanted {
            engine: Engine::Innodb,
            config: &config,
            transport,
            clients_max: 4,
            tables: 1,
            allow: &[],
        };
        let rendered = self.catalogue.render(&build.facts, wanted).unwrap();
        let stop = StopFlag::default();
        let mut instance = Instance::create(&self.roots, &self.launcher, build, &rendered)?;
        instance.bootstrap(&stop)?;
        instance.start(&stop)
    }
}

fn text(value: &str) -> IntentValue {
    IntentValue::Text(value.to_owned())
}

fn ask(server: &Running, sql: &str) -> Vec<Vec<Option<String>>> {
    let (address, login) = (server.admin_address(), server.admin_login());
    let mut admin = Connection::connect(&address, &login, LIMIT).unwrap();
    admin.query(sql).unwrap().rows
}

/// Every build starts, answers, makes and reads a table in every engine, and stops.
#[test]
fn every_build_is_what_the_catalogue_promises() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Nobody's own catalogue takes part.
    let mut command = prony(folder.path(), &["servers", "verify", "--all"]);
    command.env("XDG_CONFIG_HOME", folder.path());
    let verified = finish(command).exits(0);
    let builds = Catalogue::embedded().unwrap().facts();
    for build in &builds {
        let line = format!("{}: ok, ", build.id);
        let line = verified.stdout.lines().find(|said| said.starts_with(&line));
        let engines = build.engines.iter().map(|engine| engine.name());
        let engines = engines.collect::<Vec<_>>().join(", ");
        assert!(line.unwrap().ends_with(&engines), "{}", build.id);
    }
    assert_eq!(verified.stdout.lines().count(), builds.len());
}

/// One build for each C library that allocators are preloaded into.
#[test]
fn allocators_are_preloaded_and_seen() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for (id, built) in [
        ("mysql-5.0.21", "libc"),
        ("mysql-8.0.31", "libc"),
        ("mysql-9.7", "tcmalloc"),
        ("mariadb-10.1.8", "jemalloc"),
        ("mariadb-10.5", "libc"),
        ("mariadb-11.8", "libc"),
    ] {
        for allocator in [Allocator::Built, Allocator::Jemalloc, Allocator::Tcmalloc] {
            let build = stage.build(id, allocator);
            let intents = [("allocator", text(allocator.name()))];
            let server = stage.start(&build, &intents, Transport::Socket).unwrap();
            let expected = match allocator {
                Allocator::Built => built,
                preloaded => preloaded.name(),
            };
            assert_eq!(server.allocator().unwrap(), expected, "{id}");
            // MariaDB says itself which one it is; jemalloc before 4 and tcmalloc have no name.
            let said = ask(&server, "SHOW VARIABLES LIKE 'version_malloc_library'");
            let said = said.first().and_then(|row| row[1].clone());
            if let (Some(said), Allocator::Jemalloc) = (said, allocator) {
                assert!(said.contains("jemalloc"), "{id}: {said}");
            }
            server.stop(LIMIT).unwrap();
        }
    }
}

#[test]
fn huge_pages_are_as_asked() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for id in ["mysql-5.0.21", "mysql-8.0.31"] {
        let build = stage.build(id, Allocator::Built);
        let intents = [("huge_pages", text("never"))];
        let server = stage.start(&build, &intents, Transport::Socket).unwrap();
        let pid = server.pid().to_string();
        // The line came with Linux 6.8.
        if let Some(enabled) = status_of(&pid, "THP_enabled") {
            assert_eq!(enabled, "0", "{id}");
        }
        server.stop(LIMIT).unwrap();
    }
}

fn status_of(process: &str, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// Servers listen on the loopback interface only; those that can encrypt say so when they
/// are asked to, and only then.
#[test]
fn servers_are_reached_over_tcp() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    for (id, encrypts) in REACHED {
        let build = stage.build(id, Allocator::Built);
        let plain = stage.start(&build, &[], Transport::Tcp).unwrap();
        assert_eq!(plain.load_login().tls, Tls::Off, "{id}");
        assert!(!offers_encryption(&plain), "{id}");
        let hosts = "SELECT Host FROM mysql.user WHERE User = 'prony' ORDER BY Host";
        let hosts: Vec<_> = ask(&plain, hosts).into_iter().flatten().flatten().collect();
        assert_eq!(hosts, ["127.0.0.1", "localhost"], "{id}");
        assert_eq!(cipher(&plain), "", "{id}");
        plain.stop(LIMIT).unwrap();

        let on = [("tls", IntentValue::Flag(true))];
        let config = Config {
            intents: BTreeMap::from([("tls".to_owned(), IntentValue::Flag(true))]),
            ..Config::default()
        };
        let wanted = Wanted::over_socket(Engine::Innodb, &config, 4);
        let rendered = stage.catalogue.render(&build.facts, wanted);
        assert_eq!(rendered.is_ok(), encrypts, "{id}");
        if encrypts {
            let server = stage.start(&build, &on, Transport::Tcp).unwrap();
            let Tls::VerifyFull(authority) = server.load_login().tls else {
                panic!("{id} is not verified");
            };
            assert!(authority.is_file(), "{id}");
            assert!(offers_encryption(&server), "{id}");
            assert_ne!(cipher(&server), "", "{id}");
            server.stop(LIMIT).unwrap();
        }
    }
}

/// The cipher of a connection of the load; empty where there is none.
fn cipher(server: &Running) -> String {
    let (address, login) = (server.address(), server.load_login());
    let mut load = Connection::connect(&address, &login, LIMIT).unwrap();
    let status = load.query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
    // Servers without an encryption library have no such status.
    let row = status.rows.into_iter().next().unwrap_or_default();
    row.into_iter().nth(1).flatten().unwrap_or_default()
}

/// Tells if the greeting over TCP has the capability.
fn offers_encryption(server: &Running) -> bool {
    let Address::Tcp(address) = server.address() else {
        panic!("{} listens on no port", server.build().id);
    };
    assert!(address.ip().is_loopback());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut greeting = vec![0; 4];
    stream.read_exact(&mut greeting).unwrap();
    greeting.resize(usize::from(greeting[0]), 0);
    stream.read_exact(&mut greeting).unwrap();
    // Protocol, version, zero, connection, first part of the nonce, zero.
    let version = greeting.iter().skip(1).position(|b| *b == 0).unwrap();
    let at = 1 + version + 1 + 4 + 8 + 1;
    let capabilities = u16::from_le_bytes([greeting[at], greeting[at + 1]]);
    capabilities & CLIENT_SSL != 0
}
