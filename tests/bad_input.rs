//! Bad input: a message that names place, reason and remedy, the right exit code, and nothing
//! started.

#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use support::{EXAMPLE, Finished, finish, prony, write};

/// Runs `prony run` on the text, with a cache of its own, and checks that nothing was made.
fn run(text: &str) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "example.toml", text);
    let cache = folder.path().join("cache");
    let mut command = prony(folder.path(), &["run", path.to_str().unwrap()]);
    command.env("PRONY_CACHE", &cache);
    let finished = finish(command);
    assert!(!cache.exists(), "the cache was touched");
    assert!(!folder.path().join("runs").exists(), "a run was begun");
    assert_eq!(finished.stdout, "");
    finished
}

/// The experiment with one line replaced.
#[track_caller]
fn broken(line: &str, by: &str) -> Finished {
    assert!(EXAMPLE.contains(line));
    run(&EXAMPLE.replacen(line, by, 1))
}

#[test]
fn a_file_that_is_not_toml() {
    run("name = \"x\nbase")
        .exits(3)
        .says(&["example.toml:2", "not TOML"]);
}

#[test]
fn an_unknown_key() {
    broken("blocks = 1", "blocks = 1\nquestoin = \"why\"")
        .exits(3)
        .says(&["example.toml:4", "questoin", "did you mean", "question"]);
}

#[test]
fn an_unknown_build() {
    broken("build = \"mysql-5.7.22\"", "build = \"mysql-5.7.23\"")
        .exits(3)
        .says(&["example.toml:10", "mysql-5.7.23", "mysql-5.7.22"]);
}

#[test]
fn a_base_that_is_no_target() {
    broken("base = \"mysql-5.7.22\"", "base = \"mysql-8.0.31\"")
        .exits(3)
        .says(&["example.toml:2", "mysql-8.0.31", "mysql-5.7.22"]);
}

#[test]
fn zero_rows() {
    broken("rows = 1000", "rows = 0")
        .exits(3)
        .says(&["example.toml:7", "rows"]);
}

#[test]
fn negative_time() {
    broken("time = \"1s\"", "time = \"-1s\"")
        .exits(3)
        .says(&["example.toml:13", "-1s"]);
}

#[test]
fn an_engine_that_the_version_lacks() {
    broken(
        "build = \"mysql-5.7.22\"",
        "build = \"mysql-5.7.22\"\nengine = \"rocksdb\"",
    )
    .exits(3)
    .says(&[
        "example.toml:10",
        "engine = \"rocksdb\"",
        "mysql-5.7.22",
        "innodb",
    ]);
}

#[test]
fn a_parameter_that_the_workload_does_not_define() {
    broken(
        "workload = \"point-query\"",
        "workload = \"point-query\"\nparameters.range = 10",
    )
    .exits(3)
    .says(&["example.toml:17", "range", "point-query"]);
}

#[test]
fn an_intent_that_the_version_cannot_honour() {
    let with_config = "build = \"mysql-5.0.21\"\nconfig = { performance_schema = true }";
    run(&EXAMPLE
        .replace("build = \"mysql-5.7.22\"", with_config)
        .replace("base = \"mysql-5.7.22\"", "base = \"mysql-5.0.21\""))
    .exits(3)
    .says(&["performance_schema", "mysql-5.0.21"]);
}

#[test]
fn a_file_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["run", "nowhere.toml"]))
        .exits(2)
        .says(&["nowhere.toml"]);
}

#[test]
fn an_unknown_command_and_an_unknown_option() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["reprot"]))
        .exits(2)
        .says(&["reprot", "report"]);
    finish(prony(folder.path(), &["run", "x.toml", "--blocks"]))
        .exits(2)
        .says(&["--blocks"]);
}

#[test]
fn a_folder_that_is_no_run() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["report", "resume"] {
        finish(prony(folder.path(), &[command, "."]))
            .exits(2)
            .says(&["run.sqlite", "hint:"]);
    }
}

#[test]
fn an_unknown_server_build() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["servers", "fetch", "mysql-5.7"]))
        .exits(2)
        .says(&["mysql-5.7", "mysql-5.7.22"]);
}

#[test]
fn a_job_that_is_no_job() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["generator"]))
        .exits(2)
        .says(&["job", "hint:"]);
}

#[test]
fn a_guard_without_its_parent_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("started");
    let touch = [
        "guard",
        "--parent",
        "1",
        "--",
        "touch",
        marker.to_str().unwrap(),
    ];
    finish(prony(folder.path(), &touch))
        .exits(5)
        .says(&["parent"]);
    assert!(!marker.exists());
}

/// Runs `prony load` with a cache of its own, and checks that it told nothing as data.
fn load(arguments: &[&str]) -> Finished {
    let folder = tempfile::tempdir().unwrap();
    let arguments: Vec<&str> = ["load"].iter().chain(arguments).copied().collect();
    let mut command = prony(folder.path(), &arguments);
    command.env("PRONY_CACHE", folder.path().join("cache"));
    let finished = finish(command);
    assert_eq!(finished.stdout, "");
    finished
}

const POINTS: [&str; 2] = ["--workload", "point-query"];
const NOWHERE: [&str; 4] = ["--address", "unix:/nowhere/sock", "--user", "x"];

#[test]
fn a_load_that_makes_no_sense() {
    let with = |parts: &[&[&str]]| load(&parts.concat());
    with(&[&POINTS])
        .exits(2)
        .says(&["--address <ADDRESS>|--build <ID>"]);
    with(&[&NOWHERE, &["--workload", "point-qury"]])
        .exits(2)
        .says(&["no workload `point-qury`", "did you mean `point-query`?"]);
    let range = ["--workload", "read-only", "--param", "rnge=5"];
    with(&[&NOWHERE, &range])
        .exits(2)
        .says(&["no parameter `rnge`", "did you mean `range`?"]);
    let much = ["--workload", "read-only", "--param", "range=20000"];
    with(&[&NOWHERE, &much]).exits(2).says(&["20000"]);
    with(&[&POINTS, &["--build", "mysql-8.0"]])
        .exits(2)
        .says(&["no server build `mysql-8.0`", "mysql-8.0.31"]);
    let setting = ["--build", "mysql-8.0.31", "--set", "bufer_pool=1G"];
    with(&[&POINTS, &setting])
        .exits(2)
        .says(&["unknown intent `bufer_pool`", "did you mean `buffer_pool`?"]);
    let elsewhere = ["--address", "10.0.0.1:3306", "--user", "x"];
    with(&[&POINTS, &elsewhere])
        .exits(2)
        .says(&["not on this machine", "ssh"]);
    let secret = ["--password", "pa55word"];
    let refused = with(&[&NOWHERE, &POINTS, &secret]).exits(2);
    assert!(!refused.stderr.contains("pa55word"), "{}", refused.stderr);
    with(&[&NOWHERE, &POINTS, &["--rate", "100", "--think", "1ms"]])
        .exits(2)
        .says(&["--rate", "--think"]);
    with(&[&NOWHERE, &POINTS, &["--tls", "verify-ca"]])
        .exits(2)
        .says(&["--tls-ca"]);
}

#[test]
fn a_load_with_options_that_do_not_go_together() {
    let with = |parts: &[&[&str]]| load(&parts.concat());
    let build = ["--build", "mysql-8.0.31"];
    with(&[&POINTS, &build, &["--database", "other"]])
        .exits(2)
        .says(&["--address"]);
    with(&[&NOWHERE, &POINTS, &["--images-limit", "1G"]])
        .exits(2)
        .says(&["--address", "--images-limit"]);
    let ring = ["--tls", "required", "--backend", "io-uring"];
    with(&[&NOWHERE, &POINTS, &ring])
        .exits(2)
        .says(&["encrypted connections", "epoll"]);
}

#[test]
fn a_load_without_its_server_or_password() {
    let with = |parts: &[&[&str]]| load(&parts.concat());
    with(&[&NOWHERE, &POINTS])
        .exits(4)
        .says(&["/nowhere/sock", "No such file"]);
    let variable = ["--password-env", "PRONY_NO_SUCH_VARIABLE"];
    with(&[&NOWHERE, &POINTS, &variable])
        .exits(2)
        .says(&["PRONY_NO_SUCH_VARIABLE"]);
    with(&[&NOWHERE, &POINTS, &["--hdr-log", "no/such/folder"]])
        .exits(5)
        .says(&["no/such/folder"]);
}

#[test]
fn a_load_that_does_not_begin_leaves_an_older_log_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("x.hlog");
    std::fs::write(&log, "an older log").unwrap();
    let arguments = ["--hdr-log", log.to_str().unwrap()];
    load(&[&NOWHERE[..], &POINTS, &arguments].concat()).exits(4);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "an older log");
}
