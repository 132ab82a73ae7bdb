//! Conversations with servers of MySQL and MariaDB.

use std::io::{Read as _, Write as _};

use prony_client::{Connection, Stream};
use prony_model::Family;
use prony_wire::{
    ExecuteTemplate, ParamShape, Progress, Skimmer, Types, append_query, append_quit,
};

use crate::conversation::Conversation;
use crate::server::Server;
use crate::{PASSWORD, record};

/// Builds whose ways to say things differ.
pub(crate) const BUILDS: [&str; 6] = [
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.7.22",
    "mysql-8.0.31",
    "mysql-9.7",
    "mariadb-11.8",
];

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

/// Has them all with a server.
pub(crate) fn record_server(server: &Server) -> Vec<Conversation> {
    prepare_server(server);
    let mut conversations = Vec::new();
    let socket = server.running.admin_address();
    let tcp = server.running.address();
    account(server, "plain", &["IDENTIFIED BY"]);
    for (name, part) in [
        ("statements", talk as fn(Connection)),
        ("long-row", talk_long),
    ] {
        conversations.push(record(
            name,
            (Family::Mysql, &socket),
            "plain",
            PASSWORD,
            part,
        ));
    }
    conversations.push(record(
        "refused",
        (Family::Mysql, &socket),
        "plain",
        "wrong",
        drop,
    ));
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
            conversations.push(record(
                &name,
                (Family::Mysql, &socket),
                user,
                PASSWORD,
                drop,
            ));
        }
        server.admin("FLUSH PRIVILEGES");
        let name = format!("{user}-tcp");
        conversations.push(record(&name, (Family::Mysql, &tcp), user, PASSWORD, drop));
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
