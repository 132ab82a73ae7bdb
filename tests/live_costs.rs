//! Costs of an operation on real servers: sources agree, a known cost is found, and counting trials
//! repeat the same work.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::collections::BTreeMap;

use rusqlite::Connection;
use support::{finish, live, only_run, prony, whole_report, write};

/// Old and new: the first has a process for each of its threads.
const BUILDS: [&str; 2] = ["mysql-4.1.13", "mysql-5.7.22"];

/// A statement whose cost grows with `n` and with nothing else. MySQL 4.1 wants the number in its text.
const BURNING: &str = r#"
[[workload]]
name = "burn"
group = "point"
effect = "none"
description = "Computes the same hash n times"
text_only = true
parameters.n = 0
[[workload.statement]]
name = "burn"
sql = "SELECT BENCHMARK({rounds}, MD5('prony'))"
params.rounds = { value = "n" }
expect.rows = "1"
"#;

/// Rows of the table, which every trial loads by inserts.
const ROWS: i64 = 2_000;

/// The rounds of `burn`: in the second step eight times as many as in the first.
const ROUNDS: [u64; 2] = [500, 4_000];

fn experiment() -> String {
    let targets = BUILDS.map(|build| format!("[[target]]\nbuild = \"{build}\"\n"));
    let burns = ROUNDS.map(|rounds| {
        format!(
            "[[step]]\nname = \"burn-{rounds}\"\nworkload = \"burn\"\nparameters = {{ n = {rounds} }}\n"
        )
    });
    format!(
        r#"name = "costs"
base = "mysql-5.7.22"
blocks = 1
clients = [1]

[dataset]
tables = 1
rows = {ROWS}
load = "inserts"

[defaults]
config = {{ buffer_pool = "32M", binlog = true }}
collect = {{ period = "100ms" }}

{}
[sequence]
warmup = "200ms"
time = "1s"

[[step]]
name = "point"
workload = "point-query"
clients = [8]
{}"#,
        targets.concat(),
        burns.concat()
    )
}

/// Growth of a trial's counters in a step, by source and name.
fn grown(database: &Connection, target: usize, step: usize) -> BTreeMap<String, i64> {
    let mut statement = database
        .prepare(
            "SELECT counter.source || '.' || counter.name, late.value - early.value
             FROM sample AS first
                 JOIN sample AS last USING (trial_id, step_id)
                 JOIN trial ON trial.id = first.trial_id
                 JOIN whole_sample_value AS early ON early.sample_id = first.id
                 JOIN whole_sample_value AS late
                     ON late.sample_id = last.id AND late.counter_id = early.counter_id
                 JOIN counter ON counter.id = early.counter_id
             WHERE first.moment = 'start' AND last.moment = 'end' AND kind = 'timed'
                 AND target_id = ?1 AND step_id = ?2",
        )
        .unwrap();
    let rows = statement.query_map([target, step], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn operations(database: &Connection, target: usize, step: usize) -> f64 {
    let sql = "SELECT operations FROM group_outcome JOIN trial ON trial.id = trial_id
               WHERE target_id = ?1 AND step_id = ?2 AND kind = 'timed' AND group_position = 0";
    let count: u32 = database
        .query_row(sql, [target, step], |row| row.get(0))
        .unwrap();
    f64::from(count)
}

/// Clock ticks are cut off twice for each process, in user space and in the kernel, at both edges.
fn slack_ns(processes: f64) -> f64 {
    4.0 * 10e6 * processes
}

/// Two times agree within 5 %, or within what clock ticks leave open.
fn agree(what: &str, one: f64, other: f64, slack_ns: f64) {
    let apart = (one - other).abs();
    println!("{what}: {one} and {other}");
    assert!(
        apart <= slack_ns || apart <= 0.05 * one.max(other),
        "{what}"
    );
}

#[test]
fn costs_are_the_servers_and_agree() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "burn.toml", BURNING);
    write(folder.path(), "costs.toml", &experiment());
    let args = ["run", "costs.toml", "--workloads", "burn.toml"];
    finish(prony(folder.path(), &args)).exits(0);
    let report = whole_report(folder.path());
    assert!(report.contains("cpu/o"), "{report}");
    assert!(report.contains("Cost of the load, per row"), "{report}");
    let database = Connection::open(only_run(folder.path()).join("run.sqlite")).unwrap();
    for (target, build) in BUILDS.iter().enumerate() {
        let step = grown(&database, target, 0);
        let value = |name: &str| step.get(name).map(|value| *value as f64);
        let ticks = value("process.user_ns").unwrap() + value("process.system_ns").unwrap();
        // The clients are still there when the last sample is taken.
        assert_eq!(value("threads.lost_threads"), Some(0.0), "{build}");
        assert!(ticks > 0.0);
        // Those of its clients; the others have nothing to do.
        let slack = slack_ns(if target == 0 { 8.0 } else { 1.0 });
        let exact = value("process.cpu_ns").unwrap();
        agree(&format!("{build}: clock and ticks"), exact, ticks, slack);
        let threads = value("threads.run_ns").unwrap();
        agree(
            &format!("{build}: threads and ticks"),
            threads,
            ticks,
            slack,
        );
        if let Some(cgroup) = value("cgroup.cpu_ns") {
            agree(
                &format!("{build}: control group and ticks"),
                cgroup,
                ticks,
                slack,
            );
            agree(
                &format!("{build}: control group and threads"),
                cgroup,
                threads,
                5e6,
            );
        }
        // One read by the key for each operation, or two in the oldest, whose threads count over each
        // other now and then: nothing of warming up is in it, nor of what asking the server does.
        let done = operations(&database, target, 0);
        let reads = value("status.handler_read_key").unwrap() / done;
        let off = (reads - reads.round()).abs();
        assert!(
            off < 0.01 && reads > 0.5,
            "{build}: {reads} reads by key for an operation"
        );
        let written = value("status.handler_write").unwrap_or(0.0);
        assert!(
            written.abs() <= 2.0,
            "{build}: {written} rows written by reading"
        );
    }
    known_cost(&database);
    loads_are_measured(&database);
    let periods: u32 = database
        .query_row(
            "SELECT count(*) FROM sample WHERE moment = 'period'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!(periods >= 2 * 3 * 4, "{periods}");
}

/// Helpers of queries and of cleaning up come and go while 64 sessions work.
const POSTGRESQL: &str = r#"name = "processes"
base = "busy"
blocks = 1
clients = [64]
allow = ["autovacuum"]

[dataset]
tables = 1
rows = 50_000

[defaults]
collect = { period = "500ms" }
options = { autovacuum = "on", autovacuum_naptime = "1s", autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0, parallel_setup_cost = 0, parallel_tuple_cost = 0, min_parallel_table_scan_size = 0, max_parallel_workers_per_gather = 2 }

[[target]]
name = "busy"
build = "postgresql-18.6"

[[target]]
build = "postgresql-11.22"

[[target]]
name = "quiet"
build = "postgresql-18.6"
options = { autovacuum = "off" }

[sequence]
warmup = "300ms"
time = "3s"

[[step]]
workload = "point-query"

[[step]]
workload = "update-index"

[[step]]
workload = "scan"
"#;

#[test]
fn every_process_of_postgresql_counts_once() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "processes.toml", POSTGRESQL);
    finish(prony(folder.path(), &["run", "processes.toml"])).exits(0);
    let database = Connection::open(only_run(folder.path()).join("run.sqlite")).unwrap();
    let mut helped = 0;
    let mut with_threads = 0;
    for (target, step) in (0..3).flat_map(|target| (0..3).map(move |step| (target, step))) {
        let grown = grown(&database, target, step);
        let value = |name: &str| grown.get(name).map(|value| *value as f64);
        let what = |other: &str| format!("{target}, step {step}: processes and {other}");
        let processes = value("process.cpu_ns").unwrap();
        assert!(processes > 1e9, "{processes}");
        let close = |other: &str, time: f64| {
            println!("{}: {processes} and {time}", what(other));
            let apart = (processes - time).abs();
            assert!(apart <= 0.02 * processes, "{}", what(other));
        };
        if let Some(cgroup) = value("cgroup.cpu_ns") {
            close("control group", cgroup);
        }
        // Ended threads have taken their time with them.
        if value("threads.lost_threads") == Some(0.0) {
            with_threads += 1;
            close("threads", value("threads.run_ns").unwrap());
        } else {
            helped += 1;
        }
    }
    assert!(helped > 0, "no process came or went");
    assert!(with_threads > 0, "processes came or went in every step");
    let gaps = "SELECT group_concat(moment || ': ' || reason) FROM sample_gap JOIN sample ON sample.id = sample_id
         WHERE source IN ('process', 'threads', 'memory') AND moment <> 'period'";
    let gaps: Option<String> = database.query_row(gaps, [], |row| row.get(0)).unwrap();
    assert_eq!(gaps, None, "processes that end leave no gaps");
    // Each of 64 sessions has the buffers that it used in its resident set.
    let most = "SELECT max(value) / 1048576 FROM whole_sample_value JOIN counter ON counter.id = counter_id
         WHERE source || '.' || name = 'memory.resident_bytes'";
    let most: i64 = database.query_row(most, [], |row| row.get(0)).unwrap();
    assert!((30..500).contains(&most), "{most} MB");
}

/// The binary log has the rows that a trial loads, and loading them costs something.
fn loads_are_measured(database: &Connection) {
    let growth = "SELECT sum(ev.value) - sum(sv.value)
         FROM sample AS s
             JOIN sample AS e ON e.trial_id = s.trial_id AND e.step_id IS NULL AND e.moment = 'end'
             JOIN trial ON trial.id = s.trial_id
             JOIN sample_value AS sv ON sv.sample_id = s.id
             JOIN sample_value AS ev ON ev.sample_id = e.id AND ev.counter_id = sv.counter_id
             JOIN counter ON counter.id = sv.counter_id
         WHERE s.step_id IS NULL AND s.moment = 'start' AND kind = 'timed' AND target_id = ?1
             AND source || '.' || name = ?2";
    for (target, build) in BUILDS.iter().enumerate() {
        let grown = |counter: &str| -> i64 {
            let params = rusqlite::params![target, counter];
            database
                .query_row(growth, params, |row| row.get(0))
                .unwrap()
        };
        let logged = grown("files.binlog_bytes");
        assert!(logged > ROWS * (119 + 59), "{build}: {logged} bytes");
        assert!(grown("files.data_bytes") > 0, "{build}");
        let cpu = grown("process.user_ns") + grown("process.system_ns");
        assert!(cpu > 0, "{build}: {cpu} ns");
        let loaded = "SELECT rows, method, image IS NULL FROM load WHERE trial_id IS NOT NULL
             AND target_id = ?1";
        let loaded: (i64, String, bool) = database
            .query_row(loaded, [target], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        let expected = "INSERT of 512 KiB, 1 connection".to_owned();
        assert_eq!(loaded, (ROWS, expected, true), "{build}");
    }
}

/// Each round of the hash costs the same and takes nearly all the time of its statement, so that
/// eight times as many cost eight times as much, as far as the machine's neighbours let processor time
/// be the same twice.
fn known_cost(database: &Connection) {
    for (target, build) in BUILDS.iter().enumerate() {
        let costs: Vec<f64> = (1..=ROUNDS.len())
            .map(|step| {
                let step_grown = grown(database, target, step);
                let ns = |name: &str| step_grown[name] as f64;
                let cpu = ns("process.user_ns") + ns("process.system_ns");
                cpu / operations(database, target, step)
            })
            .collect();
        println!("{build}: {costs:?} ns for {ROUNDS:?} rounds");
        let ratio = costs[1] / costs[0];
        assert!((5.0..11.0).contains(&ratio), "{build}: {costs:?}");
    }
}
