//! The server, and what it counts.

use std::time::{Duration, Instant};

use prony_client::{Address, Connection, Login};
use prony_host::{Launcher, Roots};
use prony_load::{FillTask, Job, Task};
use prony_model::{Config, Dataset, Engine, StopFlag};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};

use crate::request::Request;

/// Where the table is.
pub(crate) const DATABASE: &str = "prony";
const TIMEOUT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(50);
/// In so many polls the connections that filled the table are gone.
const POLLS_IDLE: u32 = 20;

/// Queries of each client, after all are connected, that show that it has begun.
const BEGUN: u64 = 2;

/// A server with the filled table.
pub(crate) struct Server {
    running: Running,
    control: Connection,
    /// Connections while nobody contends.
    idle: u64,
}

/// What the server counts.
#[derive(Clone, Copy)]
pub(crate) struct Counters {
    /// Point queries of everybody: no other statement of a measured time is a `SELECT`.
    pub(crate) queries: u64,
    /// Connections, the one that asks among them.
    pub(crate) connections: u64,
}

impl Server {
    pub(crate) fn start(request: &Request, launcher: &Launcher) -> Self {
        let roots = Roots::from_environment().unwrap();
        let catalogue = Catalogue::embedded().unwrap();
        let stop = StopFlag::default();
        let depot = Depot::new(&roots, &catalogue, launcher);
        let build = depot.fetch(&request.build, &stop, &mut |_| ()).unwrap();
        let config = Config::default();
        let clients_max = request.clients.iter().copied().max().unwrap();
        let wanted = Wanted::over_socket(Engine::Innodb, &config, clients_max);
        let rendered = catalogue.render(&build.facts, wanted).unwrap();
        let mut instance = Instance::create(&roots, launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        let running = instance.start(&stop).unwrap();
        let control =
            Connection::connect(&running.admin_address(), &running.admin_login(), TIMEOUT).unwrap();
        let mut server = Self {
            running,
            control,
            idle: u64::MAX,
        };
        server.fill(request.rows);
        for _ in 0..POLLS_IDLE {
            server.idle = server.idle.min(server.counters().connections);
            std::thread::sleep(POLL);
        }
        server
    }

    /// Fills the table and leaves it in memory.
    fn fill(&self, rows: u32) {
        let login = self.login();
        let job = Job {
            address: self.address(),
            user: login.user,
            password: login.password,
            tls: login.tls,
            database: DATABASE.to_owned(),
            task: Task::Fill(FillTask {
                dataset: Dataset::sbtest(1, rows.into(), 1),
                engine: Engine::Innodb,
                connections: 2,
                own_server: true,
            }),
        };
        prony_load::run(&job, &mut std::io::empty(), &mut Vec::new()).unwrap();
    }

    pub(crate) fn address(&self) -> Address {
        self.running.admin_address()
    }

    /// The account that everybody uses: sysbench would show a password in its arguments, and the
    /// administrator of an own server has none.
    pub(crate) fn login(&self) -> Login {
        self.running.admin_login()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// Asks for the counters. The asking counts neither as a query nor as one less connection.
    pub(crate) fn counters(&mut self) -> Counters {
        let answer = self
            .control
            .query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Threads_connected')")
            .unwrap();
        let value = |name: &str| {
            let row = answer
                .rows
                .iter()
                .find(|row| row[0].as_deref() == Some(name));
            row.unwrap()[1].as_deref().unwrap().parse().unwrap()
        };
        Counters {
            queries: value("Com_select"),
            connections: value("Threads_connected"),
        }
    }

    /// Waits until nobody contends any more: the server takes a moment to see that a client is gone.
    pub(crate) fn wait_until_idle(&mut self) {
        let idle = self.idle;
        let gone = self.wait_until(|counters| counters.connections <= idle);
        assert!(
            gone,
            "connections of a contestant were still there a minute after its end"
        );
    }

    /// Waits until so many clients are connected and each has asked a few times.
    pub(crate) fn wait_until_begun(&mut self, clients: u64) {
        let connections = self.idle + clients;
        let mut first = None;
        let begun = self.wait_until(|counters| {
            if counters.connections < connections {
                return false;
            }
            let first = *first.get_or_insert(counters.queries);
            counters.queries - first >= BEGUN * clients
        });
        assert!(begun, "a contestant did not begin within a minute");
    }

    /// Waits until `done` says so of the counters; tells whether it did in time.
    fn wait_until(&mut self, mut done: impl FnMut(Counters) -> bool) -> bool {
        let end = Instant::now() + TIMEOUT;
        while Instant::now() < end {
            if done(self.counters()) {
                return true;
            }
            std::thread::sleep(POLL);
        }
        false
    }

    pub(crate) fn stop(self) {
        drop(self.control);
        self.running.stop(TIMEOUT).unwrap();
    }
}
