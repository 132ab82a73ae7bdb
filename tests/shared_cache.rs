//! A cache folder that several containers share: each has a PID namespace of its own, in which
//! the process numbers of the others mean other processes or none.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use support::{PRONY, Watched, finish, prony, wait_for};

/// Calibrating starts children and makes a folder for them, and needs no server build.
const LONG: [&str; 3] = ["calibrate", "--time", "10m"];
const SHORT: [&str; 5] = ["calibrate", "--time", "10ms", "--clients", "1"];

/// The arguments of `unshare` that make a PID namespace with a `/proc` of its own; `None`, with
/// the reason printed, where this user may not.
fn container() -> Option<Vec<&'static str>> {
    let contained = vec!["--pid", "--fork", "--mount-proc", "--kill-child"];
    let mapped = [&["--user", "--map-root-user"], contained.as_slice()].concat();
    let permitted = |arguments: &Vec<&str>| {
        let mut command = Command::new("unshare");
        command.args(arguments).arg("true").stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = [contained, mapped].into_iter().find(permitted);
    if found.is_none() {
        eprintln!("skipped: `unshare --pid` is not there or not permitted");
    }
    found
}

/// The binary in a container of its own.
fn contained(container: &[&str], cache: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(container).arg(PRONY).args(arguments);
    command
        .current_dir(cache)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .env("PRONY_CACHE", cache);
    command
}

/// The folder of the null server, once that listens.
fn null_server(cache: &Path) -> PathBuf {
    let limit = Duration::from_mins(1);
    wait_for("a null server that listens", limit, || {
        let entries = fs::read_dir(cache.join("instances")).ok()?;
        let folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.into_iter().find(|folder| listens(folder))
    })
}

fn listens(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .any(|path| UnixStream::connect(path).is_ok())
}

#[test]
fn the_children_and_folders_of_another_container_are_left_alone() {
    let Some(container) = container() else { return };
    let root = tempfile::tempdir().unwrap();
    let cache = root.path();
    let mut first = Watched::start(contained(&container, cache, &LONG));
    let folder = null_server(cache);
    let left_alone = [folder.to_str().unwrap(), "left alone"];

    let second = contained(&container, cache, &SHORT);
    finish(second).exits(0).says(&left_alone);
    assert!(listens(&folder), "from another container");

    let mut outside = prony(cache, &SHORT);
    outside.env("PRONY_CACHE", cache);
    finish(outside).exits(0).says(&left_alone);
    assert!(listens(&folder), "from the host of the containers");
    assert!(first.is_running());
}

#[test]
fn leftovers_of_the_same_place_are_still_removed() {
    let root = tempfile::tempdir().unwrap();
    let cache = root.path();
    let with_cache = |arguments: &[&str]| {
        let mut command = prony(cache, arguments);
        command.env("PRONY_CACHE", cache);
        command
    };
    let killed = Watched::start(with_cache(&LONG));
    let folder = null_server(cache);
    killed.kill();
    finish(with_cache(&SHORT))
        .exits(0)
        .says(&["removed folder", folder.to_str().unwrap()]);
    assert!(!folder.exists());
}
