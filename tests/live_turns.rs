//! Targets that take turns within a step: real servers of every series are paused and go on.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;
use support::{Watched, children_of, finish, live, only_run, prony, wait_for, write};

/// One server of each series; those up to 5.5 wait for statements with a limit of time.
const BUILDS: [&str; 10] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.5.34",
    "mysql-5.6.24",
    "mysql-5.7.22",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-10.1.8",
    "mariadb-10.5",
    "mariadb-11.8",
];

/// A step of 25 turns, one that can't pause, and one that writes with two clients.
const STEPS: &str = r#"
[sequence]
warmup = "50ms"

[[step]]
workload = "point-query"
time = "500ms"

[[step]]
workload = "insert"
operations = 300

[[step]]
workload = "update-index"
clients = [2]
time = "300ms"
"#;

fn experiment(builds: &[&str], steps: &str) -> String {
    let base = builds[0];
    let targets = builds
        .iter()
        .map(|build| format!("[[target]]\nbuild = \"{build}\"\n"));
    let targets = targets.collect::<Vec<_>>().concat();
    format!(
        "name = \"turns\"\nbase = \"{base}\"\nblocks = 1\nturn = \"20ms\"\ncounting = \"off\"\n\
         [dataset]\ntables = 1\nrows = 2000\n\
         [defaults]\nconfig = {{ buffer_pool = \"32M\" }}\n{targets}{steps}"
    )
}

fn number(run: &Path, sql: &str) -> i64 {
    let database = Connection::open(run.join("run.sqlite")).unwrap();
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn servers_of_every_series_take_turns() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "turns.toml", &experiment(&BUILDS, STEPS));
    finish(prony(folder.path(), &["run", "turns.toml"])).exits(0);
    let run = only_run(folder.path());
    let targets = i64::try_from(BUILDS.len()).unwrap();
    let done = "SELECT count(*) FROM trial WHERE state = 'done'";
    assert_eq!(number(&run, done), targets);
    // All were there together.
    let together = "SELECT max(began_at) < min(ended_at) FROM trial";
    assert_eq!(number(&run, together), 1);
    let outcomes = |step: &str, condition: &str| {
        let from = "FROM group_outcome JOIN step ON step.id = group_outcome.step_id";
        let sql = format!("SELECT count(*) {from} WHERE name = '{step}' AND {condition}");
        number(&run, &sql)
    };
    // Not less than asked for, less a tenth of a turn, and no pauses in it: these are nine times as
    // long.
    let whole = "busy_ns BETWEEN 400000000 AND 1500000000";
    assert_eq!(outcomes("point-query", whole), targets);
    assert_eq!(outcomes("insert", "operations = 300"), targets);
    assert_eq!(outcomes("update-index", "busy_ns > 0"), targets);
    // The samples at the edges have no pauses between them either.
    let edges = |step: &str| {
        let sql = format!(
            "SELECT count(*) FROM (
                SELECT max(at_ns) - min(at_ns) AS ns FROM sample
                JOIN step ON step.id = sample.step_id WHERE name = '{step}'
                GROUP BY trial_id)
             WHERE ns BETWEEN 250000000 AND 2500000000"
        );
        number(&run, &sql)
    };
    assert_eq!(["point-query", "update-index"].map(edges), [targets; 2]);
    // The connection that asks for the status outlives all pauses.
    let gaps = "SELECT count(*) FROM sample_gap WHERE source = 'status'";
    assert_eq!(number(&run, gaps), 0);
}

#[test]
fn servers_of_many_processes_take_turns() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let builds = ["postgresql-18.6", "postgresql-11.22"];
    let steps = STEPS.replace("clients = [2]", "clients = [16]");
    let text = experiment(&builds, &steps).replace("turn = \"20ms\"", "turn = \"100ms\"");
    write(folder.path(), "turns.toml", &text);
    finish(prony(folder.path(), &["run", "turns.toml"])).exits(0);
    let run = only_run(folder.path());
    let done = "SELECT count(*) FROM trial WHERE state = 'done'";
    assert_eq!(number(&run, done), 2);
    let together = "SELECT max(began_at) < min(ended_at) FROM trial";
    assert_eq!(number(&run, together), 1);
    // Not less than asked for, less a tenth of a turn, and no pauses in it.
    let whole = "SELECT count(*) FROM group_outcome JOIN step ON step.id = group_outcome.step_id
        WHERE name = 'point-query' AND busy_ns BETWEEN 400000000 AND 900000000";
    assert_eq!(number(&run, whole), 2);
}

#[test]
fn an_interrupted_block_is_run_again_as_a_whole_and_leaves_no_paused_server() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let long = "[[step]]\nworkload = \"point-query\"\ntime = \"3s\"\n";
    let text = experiment(&["mysql-5.7.22", "mysql-5.6.24"], long);
    write(folder.path(), "turns.toml", &text);
    let child = Watched::start(prony(folder.path(), &["run", "turns.toml"]));
    wait_for("both load generators", Duration::from_mins(2), || {
        let children = children_of(child.id());
        let generators = children.iter().filter(|(_, it)| it.ends_with("generator "));
        (generators.count() == 2).then_some(())
    });
    child.signal(Signal::INT);
    child.end().exits(130).says(&["interrupted"]);
    let run = only_run(folder.path());
    let in_state = |state: &str| {
        number(
            &run,
            &format!("SELECT count(*) FROM trial WHERE state = '{state}'"),
        )
    };
    assert_eq!(in_state("discarded"), 2);
    finish(prony(folder.path(), &["resume", run.to_str().unwrap()])).exits(0);
    assert_eq!(in_state("done"), 2);
}
