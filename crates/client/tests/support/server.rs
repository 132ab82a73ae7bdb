//! A real server on a unix socket and on TCP. Included by tests and by what records conversations.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

use std::path::Path;
use std::time::Duration;

use prony_client::{Answer, ClientError, Connection};
use prony_host::{Launcher, Roots};
use prony_model::{Config, Engine, Family, IntentValue, StopFlag, Transport};
use prony_servers::{Catalogue, Depot, Instance, Rendered, Running, Wanted};
use tempfile::TempDir;

pub const LIMIT: Duration = Duration::from_secs(30);

/// A real server on a unix socket and on TCP.
pub struct Server {
    pub running: Running,
    _scratch: TempDir,
}

/// Whether a server has a certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    Yes,
    No,
}

impl Server {
    pub fn start(id: &str, certificate: Certificate) -> Self {
        Self::start_with(id, certificate, |_| ())
    }

    pub fn start_with(id: &str, certificate: Certificate, change: impl Fn(&mut Rendered)) -> Self {
        let fetched = Roots::from_environment().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let roots = Roots {
            cache: scratch.path().to_owned(),
        };
        let catalogue = Catalogue::embedded().unwrap();
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
        let launcher = Launcher::new(guard).unwrap();
        let stop = StopFlag::default();
        let depot = Depot::new(&fetched, &catalogue, &launcher);
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        let tls = IntentValue::Flag(certificate == Certificate::Yes);
        let config = Config {
            intents: [("tls".to_owned(), tls)].into(),
            ..Config::default()
        };
        let wanted = Wanted {
            engine: match build.facts.family {
                Family::Mysql | Family::Mariadb => Engine::Innodb,
                Family::Postgresql => Engine::Heap,
            },
            config: &config,
            transport: Transport::Tcp,
            clients_max: 4,
            tables: 1,
            allow: &[],
        };
        let mut rendered = catalogue.render(&build.facts, wanted).unwrap();
        change(&mut rendered);
        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        let running = instance.start(&stop).unwrap();
        Self {
            running,
            _scratch: scratch,
        }
    }

    pub fn admin(&self, sql: &str) {
        self.try_admin(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub fn try_admin(&self, sql: &str) -> Result<Answer, ClientError> {
        let login = self.running.admin_login();
        Connection::connect(&self.running.admin_address(), &login, LIMIT)?.query(sql)
    }
}
