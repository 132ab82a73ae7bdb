//! PostgreSQL servers over TCP and TLS, and those that Prony does not start: logins and refusals.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::path::Path;
use std::time::Duration;

use prony_client::{Address, Connection, Login};
use prony_model::{Family, Tls};
use support::{Finished, Shell, finish, live, only_run, prony, write};

/// The oldest, the last that stores passwords as MD5 sums, and the newest.
const BUILDS: [&str; 3] = ["postgresql-9.5.3", "postgresql-13.23", "postgresql-18.6"];

/// Over its socket, over TCP, and encrypted.
fn experiment(builds: &[&str]) -> String {
    let target = |build: &&str| {
        format!(
            "[[target]]\nbuild = \"{build}\"\nmatrix.transport = [\"socket\", \"tcp\"]\n\
             [[target]]\nname = \"{build}-encrypted\"\nbuild = \"{build}\"\ntransport = \"tcp\"\n\
             config = {{ tls = true }}\n"
        )
    };
    let targets: String = builds.iter().map(target).collect();
    format!(
        "name = \"tcp\"\nbase = \"{}-encrypted\"\nblocks = 1\nclients = [2]\nallow = [\"prony.compiled\"]\n\
         [dataset]\ntables = 1\nrows = 1000\n{targets}\
         [sequence]\ntime = \"200ms\"\n\
         [[step]]\nworkload = \"point-query\"\n\
         [[step]]\nworkload = \"point-query\"\nname = \"reconnect\"\nreconnect_every = 3\n",
        builds[0]
    )
}

#[test]
fn answers_over_tcp_and_tls_are_those_over_the_socket() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tcp.toml", &experiment(&BUILDS));
    let verified = finish(prony(folder.path(), &["run", "tcp.toml", "--verify"])).exits(0);
    let said = "all correct, and the same from every target";
    assert!(verified.stdout.contains(said), "{}", verified.stdout);
}

#[test]
fn clients_reconnect_over_tcp_and_tls() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tcp.toml", &experiment(&BUILDS[2..]));
    finish(prony(folder.path(), &["run", "tcp.toml"])).exits(0);
    let run = only_run(folder.path()).join("run.sqlite");
    let database = rusqlite::Connection::open(run).unwrap();
    let outcomes = "SELECT count(*), min(operations) FROM group_outcome
        JOIN step ON step.id = group_outcome.step_id WHERE name = 'reconnect'";
    let (targets, least): (i64, i64) = database
        .query_row(outcomes, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(targets, 3);
    assert!(least > 3 * 2, "{least} operations: every client reconnects");
}

/// Loads an external server with point queries of one table.
fn load(folder: &Path, address: &str, user: &str, more: &[&str]) -> Finished {
    let fixed = [
        "load",
        "--family",
        "postgresql",
        "--address",
        address,
        "--user",
        user,
        "--workload",
        "point-query",
        "--time",
        "200ms",
    ];
    let mut command = prony(folder, &[fixed.as_slice(), more].concat());
    command.env("RIGHT", "right").env("WRONG", "wrong");
    finish(command)
}

/// Makes accounts that a server lets in by each method, and gives back its address.
fn accounts(server: &Shell) -> String {
    let login = Login {
        family: Family::Postgresql,
        user: "root".into(),
        password: String::new(),
        database: None,
        tls: Tls::Off,
    };
    let address = Address::Unix(server.socket.clone());
    let mut admin = Connection::connect(&address, &login, Duration::from_mins(1)).unwrap();
    for statement in [
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE scram LOGIN CREATEDB PASSWORD 'right'",
        "SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD 'right'",
        "CREATE ROLE plain LOGIN PASSWORD 'right'; CREATE ROLE closed LOGIN",
        "CREATE DATABASE own OWNER md5",
    ] {
        let made = statement
            .split("; ")
            .try_for_each(|one| admin.query(one).map(drop));
        made.unwrap();
    }
    let rules = "local all root trust
local own md5 md5
local all plain password
local all closed reject
local all all scram-sha-256\n";
    write(server.socket.parent().unwrap(), "pg_hba.conf", rules);
    admin.query("SELECT pg_reload_conf()").unwrap();
    format!("unix:{address}")
}

#[test]
fn external_servers_let_in_who_proves_it() {
    if !live() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Shell::start(folder.path(), BUILDS[2]);
    let address = accounts(&server);
    let load = |user: &str, more: &[&str]| load(folder.path(), &address, user, more);
    let right = ["--password-env", "RIGHT"];
    let with = |more: &[&'static str]| [&right, more].concat();
    // Who may make databases makes one, who has one needs no other, and neither may prewarm tables.
    load("scram", &with(&["--fill", "--database", "made"])).exits(0);
    load("scram", &with(&["--database", "made"])).exits(0);
    load("md5", &with(&["--fill", "--database", "own"])).exits(0);
    for (user, more, words) in [
        (
            "scram",
            vec!["--password-env", "WRONG"],
            "28P01: password authentication failed",
        ),
        (
            "plain",
            vec!["--password-env", "WRONG"],
            "check the password",
        ),
        ("nosuch", with(&[]), "as `nosuch` with scram-sha-256"),
        (
            "closed",
            with(&[]),
            "check that the account exists and may connect in this way",
        ),
        (
            "scram",
            with(&["--database", "nosuch"]),
            "check that the database exists",
        ),
        (
            "plain",
            with(&["--fill", "--database", "new"]),
            "permission denied to create database",
        ),
        (
            "scram",
            with(&["--clients", "200", "--database", "made"]),
            "53300",
        ),
    ] {
        let refused = load(user, &more).says(&[words]);
        assert_ne!(refused.code, Some(0), "{user}");
    }
    let socket = "PostgreSQL encrypts no connections over unix sockets";
    load("scram", &with(&["--tls", "required"]))
        .exits(2)
        .says(&[socket]);
    let engine = "has no storage engine `innodb`";
    load("scram", &with(&["--engine", "innodb"]))
        .exits(2)
        .says(&[engine, "heap"]);
    server.stop();
}
