//! How fast datasets are filled, beside sysbench's `prepare` on the same servers: `cargo xtask
//! bench-load` runs it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "this is a command for developers: it prints, and ends at the first thing that is wrong"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use prony_client::{Connection, Login};
use prony_host::{Launcher, Roots};
use prony_load::{FillTask, Job, Message, Task};
use prony_model::{Config, Dataset, Engine, IntentValue, LoadOutcome, StopFlag};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};

const USAGE: &str = "\
usage: cargo xtask bench-load [--builds ID,…] [--engine NAME] [--tables N] [--rows N] [--rounds N]
                              [--buffer-pool SIZE] [--redo-log SIZE]

Fills the same tables by turns with sysbench's prepare and with Prony, on the same server, each
with two connections, and prints medians. sysbench must be on the PATH (Debian: apt-get install
sysbench). Processor time is that of server and client together.
";

/// A build of every series, oldest first.
const BUILDS: &str = "mysql-5.0.21,mysql-5.5.34,mysql-5.6.24,mysql-5.7.22,mysql-8.0.31,mysql-9.7,\
    mariadb-10.1.23,mariadb-10.5,mariadb-10.11,mariadb-11.8";
const DATABASE: &str = "prony";
const CONNECTIONS: u32 = 2;
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

/// What one fill took.
struct Fill {
    /// Seconds until the rows and both indexes were in.
    seconds: f64,
    /// Processor time, checks included, in seconds.
    cpu: f64,
}

/// What one fill of Prony's took.
struct OwnFill {
    fill: Fill,
    outcome: LoadOutcome,
    check_seconds: f64,
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
        "| build | sysbench, rows/s | Prony, rows/s | ratio | sysbench, CPU µs/row \
         | Prony, CPU µs/row | index, s | check, s | how |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---|"
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
                "--rounds" => request.rounds = value.parse().ok().filter(|rounds| *rounds > 0)?,
                "--buffer-pool" => request.set("buffer_pool", &value)?,
                "--redo-log" => request.set("redo_log", &value)?,
                _ => return None,
            }
        }
        Some(request)
    }

    fn set(&mut self, intent: &str, size: &str) -> Option<()> {
        let value = IntentValue::parse_bytes(size).ok()?;
        self.config.intents.insert(intent.to_owned(), value);
        Some(())
    }

    fn measure(&self, build: &str) {
        let server = self.start(build);
        let rounds: Vec<(Fill, OwnFill)> = (0..self.rounds)
            .map(|_| (self.sysbench(&server), self.prony(&server)))
            .collect();
        server.stop(STOP_TIMEOUT).unwrap();
        let rows = self.rows as f64 * f64::from(self.tables);
        let sysbench = |value: fn(&Fill) -> f64| median(rounds.iter().map(|(fill, _)| value(fill)));
        let prony = |value: fn(&OwnFill) -> f64| median(rounds.iter().map(|(_, own)| value(own)));
        let ratio = median(
            rounds
                .iter()
                .map(|(sysbench, own)| sysbench.seconds / own.fill.seconds),
        );
        println!(
            "| {build} | {:.0} | {:.0} | {ratio:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            rows / sysbench(|fill| fill.seconds),
            rows / prony(|own| own.fill.seconds),
            sysbench(|fill| fill.cpu) * 1e6 / rows,
            prony(|own| own.fill.cpu) * 1e6 / rows,
            prony(|own| own.outcome.index_ns as f64 / 1e9),
            prony(|own| own.check_seconds),
            rounds[0].1.outcome.method,
        );
    }

    fn start(&self, build: &str) -> Running {
        let roots = Roots::from_environment().unwrap();
        let catalogue = Catalogue::embedded().unwrap();
        let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
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

    fn sysbench(&self, server: &Running) -> Fill {
        self.drop_tables(server);
        let mut command = Command::new("sysbench");
        command
            .arg("oltp_read_write")
            .arg(format!("--mysql-socket={}", server.socket().display()))
            .arg(format!("--mysql-user={}", server.admin_login().user))
            .arg(format!("--mysql-db={DATABASE}"))
            .arg(format!("--mysql-storage-engine={}", self.engine.name()))
            .arg(format!("--tables={}", self.tables))
            .arg(format!("--table-size={}", self.rows))
            .arg(format!("--threads={CONNECTIONS}"))
            .arg("--rand-type=uniform")
            .arg("prepare");
        let cpu = cpu_seconds(server);
        let begin = Instant::now();
        let output = command.output().unwrap();
        let seconds = begin.elapsed().as_secs_f64();
        assert!(
            output.status.success(),
            "sysbench failed: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        Fill {
            seconds,
            cpu: cpu_seconds(server) - cpu,
        }
    }

    fn prony(&self, server: &Running) -> OwnFill {
        self.drop_tables(server);
        let login = server.admin_login();
        let job = Job {
            address: server.admin_address(),
            user: login.user,
            password: login.password,
            tls: login.tls,
            database: DATABASE.to_owned(),
            task: Task::Fill(FillTask {
                dataset: Dataset::sbtest(self.tables, self.rows, 1),
                engine: self.engine,
                connections: CONNECTIONS,
                own_server: true,
            }),
        };
        let mut out = Vec::new();
        let cpu = cpu_seconds(server);
        let begin = Instant::now();
        prony_load::run(&job, &mut std::io::empty(), &mut out).unwrap();
        let whole = begin.elapsed().as_secs_f64();
        let cpu = cpu_seconds(server) - cpu;
        let last = out.trim_ascii().split(|byte| *byte == b'\n').next_back();
        let Message::Filled { outcome } = serde_json::from_slice(last.unwrap()).unwrap() else {
            unreachable!("a fill ends with its outcome");
        };
        let seconds = (outcome.rows_ns + outcome.index_ns) as f64 / 1e9;
        OwnFill {
            fill: Fill { seconds, cpu },
            outcome,
            check_seconds: whole - seconds,
        }
    }

    fn drop_tables(&self, server: &Running) {
        let login = Login {
            database: Some(DATABASE.to_owned()),
            ..server.admin_login()
        };
        let mut connection =
            Connection::connect(&server.admin_address(), &login, STOP_TIMEOUT).unwrap();
        for table in Dataset::sbtest(self.tables, 1, 1).table_names() {
            connection
                .query(format!("DROP TABLE IF EXISTS {table}"))
                .unwrap();
        }
        std::thread::sleep(PAUSE);
    }
}

/// Processor time of the server, of this process and of its children that ended, in seconds.
fn cpu_seconds(server: &Running) -> f64 {
    // Fields 14 to 17 of proc_pid_stat(5): utime, stime, cutime, cstime; of the server's, which
    // counts children that it has none of, too.
    let ticks = |path: &str| -> u64 {
        let stat = fs::read_to_string(path).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let times = fields.split_whitespace().skip(11).take(4);
        times.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    };
    let ticks = ticks(&format!("/proc/{}/stat", server.pid())) + ticks("/proc/self/stat");
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
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
