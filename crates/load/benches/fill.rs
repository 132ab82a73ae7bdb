//! How fast datasets are filled, beside sysbench's `prepare` on the same servers: `cargo xtask
//! bench-load` runs it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first thing that is wrong"
)]

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use prony_client::{Connection, Login};
use prony_load::{FillTask, Job, Message, Task};
use prony_model::{Config, Dataset, Engine, IntentValue, LoadOutcome, StopFlag};
use prony_servers::{Catalogue, Depot, Instance, Launcher, Roots, Running, Wanted};

const USAGE: &str = "\
usage: cargo xtask bench-load [--builds ID,…] [--engine NAME] [--rows N] [--tables N] [--rounds N]
                              [--set INTENT=VALUE]…

Fills the same tables by turns with sysbench's prepare and with Prony, on the same server, and
prints rows per second (index included), medians and their ratio. sysbench must be on the PATH
(Debian: apt-get install sysbench).
";

/// A build of every series that Prony knows of, oldest first.
const BUILDS: &str = "mysql-5.0.21,mysql-5.5.34,mysql-5.6.24,mysql-5.7.22,mysql-8.0.31,mysql-9.7,\
    mariadb-10.1.23,mariadb-10.5,mariadb-10.11,mariadb-11.8";
const DATABASE: &str = "prony";
/// How long the server is left alone before each fill: it tidies up after the tables dropped.
const PAUSE: Duration = Duration::from_secs(3);
const STOP_TIMEOUT: Duration = Duration::from_mins(5);

/// What is asked for.
struct Request {
    builds: Vec<String>,
    engine: Engine,
    tables: u32,
    rows: u64,
    rounds: usize,
    config: Config,
}

fn main() -> ExitCode {
    let Some(request) = Request::parse(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::FAILURE;
    };
    if let Err(error) = Command::new("sysbench").arg("--version").output() {
        eprintln!("failed to run sysbench: {error}; is it installed?\n\n{USAGE}");
        return ExitCode::FAILURE;
    }
    println!(
        "| build | sysbench, rows/s | Prony, rows/s | rows, s | index, s | check, s | ratio | how |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for build in &request.builds {
        request.measure(build);
    }
    ExitCode::SUCCESS
}

impl Request {
    fn parse(arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut request = Self {
            builds: BUILDS.split(',').map(str::to_owned).collect(),
            engine: Engine::Innodb,
            tables: 1,
            rows: 1_000_000,
            rounds: 3,
            config: Config::default(),
        };
        // Cargo says that it is a bench.
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(option) = arguments.next() {
            let value = arguments.next()?;
            match option.as_str() {
                "--builds" => request.builds = value.split(',').map(str::to_owned).collect(),
                "--engine" => request.engine = value.parse().ok()?,
                "--tables" => request.tables = value.parse().ok()?,
                "--rows" => request.rows = value.parse().ok()?,
                "--rounds" => request.rounds = value.parse().ok()?,
                "--set" => {
                    let (name, value) = value.split_once('=')?;
                    let value = match value {
                        "on" => IntentValue::Flag(true),
                        "off" => IntentValue::Flag(false),
                        text => IntentValue::Text(text.to_owned()),
                    };
                    request.config.intents.insert(name.to_owned(), value);
                }
                _ => return None,
            }
        }
        Some(request)
    }

    fn measure(&self, build: &str) {
        let server = self.start(build);
        let mut times: Vec<(f64, LoadOutcome, f64)> = Vec::new();
        for _ in 0..self.rounds {
            let sysbench = if std::env::var("FILL_NO_SYSBENCH").is_ok() {
                1.0
            } else {
                self.sysbench(&server)
            };
            let (outcome, check) = self.prony(&server);
            times.push((sysbench, outcome, check));
        }
        let rows = self.rows as f64 * f64::from(self.tables);
        let sysbench = median(times.iter().map(|(seconds, ..)| rows / seconds));
        let prony = median(
            times
                .iter()
                .map(|(_, outcome, _)| outcome.rows_per_second().unwrap()),
        );
        let ratio = median(
            times
                .iter()
                .map(|(seconds, outcome, _)| outcome.rows_per_second().unwrap() * seconds / rows),
        );
        println!(
            "| {build} | {sysbench:.0} | {prony:.0} | {:.2} | {:.2} | {:.2} | {ratio:.2} | {} |",
            median(
                times
                    .iter()
                    .map(|(_, outcome, _)| outcome.rows_ns as f64 / 1e9)
            ),
            median(
                times
                    .iter()
                    .map(|(_, outcome, _)| outcome.index_ns as f64 / 1e9)
            ),
            median(times.iter().map(|(.., check)| *check)),
            times[0].1.method,
        );
        server.stop(STOP_TIMEOUT).unwrap();
    }

    fn start(&self, build: &str) -> Running {
        let roots = Roots::from_environment().unwrap();
        let catalogue = Catalogue::embedded().unwrap();
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/fixtures/guard");
        let launcher = Launcher::new(guard).unwrap();
        let stop = StopFlag::default();
        let depot = Depot::new(&roots, &catalogue, &launcher);
        let build = depot.fetch(build, &stop, &mut |_| ()).unwrap();
        let wanted = Wanted::over_socket(self.engine, &self.config, 8);
        let rendered = catalogue.render(&build.facts, wanted).unwrap();
        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        instance.start(&stop).unwrap()
    }

    /// Seconds that sysbench takes.
    fn sysbench(&self, server: &Running) -> f64 {
        self.drop_tables(server);
        let mut command = Command::new("sysbench");
        command
            .arg("oltp_read_write")
            .arg(format!("--mysql-socket={}", server.socket().display()))
            .arg("--mysql-user=root")
            .arg(format!("--mysql-db={DATABASE}"))
            .arg(format!("--mysql-storage-engine={}", self.engine.name()))
            .arg(format!("--tables={}", self.tables))
            .arg(format!("--table-size={}", self.rows))
            .arg("--threads=2")
            .arg("--rand-type=uniform")
            .arg("prepare");
        let begin = Instant::now();
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "sysbench failed: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        begin.elapsed().as_secs_f64()
    }

    /// What Prony's fill yields, and the seconds for its check.
    fn prony(&self, server: &Running) -> (LoadOutcome, f64) {
        self.drop_tables(server);
        let task = FillTask {
            dataset: Dataset::sbtest(self.tables, self.rows, 1),
            engine: self.engine,
            connections: std::env::var("FILL_CONNS")
                .ok()
                .and_then(|n| n.parse().ok())
                .unwrap_or(2),
            own_server: true,
        };
        let login = server.admin_login();
        let job = Job {
            address: server.admin_address(),
            user: login.user,
            password: login.password,
            tls: login.tls,
            database: DATABASE.to_owned(),
            task: Task::Fill(task),
        };
        let mut out = Vec::new();
        let cpu = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
            let own = std::fs::read_to_string("/proc/self/stat").unwrap();
            let f = |stat: String| {
                let f: Vec<f64> = stat
                    .rsplit(')')
                    .next()
                    .unwrap()
                    .split_whitespace()
                    .skip(11)
                    .take(2)
                    .map(|x| x.parse().unwrap())
                    .collect();
                (f[0] + f[1]) / 100.0
            };
            (f(stat), f(own))
        };
        let before = cpu();
        let begin = Instant::now();
        prony_load::run(&job, &mut out).unwrap();
        let whole = begin.elapsed().as_secs_f64();
        let after = cpu();
        if std::env::var("FILL_CPU").is_ok() {
            println!(
                "   cpu server {:.2} client {:.2} wall {whole:.2}",
                after.0 - before.0,
                after.1 - before.1
            );
        }
        let last = out.trim_ascii().split(|byte| *byte == b'\n').next_back();
        let Message::Filled { outcome } = serde_json::from_slice(last.unwrap()).unwrap() else {
            unreachable!("a fill ends with its outcome");
        };
        let check = whole - (outcome.rows_ns + outcome.index_ns) as f64 / 1e9;
        (outcome, check)
    }

    fn drop_tables(&self, server: &Running) {
        let login = Login {
            database: Some(DATABASE.to_owned()),
            ..server.admin_login()
        };
        let mut connection =
            Connection::connect(&server.admin_address(), &login, Duration::from_mins(5)).unwrap();
        for table in Dataset::sbtest(self.tables, 1, 1).table_names() {
            connection
                .query(format!("DROP TABLE IF EXISTS {table}"))
                .unwrap();
        }
        std::thread::sleep(PAUSE);
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}
