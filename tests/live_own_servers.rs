//! Servers of the user's own: a real server as a folder, as an archive, and as an archive at an
//! address, and what is said of those that are none.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use prony_host::{Launcher, Roots};
use prony_model::StopFlag;
use prony_servers::{Catalogue, Depot};
use support::{EXAMPLE, Finished, PRONY, finish, live, prony, write};

/// A folder for the user's catalogue and a cache, and a real server to add.
struct Stage {
    folder: tempfile::TempDir,
    server: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let catalogue = Catalogue::embedded().unwrap();
        let roots = Roots::from_environment().unwrap();
        let launcher = Launcher::new(PRONY.into()).unwrap();
        let depot = Depot::new(&roots, &catalogue, &launcher);
        let build = depot.fetch("mysql-5.7.22", &StopFlag::default(), &mut |_| ());
        Self {
            folder: tempfile::tempdir().unwrap(),
            server: build.unwrap().root,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command with a cache and a configuration of its own.
    fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = prony(self.path(), arguments);
        command
            .env("PRONY_CACHE", self.path().join("cache"))
            .env("XDG_CONFIG_HOME", self.path().join("config"));
        finish(command)
    }

    /// The server as an archive, in a folder that is named after the release.
    fn archive(&self) -> PathBuf {
        let archive = self.path().join("server.tar.gz");
        let release = self.path().join("mysql-5.7.22-linux");
        std::os::unix::fs::symlink(&self.server, &release).unwrap();
        let status = Command::new("tar")
            .args(["--create", "--gzip", "--dereference", "--file"])
            .arg(&archive)
            .arg("--directory")
            .arg(self.path())
            .arg("mysql-5.7.22-linux")
            .status();
        assert!(status.unwrap().success());
        archive
    }

    /// Names below the cache where things would be left.
    fn left(&self) -> Vec<String> {
        let shelves = ["builds", "downloads", "instances"];
        let shelves = shelves
            .iter()
            .map(|shelf| self.path().join("cache").join(shelf));
        let mut left: Vec<_> = shelves
            .flat_map(|shelf| fs::read_dir(shelf).into_iter().flatten())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        left
    }
}

fn sha256(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(' ').next().unwrap().to_owned()
}

/// Serves a file at an address of the loopback interface, again and again.
fn serve(file: &Path) -> String {
    let body = fs::read(file).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 1024]).unwrap();
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            connection.write_all(head.as_bytes()).unwrap();
            connection.write_all(&body).unwrap();
        }
    });
    format!("http://{address}/server.tar.gz")
}

#[test]
fn a_folder_is_added_and_used_in_place() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let server = stage.server.to_str().unwrap();
    let added = stage
        .run(&["servers", "add", server, "--id", "mine"])
        .exits(0);
    for word in ["5.7.22", "innodb, myisam, memory", "build = \"mine\""] {
        assert!(added.stdout.contains(word), "{word}");
    }
    let entry = fs::read_to_string(stage.path().join("config/prony/catalog/mine.toml")).unwrap();
    assert!(
        entry.contains(&format!("from.path = \"{server}\"")),
        "{entry}"
    );
    // Every command knows it from now on.
    let listed = stage.run(&["servers", "list"]).exits(0);
    assert!(listed.stdout.contains("mine "));
    let verified = stage.run(&["servers", "verify", "mine"]).exits(0);
    assert!(verified.stdout.starts_with("mine: ok, 5.7.22"));
    // An experiment has it where it is, and leaves out what is nowhere.
    let target = |id: &str| format!("[[target]]\nbuild = \"{id}\"\noptional = true\n\n");
    let targets = format!("{}{}[sequence]", target("mine"), target("nowhere"));
    let experiment = EXAMPLE.replace("[sequence]", &targets);
    write(stage.path(), "example.toml", &experiment);
    let checked = stage.run(&["run", "example.toml", "--verify"]).exits(0);
    assert!(checked.stdout.contains("answers of 2 targets"));
    checked.says(&["nowhere is not on this machine: left out"]);
    // Nothing is replaced.
    stage
        .run(&["servers", "add", server, "--id", "mine"])
        .exits(2)
        .says(&["`mine`", "--id"]);
    assert!(stage.server.join("bin/mysqld").is_file());
}

#[test]
fn an_archive_is_added_and_comes_by_address_too() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let archive = stage.archive();
    let sum = sha256(&archive);
    let own = stage.path().join("own");
    let folder = own.to_str().unwrap();
    stage
        .run(&[
            "servers",
            "add",
            "server.tar.gz",
            "--id",
            "mine",
            "--catalog",
            folder,
        ])
        .exits(0);
    let entry = fs::read_to_string(own.join("mine.toml")).unwrap();
    assert!(
        entry.contains(&sum) && entry.contains("mysql-5.7.22-linux"),
        "{entry}"
    );

    let from_file = format!(
        "from.archive = \"{}\"",
        archive.canonicalize().unwrap().display()
    );
    let from_url = format!("from.url = \"{}\"", serve(&archive));
    let by_address = entry
        .replace("id = \"mine\"", "id = \"by-address\"")
        .replace(&from_file, &from_url);
    assert!(by_address.contains("from.url"), "{by_address}");
    write(&own, "by-address.toml", &by_address);
    let verified = stage
        .run(&[
            "servers",
            "verify",
            "by-address",
            "mine",
            "--catalog",
            folder,
        ])
        .exits(0);
    for id in ["by-address", "mine"] {
        assert!(
            verified.stdout.contains(&format!("{id}: ok, 5.7.22")),
            "{id}"
        );
    }

    let other = by_address
        .replace(&sum, &"0".repeat(64))
        .replace("by-address", "other");
    write(&own, "other.toml", &other);
    stage
        .run(&["servers", "fetch", "other", "--catalog", folder])
        .exits(4)
        .says(&["SHA-256", &sum, "refused"]);
    assert_eq!(stage.left(), ["by-address", "mine"]);
}

#[test]
fn what_is_no_server_leaves_nothing_behind() {
    if !live() {
        return;
    }
    let stage = Stage::new();
    let whole = fs::read(stage.archive()).unwrap();
    fs::write(stage.path().join("cut.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    fs::create_dir_all(stage.path().join("empty/bin")).unwrap();
    // The same program with the number of another processor: `e_machine` of elf(5).
    let mut foreign = fs::read(stage.server.join("bin/mysqld")).unwrap();
    foreign[18] = 183;
    fs::create_dir_all(stage.path().join("foreign/bin")).unwrap();
    fs::write(stage.path().join("foreign/bin/mysqld"), foreign).unwrap();
    for (path, code, words) in [
        ("empty", 2, ["empty", "mysqld", "bin"]),
        (
            "cut.tar.gz",
            4,
            ["cut.tar.gz", "cut short", "download it again"],
        ),
        ("foreign", 4, ["foreign", "64-bit ARM", "x86_64"]),
    ] {
        let added = stage.run(&["servers", "add", path]);
        added.exits(code).says(&words);
    }
    assert!(stage.left().is_empty(), "{:?}", stage.left());
    assert!(!stage.path().join("config").exists());
}
