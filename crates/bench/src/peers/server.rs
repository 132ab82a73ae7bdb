//! The server, and its counters.

use std::time::{Duration, Instant};
use std::{fs, io};

use prony_client::Connection;
use prony_host::Launcher;
use prony_load::{Job, Task};
use prony_model::{Config, Dataset, Engine, IntentValue};
use prony_probe::{Root, ThreadsSample};
use prony_servers::Running;

use crate::job::{fill, job, start_server, usual_engine};

const TIMEOUT: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(50);
/// Polls after which the connections that filled the table are gone.
const POLLS_IDLE: u32 = 20;
/// Queries of each client, after all are connected, that prove its start.
const BEGUN: u64 = 2;

/// A server with the filled table.
pub(super) struct Server {
    engine: Engine,
    running: Running,
    control: Connection,
    /// Connections while no contestant runs.
    idle: u64,
}

/// Counters of the server.
#[derive(Clone, Copy)]
pub(super) struct Counters {
    /// Point queries of all clients: no other statement of a measured time is a `SELECT`.
    pub(super) queries: u64,
    /// Connections, including the one that reads the counters.
    connections: u64,
}

impl Server {
    pub(super) fn start(launcher: &Launcher, build: &str, clients_max: u32, rows: u64) -> Self {
        let engine = usual_engine(build);
        let mut config = Config::default();
        if engine == Engine::Heap {
            // Its own counters are a second behind; those of this library, which are not, cost all
            // contestants the same.
            let counts = ("statement_statistics".to_owned(), IntentValue::Flag(true));
            config.intents.extend([counts]);
        }
        let running = start_server(launcher, build, engine, &config, clients_max);
        let (address, login) = (running.admin_address(), running.admin_login());
        let mut server = Self {
            control: Connection::connect(&address, &login, TIMEOUT).unwrap(),
            engine,
            running,
            idle: u64::MAX,
        };
        if engine == Engine::Heap {
            let create = "CREATE EXTENSION pg_stat_statements";
            server.control.query(create).unwrap();
        }
        let fill = server.job(fill(Dataset::sbtest(1, rows, 1), engine));
        prony_load::run(&fill, &mut io::empty(), &mut Vec::new()).unwrap();
        for _ in 0..POLLS_IDLE {
            server.idle = server.idle.min(server.counters().connections);
            std::thread::sleep(POLL);
        }
        server
    }

    /// A job with the account that all contestants use: sysbench would show a password in its
    /// arguments, and the administrator of an own server has none.
    pub(super) fn job(&self, task: Task) -> Job {
        let login = self.running.admin_login();
        job(self.running.admin_address(), login, task)
    }

    /// Processor time of all its processes, in nanoseconds. Those of connections that ended are missing.
    pub(super) fn run_ns(&self) -> u64 {
        let proc = Root::live();
        let children = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = fs::read_to_string(children).unwrap_or_default();
        let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
        let processes = std::iter::once(self.pid()).chain(children);
        let times = processes.filter_map(|pid| ThreadsSample::take(&proc, pid).ok());
        times.map(|sample| sample.run_ns).sum()
    }

    pub(super) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// Reads the counters. The reading counts neither as a query nor as one less connection.
    pub(super) fn counters(&mut self) -> Counters {
        if self.engine == Engine::Heap {
            return self.counters_of_postgresql();
        }
        let status =
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Threads_connected')";
        let rows = self.control.query(status).unwrap().rows;
        let value = |name: &str| {
            let row = rows.iter().find(|row| row[0].as_deref() == Some(name));
            row.unwrap()[1].as_deref().unwrap().parse().unwrap()
        };
        Counters {
            queries: value("Com_select"),
            connections: value("Threads_connected"),
        }
    }

    fn counters_of_postgresql(&mut self) -> Counters {
        let counters = "SELECT COALESCE((SELECT SUM(calls) FROM pg_stat_statements \
                        WHERE query LIKE 'SELECT c FROM sbtest1%'), 0), \
                        (SELECT COUNT(*) FROM pg_stat_activity)";
        let rows = self.control.query(counters).unwrap().rows;
        let value = |column: usize| rows[0][column].as_deref().unwrap().parse().unwrap();
        Counters {
            queries: value(0),
            connections: value(1),
        }
    }

    /// Waits until no contestant is connected: the server notices late that a client has gone.
    pub(super) fn wait_until_idle(&mut self) {
        let idle = self.idle;
        let gone = self.wait_until(|counters| counters.connections <= idle);
        assert!(
            gone,
            "connections remained five minutes after a contestant's end"
        );
    }

    /// Waits until all clients are connected and each has sent a few queries.
    pub(super) fn wait_until_begun(&mut self, clients: u64) {
        let connections = self.idle + clients;
        let mut first = None;
        let begun = self.wait_until(|counters| {
            if counters.connections < connections {
                return false;
            }
            let first = *first.get_or_insert(counters.queries);
            counters.queries - first >= BEGUN * clients
        });
        assert!(begun, "a contestant did not begin within five minutes");
    }

    /// Waits until the counters fulfil a condition. Returns `false` if they do not in time.
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

    pub(super) fn stop(self) {
        drop(self.control);
        self.running.stop(TIMEOUT).unwrap();
    }
}
