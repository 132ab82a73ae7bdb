//! Records what real servers and our client say to each other, for the tests that replay it:
//! `cargo xtask record-conversations` writes the files in `crates/wire/tests/conversations` anew.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers, which may give up where it fails"
)]

#[path = "../../wire/tests/support/conversation.rs"]
mod conversation;
#[path = "../tests/support/server.rs"]
mod server;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::thread;

use prony_client::{Address, ClientError, Connection, Login, Stream};
use prony_model::{Family, Tls};
use prony_wire::{
    Channel, ExecuteTemplate, ParamShape, Progress, Skimmer, Types, append_query, append_quit,
};
use rustix::net::{Shutdown, shutdown};

use conversation::{Conversation, Speaker, Turn, folder, to_text};
use server::{Certificate, LIMIT, Server};

/// Builds whose ways to say things differ.
const BUILDS: [&str; 6] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.7.22",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-11.8",
];

/// The password of all accounts, which die with their servers.
const PASSWORD: &str = "spoken-in-tests-only";
const DATABASE: &str = "sample";

/// Statements to be prepared, and whether the second parameter is a text.
const PREPARED: [&str; 3] = [
    "SELECT c FROM sample.t WHERE id = ?",
    "UPDATE sample.t SET k = k + 1, c = ? WHERE id BETWEEN ? AND 10",
    "DELETE FROM sample.t WHERE k < 0",
];

/// Statements as text: rows, none, one of which has a NULL, long ones, refused ones, changes,
/// several results.
const QUERIES: [&str; 11] = [
    "SELECT c FROM sample.t WHERE id = 42",
    "SELECT id, c, IF(id % 10 = 0, NULL, k) AS k FROM sample.t ORDER BY id",
    "SELECT c FROM sample.t WHERE id = 0",
    "SELECT REPEAT('x', 70000) AS wide",
    "SELEC 1",
    "INSERT INTO sample.t VALUES (1, 1, 'again')",
    "BEGIN",
    "UPDATE sample.t SET k = k + 1 WHERE id <= 7",
    "COMMIT",
    "CALL sample.two_results()",
    "SELECT 'still in step'",
];

/// A row that takes two frames.
const LONG_QUERY: &str = "SELECT REPEAT('x', 16777300) AS longer_than_a_frame";

fn main() {
    for build in BUILDS {
        println!("{build}");
        let server = Server::start(build, Certificate::No);
        let conversations = record_server(&server);
        let comment = format!(
            "What {build} and Prony's client said to each other. Recorded by\n\
             `cargo xtask record-conversations`; the accounts existed for this only."
        );
        let path = folder().join(format!("{build}.txt"));
        fs::write(path, to_text(&comment, &conversations)).unwrap();
    }
}

fn record_server(server: &Server) -> Vec<Conversation> {
    prepare_server(server);
    let mut conversations = Vec::new();
    let socket = server.running.admin_address();
    let tcp = server.running.address();
    account(server, "plain", &["IDENTIFIED BY"]);
    for (name, part) in [
        ("statements", talk as fn(Connection)),
        ("long-row", talk_long),
    ] {
        conversations.push(record(name, &socket, "plain", PASSWORD, part));
    }
    conversations.push(record("refused", &socket, "plain", "wrong", drop));
    for (user, proofs) in [
        ("native", &["IDENTIFIED WITH mysql_native_password BY"][..]),
        ("caching", &["IDENTIFIED WITH caching_sha2_password BY"]),
        ("sha256", &["IDENTIFIED WITH sha256_password BY"]),
        ("signer", &["IDENTIFIED VIA ed25519 USING PASSWORD"]),
    ] {
        if !account(server, user, proofs) {
            continue;
        }
        // The second time, the server remembers some.
        for name in ["first", "again"] {
            let name = format!("{user}-{name}");
            conversations.push(record(&name, &socket, user, PASSWORD, drop));
        }
        server.admin("FLUSH PRIVILEGES");
        let name = format!("{user}-tcp");
        conversations.push(record(&name, &tcp, user, PASSWORD, drop));
    }
    conversations
}

fn prepare_server(server: &Server) {
    // What servers without procedures or plugins say to this is nothing to worry about.
    let _ = server.try_admin("INSTALL SONAME 'auth_ed25519'");
    server.admin("SET GLOBAL max_allowed_packet = 33554432");
    server.admin("CREATE DATABASE sample");
    server.admin("CREATE TABLE sample.t (id INT PRIMARY KEY, k INT, c CHAR(20)) ENGINE = InnoDB");
    let rows: Vec<String> = (1..=100)
        .map(|id| format!("({id}, {}, 'row {id}')", id * 7 % 100))
        .collect();
    server.admin(&format!("INSERT INTO sample.t VALUES {}", rows.join(",")));
    let _ = server.try_admin(
        "CREATE PROCEDURE sample.two_results() \
         BEGIN SELECT 1 AS a; SELECT id, k FROM sample.t WHERE id < 3; END",
    );
}

/// Makes an account for the socket and one for TCP; tells whether the server can. Where it knows
/// no statement for accounts, they are made with their rights.
fn account(server: &Server, user: &str, proofs: &[&str]) -> bool {
    ["localhost", "127.0.0.1"].iter().all(|host| {
        proofs.iter().all(|proof| {
            let who = format!("'{user}'@'{host}'");
            let secret = if proof.ends_with("PASSWORD") {
                format!("('{PASSWORD}')")
            } else {
                format!(" '{PASSWORD}'")
            };
            let right = "ALL ON sample.* TO";
            server
                .try_admin(&format!("CREATE USER {who} {proof}{secret}"))
                .and_then(|_| server.try_admin(&format!("GRANT {right} {who}")))
                .or_else(|_| server.try_admin(&format!("GRANT {right} {who} {proof}{secret}")))
                .is_ok()
        })
    })
}

/// Prepares and executes, and asks as text.
fn talk(mut connection: Connection) {
    let ids = PREPARED.map(|sql| connection.prepare(sql).unwrap().id);
    let mut stream = connection.into_stream().unwrap();
    let number = 1_i64.to_le_bytes();
    for types in [Types::Sent, Types::Omitted] {
        execute(&mut stream, ids[0], types, &[&number]);
        execute(&mut stream, ids[1], types, &[b"changed", &number]);
        execute(&mut stream, ids[2], types, &[]);
    }
    for sql in QUERIES {
        ask(&mut stream, sql);
    }
    quit(&mut stream);
}

fn talk_long(connection: Connection) {
    let mut stream = connection.into_stream().unwrap();
    ask(&mut stream, LONG_QUERY);
    quit(&mut stream);
}

/// Values of 8 bytes are integers, others are texts.
fn execute(stream: &mut Stream, id: u32, types: Types, values: &[&[u8]]) {
    let shapes: Vec<ParamShape> = values
        .iter()
        .map(|value| match value.len() {
            8 => ParamShape::Integer,
            size => ParamShape::Text(size),
        })
        .collect();
    let template = ExecuteTemplate::new(&shapes, types).unwrap();
    let mut request = template.bytes().to_vec();
    request[ExecuteTemplate::ID].copy_from_slice(&id.to_le_bytes());
    for (place, value) in template.values().iter().zip(values) {
        request[place.clone()].copy_from_slice(value);
    }
    converse(stream, &request);
}

fn ask(stream: &mut Stream, sql: &str) {
    let mut request = Vec::new();
    append_query(&mut request, sql.as_bytes());
    converse(stream, &request);
}

/// Sends a request and reads its whole answer.
fn converse(stream: &mut Stream, request: &[u8]) {
    stream.write_all(request).unwrap();
    let mut skimmer = Skimmer::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the server hung up");
        if let Progress::Done { consumed } = skimmer.feed(&buffer[..count]).unwrap() {
            assert_eq!(consumed, count);
            return;
        }
    }
}

fn quit(stream: &mut Stream) {
    let mut goodbye = Vec::new();
    append_quit(&mut goodbye);
    stream.write_all(&goodbye).unwrap();
}

/// Connects through a listener that hears everything, and has a conversation.
fn record(
    name: &str,
    server: &Address,
    user: &str,
    password: &str,
    part: impl FnOnce(Connection),
) -> Conversation {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let (address, channel, mut accept, inner): (_, _, Box<dyn FnMut() -> OwnedFd + Send>, OwnedFd) =
        match server {
            Address::Unix(real) => {
                let listener = UnixListener::bind(&path).unwrap();
                (
                    Address::Unix(path),
                    Channel::Local,
                    Box::new(move || listener.accept().unwrap().0.into()),
                    UnixStream::connect(real).unwrap().into(),
                )
            }
            Address::Tcp(real) => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                (
                    Address::Tcp(listener.local_addr().unwrap()),
                    Channel::Open,
                    Box::new(move || listener.accept().unwrap().0.into()),
                    TcpStream::connect(real).unwrap().into(),
                )
            }
        };
    let login = Login {
        family: Family::Mysql,
        user: user.to_owned(),
        password: password.to_owned(),
        database: Some(DATABASE.to_owned()),
        tls: Tls::Off,
    };
    let turns = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let outer = accept();
            let outer_again = outer.try_clone().unwrap();
            let inner_again = inner.try_clone().unwrap();
            scope.spawn(|| carry(Speaker::Client, outer, inner_again, &turns));
            carry(Speaker::Server, inner, outer_again, &turns);
        });
        match Connection::connect(&address, &login, LIMIT) {
            Ok(connection) => part(connection),
            Err(ClientError::Login { code, .. }) => println!("  {name}: refused with {code}"),
            Err(error) => println!("  {name}: {error}"),
        }
    });
    Conversation {
        name: name.to_owned(),
        user: user.to_owned(),
        password: password.to_owned(),
        channel,
        turns: turns.into_inner().unwrap(),
    }
}

/// Carries the bytes of one side to the other until it ends, and writes them down before.
fn carry(speaker: Speaker, from: OwnedFd, to: OwnedFd, turns: &Mutex<Vec<Turn>>) {
    let (mut from, mut to) = (File::from(from), File::from(to));
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..count];
        note(speaker, bytes, &mut turns.lock().unwrap());
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    // One who is gone need not be told.
    let _ = shutdown(&to, Shutdown::Write).map_err(io::Error::from);
}

fn note(speaker: Speaker, bytes: &[u8], turns: &mut Vec<Turn>) {
    match turns.last_mut() {
        Some(turn) if turn.speaker == speaker => turn.bytes.extend_from_slice(bytes),
        _ => turns.push(Turn {
            speaker,
            bytes: bytes.to_vec(),
        }),
    }
}
