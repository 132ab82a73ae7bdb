//! Filling tables of PostgreSQL: Prony beside `pgbench -i` and beside psql's `\copy` of the same rows.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use prony_client::{Connection, Login};
use prony_model::Config;
use prony_servers::Running;

use super::{ENDING, Fill, Options, PAUSE, TIMEOUT, cpu_seconds};
use crate::job::{DATABASE, start_server, usual_engine};
use crate::pgbench::place;
use crate::spread::Spread;

/// Rows of a table of pgbench for each unit of its scale.
const ROWS_OF_SCALE: u64 = 100_000;

pub(super) const HEADING: &str = "| build | pgbench -i, rows/s | psql, rows/s | Prony, rows/s \
     | ÷ pgbench -i | ÷ psql | pgbench -i, CPU µs/row | psql, CPU µs/row | Prony, CPU µs/row | how |\n\
     |---|---:|---:|---:|---:|---:|---:|---:|---:|---|";

/// Measures a build, and returns its line of the table. Prony's rows come first: psql copies these.
pub(super) fn measure(options: &Options, build: &str) -> String {
    let launcher = crate::launcher();
    let config = Config::default();
    let server = start_server(&launcher, build, usual_engine(build), &config, 8);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows");
    options.prony(&server);
    run(psql(
        &server,
        &format!("\\copy sbtest1 TO '{}'", file.display()),
    ));
    let rounds: Vec<[Fill; 3]> = (0..options.rounds)
        .map(|_| {
            [
                pgbench(options, &server),
                copy(&server, &file),
                options.prony(&server),
            ]
        })
        .collect();
    server.stop(TIMEOUT).unwrap();
    let rows = options.rows as f64;
    let rows_of_pgbench = (scale(options) * ROWS_OF_SCALE) as f64;
    let shown = |value: &dyn Fn(&[Fill; 3]) -> f64| Spread::of(rounds.iter().map(value)).unwrap();
    let rate = |[pgbench, psql, prony]: &[Fill; 3]| {
        [
            rows_of_pgbench / pgbench.seconds,
            rows / psql.seconds,
            rows / prony.seconds,
        ]
    };
    format!(
        "| {build} | {:.0} | {:.0} | {:.0} | {} | {} | {:.2} | {:.2} | {:.2} | {} |",
        shown(&|fills| rate(fills)[0]).median,
        shown(&|fills| rate(fills)[1]).median,
        shown(&|fills| rate(fills)[2]).median,
        shown(&|fills| rate(fills)[2] / rate(fills)[0]),
        shown(&|fills| rate(fills)[2] / rate(fills)[1]),
        shown(&|[pgbench, ..]| pgbench.cpu * 1e6 / rows_of_pgbench).median,
        shown(&|[_, psql, _]| psql.cpu * 1e6 / rows).median,
        shown(&|[.., prony]| prony.cpu * 1e6 / rows).median,
        rounds[0][2].method,
    )
}

fn scale(options: &Options) -> u64 {
    options.rows.div_ceil(ROWS_OF_SCALE)
}

/// pgbench's accounts: 97 bytes in a row, one index.
fn pgbench(options: &Options, server: &Running) -> Fill {
    drop_tables(server);
    let mut command = Command::new("pgbench");
    command
        .args(["-i", "-q", "-s", &scale(options).to_string()])
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

/// Leaves the server at rest.
pub(super) fn drop_tables(server: &Running) {
    let login = Login {
        database: Some(DATABASE.to_owned()),
        ..server.admin_login()
    };
    let mut connection = Connection::connect(&server.admin_address(), &login, TIMEOUT).unwrap();
    for sql in [
        "DROP TABLE IF EXISTS sbtest1, pgbench_accounts, pgbench_branches, pgbench_history, \
         pgbench_tellers",
        "CHECKPOINT",
    ] {
        connection.query(sql).unwrap();
    }
    std::thread::sleep(PAUSE);
}
