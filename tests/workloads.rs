//! `prony workloads`: the built-in ones and one's own.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use support::{finish, prony, write};

const MINE: &str = r#"# My own words.
[[workload]]
name = "point-query"
group = "point"
effect = "none"
description = "The row with the lowest key"

[[workload.statement]]
name = "lowest"
sql = "SELECT c FROM {table} WHERE id = 1"
expect.rows = "1"
"#;

#[test]
fn every_workload_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let list = finish(prony(folder.path(), &["workloads", "list"])).exits(0);
    let line = |name: &str| {
        let mut lines = list.stdout.lines();
        let found = lines.find(|line| line.split_whitespace().next() == Some(name));
        found
            .unwrap()
            .split_whitespace()
            .take(5)
            .collect::<Vec<_>>()
    };
    assert_eq!(list.stdout.lines().count(), 67);
    assert_eq!(
        line("read-write"),
        ["read-write", "mixed", "rewrite", "sbtest", "range=100"]
    );
    assert_eq!(line("hot-update-indexed")[3], "foo");
    let json = finish(prony(
        folder.path(),
        &["workloads", "list", "--format", "json"],
    ))
    .exits(0);
    let all: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 67);
    assert_eq!(all[0]["name"], "point-query");
}

#[test]
fn what_is_shown_can_be_used_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let shown = finish(prony(folder.path(), &["workloads", "show", "write-only"])).exits(0);
    assert!(
        shown
            .stdout
            .starts_with("[[workload]]\nname = \"write-only\"\n")
    );
    assert!(shown.stdout.contains("table = \"previous\""));
    let mine = shown.stdout.replace("\"write-only\"", "\"my-writes\"");
    write(folder.path(), "mine.toml", &mine);
    let arguments = ["workloads", "show", "my-writes", "--workloads", "mine.toml"];
    let again = finish(prony(folder.path(), &arguments)).exits(0);
    assert_eq!(again.stdout, mine);
}

#[test]
fn ones_own_workloads_come_first() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mine.toml", MINE);
    let own = ["--workloads", "mine.toml"];
    let show = [&["workloads", "show", "point-query"], &own[..]].concat();
    assert_eq!(finish(prony(folder.path(), &show)).exits(0).stdout, MINE);
    let list = [&["workloads", "list"], &own[..]].concat();
    let list = finish(prony(folder.path(), &list)).exits(0).stdout;
    assert_eq!(list.lines().count(), 67);
    assert!(list.starts_with("point-query "), "{list}");
    assert!(list.contains("The row with the lowest key"), "{list}");
}

#[test]
fn unknown_workloads_and_wrong_files() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["workloads", "show", "read_only"]))
        .exits(2)
        .says(&[
            "there is no workload `read_only`",
            "did you mean `read-only`",
        ]);
    write(folder.path(), "mine.toml", &MINE.replace("effect", "efect"));
    let list = ["workloads", "list", "--workloads", "mine.toml"];
    finish(prony(folder.path(), &list))
        .exits(3)
        .says(&["mine.toml:5", "unknown key `efect`"]);
}
