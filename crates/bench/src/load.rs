//! `bench-load`: the speed of filling datasets, beside sysbench's `prepare` on the same servers.

mod postgres;

use std::fs;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use prony_client::{Connection, Login};
use prony_load::Message;
use prony_model::{Config, Dataset, Engine, IntentValue};
use prony_servers::Running;

use crate::job::{DATABASE, fill, job, start_server, usual_engine};
use crate::spread::Spread;
use crate::{pgbench, sysbench};

/// A build of every series, oldest first.
const BUILDS: &str = "mysql-5.0.21,mysql-5.5.34,mysql-5.6.24,mysql-5.7.22,mysql-8.0.31,mysql-9.7,\
    mariadb-10.1.23,mariadb-10.5,mariadb-10.11,mariadb-11.8";
/// The server's time to clean up after the dropped tables, before each fill.
const PAUSE: Duration = Duration::from_secs(3);
/// The server's time to end the processes of connections: their processor time counts when they have ended.
const ENDING: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_mins(5);

/// Fill the same tables alternately with sysbench's prepare and with Prony, on the same server
///
/// Both use two connections. The figures are medians; processor time is that of server and client
/// together. sysbench must be on the PATH (Debian: apt-get install sysbench). Servers of PostgreSQL are filled
/// alternately with `pgbench -i` and Prony, and with psql's \copy and Prony, the same rows each (Debian: apt-get install postgresql-15).
#[derive(Args)]
pub(crate) struct Options {
    /// Builds of the server
    #[arg(long, value_name = "ID,…", value_delimiter = ',', default_value = BUILDS)]
    builds: Vec<String>,
    /// Engine of the tables
    #[arg(long, value_name = "NAME", default_value = "innodb")]
    engine: Engine,
    /// Number of tables
    #[arg(long, value_name = "N", default_value_t = 1)]
    tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: u64,
    /// Fills by each program
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
    rounds: u32,
    /// Size of the buffer pool
    #[arg(long, value_name = "SIZE", value_parser = IntentValue::parse_bytes)]
    buffer_pool: Option<IntentValue>,
    /// Size of the redo log
    #[arg(long, value_name = "SIZE", value_parser = IntentValue::parse_bytes)]
    redo_log: Option<IntentValue>,
}

/// The cost of one fill.
#[derive(Default)]
struct Fill {
    /// Seconds until the rows and both indexes were complete.
    seconds: f64,
    /// Processor time, checks included, in seconds.
    cpu: f64,
    /// Prony's only.
    index_seconds: f64,
    check_seconds: f64,
    method: String,
}

/// Measures build after build, and prints a line of the table for each.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let (postgres, mysql): (Vec<&String>, Vec<&String>) = options
        .builds
        .iter()
        .partition(|build| usual_engine(build) == Engine::Heap);
    if !postgres.is_empty() {
        println!("{}, one table\n", pgbench::version()?);
        println!("{}", postgres::HEADING);
        for build in postgres {
            println!("{}", postgres::measure(options, build));
        }
    }
    if mysql.is_empty() {
        return Ok(());
    }
    sysbench::version()?;
    println!(
        "| build | sysbench, rows/s | Prony, rows/s | ratio | sysbench, CPU µs/row \
         | Prony, CPU µs/row | index, s | check, s | how |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---|"
    );
    for build in mysql {
        options.measure(build);
    }
    Ok(())
}

impl Options {
    fn measure(&self, build: &str) {
        let mut config = Config::default();
        for (intent, size) in [
            ("buffer_pool", &self.buffer_pool),
            ("redo_log", &self.redo_log),
        ] {
            let size = size.clone().map(|size| (intent.to_owned(), size));
            config.intents.extend(size);
        }
        let launcher = crate::launcher();
        let server = start_server(&launcher, build, self.engine, &config, 8);
        let rounds: Vec<[Fill; 2]> = (0..self.rounds)
            .map(|_| [self.sysbench(&server), self.prony(&server)])
            .collect();
        server.stop(TIMEOUT).unwrap();
        let rows = self.rows as f64 * f64::from(self.tables);
        let median = |value: fn(&[Fill; 2]) -> f64| {
            let values = Spread::of(rounds.iter().map(value));
            values.unwrap().median
        };
        println!(
            "| {build} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            rows / median(|[sysbench, _]| sysbench.seconds),
            rows / median(|[_, prony]| prony.seconds),
            median(|[sysbench, prony]| sysbench.seconds / prony.seconds),
            median(|[sysbench, _]| sysbench.cpu) * 1e6 / rows,
            median(|[_, prony]| prony.cpu) * 1e6 / rows,
            median(|[_, prony]| prony.index_seconds),
            median(|[_, prony]| prony.check_seconds),
            rounds[0][1].method,
        );
    }

    fn sysbench(&self, server: &Running) -> Fill {
        self.drop_tables(server);
        let mut command = Command::new("sysbench");
        command
            .args(["oltp_read_write", "--threads=2", "--rand-type=uniform"])
            .arg(format!("--mysql-socket={}", server.socket().display()))
            .arg(format!("--mysql-user={}", server.admin_login().user))
            .arg(format!("--mysql-db={DATABASE}"))
            .arg(format!("--mysql-storage-engine={}", self.engine.name()))
            .arg(format!("--tables={}", self.tables))
            .arg(format!("--table-size={}", self.rows))
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
            ..Fill::default()
        }
    }

    fn prony(&self, server: &Running) -> Fill {
        self.drop_tables(server);
        filled(
            server,
            Dataset::sbtest(self.tables, self.rows, 1),
            self.engine,
        )
    }

    fn drop_tables(&self, server: &Running) {
        let login = Login {
            database: Some(DATABASE.to_owned()),
            ..server.admin_login()
        };
        let mut connection = Connection::connect(&server.admin_address(), &login, TIMEOUT).unwrap();
        for table in Dataset::sbtest(self.tables, 1, 1).table_names() {
            let drop = format!("DROP TABLE IF EXISTS {table}");
            connection.query(drop).unwrap();
        }
        std::thread::sleep(PAUSE);
    }
}

/// A fill by Prony of tables that are not there.
fn filled(server: &Running, dataset: Dataset, engine: Engine) -> Fill {
    let job = job(
        server.admin_address(),
        server.admin_login(),
        fill(dataset, engine),
    );
    let mut out = Vec::new();
    let cpu = cpu_seconds(server);
    let begin = Instant::now();
    prony_load::run(&job, &mut io::empty(), &mut out).unwrap();
    let whole = begin.elapsed().as_secs_f64();
    std::thread::sleep(ENDING);
    let cpu = cpu_seconds(server) - cpu;
    let last = out.trim_ascii().split(|byte| *byte == b'\n').next_back();
    let Message::Filled { outcome } = serde_json::from_slice(last.unwrap()).unwrap() else {
        unreachable!("a fill ends with its outcome");
    };
    let seconds = (outcome.rows_ns + outcome.index_ns) as f64 / 1e9;
    Fill {
        seconds,
        cpu,
        index_seconds: outcome.index_ns as f64 / 1e9,
        check_seconds: whole - seconds,
        method: outcome.method,
    }
}

/// Processor time of the server, of this process and of its children that ended, in seconds.
fn cpu_seconds(server: &Running) -> f64 {
    // Fields 14 to 17 of proc_pid_stat(5): utime, stime, cutime, cstime. The last two are those of the
    // connections of PostgreSQL, and 0 for other servers.
    let ticks = |path: &str| -> u64 {
        let stat = fs::read_to_string(path).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let times = fields.split_whitespace().skip(11).take(4);
        times.map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    };
    let ticks = ticks(&format!("/proc/{}/stat", server.pid())) + ticks("/proc/self/stat");
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}
