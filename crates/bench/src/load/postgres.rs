//! Filling tables of PostgreSQL: Prony beside `pgbench -i`, and beside psql's `\copy`, each with the same rows.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use prony_client::{Connection, Login};
use prony_model::{Config, Dataset, Engine, Schema};
use prony_servers::Running;

use super::{ENDING, Fill, Options, PAUSE, TIMEOUT, cpu_seconds, filled};
use crate::job::{DATABASE, start_server, usual_engine};
use crate::pgbench::place;
use crate::spread::Spread;

/// Rows of a table of pgbench for each unit of its scale.
const ROWS_OF_SCALE: u64 = 100_000;
/// The schema with the tables of pgbench.
const BANK: &str = "bank";

pub(super) const HEADING: &str = "| build | rows | other way | other way, rows/s | Prony, rows/s | ÷ other way \
     | other way, CPU µs/row | Prony, CPU µs/row | of it check, s | how |\n\
     |---|---|---|---:|---:|---:|---:|---:|---:|---|";

/// Measures a build, and returns its lines of the table. Prony's rows come first: psql copies these.
pub(super) fn measure(options: &Options, build: &str) -> String {
    let launcher = crate::launcher();
    let config = Config::default();
    let server = start_server(&launcher, build, usual_engine(build), &config, 8);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows");
    prony(&server, sbtest(options));
    run(psql(
        &server,
        &format!("\\copy sbtest1 TO '{}'", file.display()),
    ));
    let scale = options.rows.div_ceil(ROWS_OF_SCALE);
    let rounds: Vec<[[Fill; 2]; 2]> = (0..options.rounds)
        .map(|_| {
            [
                [pgbench(scale, &server), prony(&server, bank(scale))],
                [copy(&server, &file), prony(&server, sbtest(options))],
            ]
        })
        .collect();
    server.stop(TIMEOUT).unwrap();
    let ways = [
        ("of pgbench", "pgbench -i", scale * ROWS_OF_SCALE),
        ("of sysbench", "psql", options.rows),
    ];
    let line = |(way, (what, other, rows)): (usize, (&str, &str, u64))| {
        let rows = rows as f64;
        let shown = |value: &dyn Fn(&[Fill; 2]) -> f64| {
            Spread::of(rounds.iter().map(|round| value(&round[way]))).unwrap()
        };
        format!(
            "| {build} | {what} | {other} | {:.0} | {:.0} | {} | {:.2} | {:.2} | {:.2} | {} |",
            shown(&|[other, _]| rows / other.seconds).median,
            shown(&|[_, prony]| rows / prony.seconds).median,
            shown(&|[other, prony]| other.seconds / prony.seconds),
            shown(&|[other, _]| other.cpu * 1e6 / rows).median,
            shown(&|[_, prony]| prony.cpu * 1e6 / rows).median,
            shown(&|[_, prony]| prony.check_seconds).median,
            rounds[0][way][1].method,
        )
    };
    let lines: Vec<String> = ways.into_iter().enumerate().map(line).collect();
    lines.join("\n")
}

fn sbtest(options: &Options) -> Dataset {
    Dataset::sbtest(1, options.rows, 1)
}

/// The rows that pgbench makes: 97 bytes each, one index.
fn bank(scale: u64) -> Dataset {
    Dataset {
        schema: Schema::built_in(BANK).unwrap(),
        ..Dataset::sbtest(1, scale * ROWS_OF_SCALE, 1)
    }
}

fn prony(server: &Running, dataset: Dataset) -> Fill {
    drop_tables(server);
    filled(server, dataset, Engine::Heap)
}

fn pgbench(scale: u64, server: &Running) -> Fill {
    drop_tables(server);
    let mut command = Command::new("pgbench");
    command
        .args(["-i", "-q", "-s", &scale.to_string()])
        .args(place(&server.socket(), &server.admin_login().user))
        .arg(DATABASE);
    timed(server, || run(command))
}

/// The rows of a file, with the statements that Prony sends.
fn copy(server: &Running, file: &Path) -> Fill {
    drop_tables(server);
    let copy = format!("\\copy sbtest1 FROM '{}'", file.display());
    let mut command = psql(
        server,
        "CREATE TABLE sbtest1 (id SERIAL NOT NULL, k INTEGER NOT NULL DEFAULT 0, \
         c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id))",
    );
    command.args(["-c", &copy, "-c", "CREATE INDEX k_1 ON sbtest1 (k)"]);
    timed(server, || run(command))
}

fn psql(server: &Running, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1"])
        .args(place(&server.socket(), &server.admin_login().user))
        .args(["-d", DATABASE, "-c", sql]);
    command
}

fn run(mut command: Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}");
}

fn timed(server: &Running, fill: impl FnOnce()) -> Fill {
    let cpu = cpu_seconds(server);
    let begin = Instant::now();
    fill();
    let seconds = begin.elapsed().as_secs_f64();
    std::thread::sleep(ENDING);
    Fill {
        seconds,
        cpu: cpu_seconds(server) - cpu,
        ..Fill::default()
    }
}

/// Drops the tables of all ways, and leaves the server at rest.
fn drop_tables(server: &Running) {
    let login = Login {
        database: Some(DATABASE.to_owned()),
        ..server.admin_login()
    };
    let mut connection = Connection::connect(&server.admin_address(), &login, TIMEOUT).unwrap();
    let answer = connection.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    for row in answer.unwrap().rows {
        let table = String::from_utf8(row[0].clone().unwrap().into()).unwrap();
        connection
            .query(format!("DROP TABLE IF EXISTS \"{table}\" CASCADE"))
            .unwrap();
    }
    connection.query("CHECKPOINT").unwrap();
    std::thread::sleep(PAUSE);
}
