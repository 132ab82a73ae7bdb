//! Conversations with servers of PostgreSQL.

use std::fs;
use std::io::{Read as _, Write as _};

use prony_client::{Connection, Login, Stream};
use prony_model::Family;
use prony_wire::Progress;
use prony_wire::postgres::{
    PostgresExecute, PostgresParam, PostgresSkimmer, append_terminate, begin_message,
    finish_message,
};

use crate::conversation::Conversation;
use crate::server::{LIMIT, Server};
use crate::{DATABASE, PASSWORD, record};

/// Builds whose ways to say things differ: the first names no severity that programs can rely on and
/// knows no SCRAM.
pub(crate) const BUILDS: [&str; 3] = ["postgresql-9.5.3", "postgresql-12.22", "postgresql-18.6"];

/// Statements to be prepared.
const PREPARED: [&str; 3] = [
    "SELECT c FROM t WHERE id = $1::int4",
    "UPDATE t SET k = k + 1, c = $1 WHERE id BETWEEN $2::int4 AND 10",
    "DELETE FROM t WHERE k < 0",
];

/// Statements as text: rows, none, one of which has a NULL, long ones, refused ones, changes, several
/// results, a notice, a changed setting, nothing, a transaction that failed.
const QUERIES: [&str; 18] = [
    "SELECT c FROM t WHERE id = 42",
    "SELECT id, c, CASE WHEN id % 10 = 0 THEN NULL ELSE k END AS k FROM t ORDER BY id",
    "SELECT c FROM t WHERE id = 0",
    "SELECT repeat('x', 70000) AS wide",
    "SELEC 1",
    "INSERT INTO t VALUES (1, 1, 'again')",
    "BEGIN",
    "UPDATE t SET k = k + 1 WHERE id <= 7",
    "COMMIT",
    "SELECT 1 AS a; SELECT id, k FROM t WHERE id < 3; UPDATE t SET k = k WHERE id < 3",
    "DO $$ BEGIN RAISE NOTICE 'by the way'; END $$",
    "SET application_name = 'replayed'",
    "",
    "BEGIN",
    "SELECT 1 / 0",
    "SELECT 1",
    "COMMIT",
    "SELECT 'still in step'",
];

/// Has them all with a server.
pub(crate) fn record_server(server: &Server) -> Vec<Conversation> {
    let knows_scram = prepare_server(server);
    let socket = (Family::Postgresql, &server.running.admin_address());
    let mut conversations = Vec::new();
    for (name, part) in [
        ("statements", talk as fn(Connection)),
        ("rows", send_rows),
        ("terminated", terminate),
    ] {
        conversations.push(record(name, socket, "plain", PASSWORD, part));
    }
    conversations.push(record("clear", socket, "clear", PASSWORD, drop));
    conversations.push(record("digest", socket, "digest", PASSWORD, drop));
    conversations.push(record("digest-refused", socket, "digest", "wrong", drop));
    if knows_scram {
        conversations.push(record("scram", socket, "scram", PASSWORD, drop));
        conversations.push(record("scram-refused", socket, "scram", "wrong", drop));
    }
    conversations.push(record("unknown", socket, "unknown", PASSWORD, drop));
    conversations
}

/// Makes a table and accounts; returns `true` if the server knows SCRAM.
fn prepare_server(server: &Server) -> bool {
    server.admin(&format!("CREATE DATABASE {DATABASE}"));
    let login = Login {
        database: Some(DATABASE.to_owned()),
        ..server.running.admin_login()
    };
    let mut admin = Connection::connect(&server.running.admin_address(), &login, LIMIT).unwrap();
    let mut run = |sql: &str| admin.query(sql).unwrap();
    run("CREATE TABLE t (id INT PRIMARY KEY, k INT, c CHAR(20))");
    run("INSERT INTO t SELECT id, id * 7 % 100, 'row ' || id FROM generate_series(1, 100) AS id");
    run("CREATE ROLE plain LOGIN SUPERUSER");
    run(&format!("CREATE ROLE clear LOGIN PASSWORD '{PASSWORD}'"));
    // As the server would store it, which not every version can be asked to.
    let digest = run(&format!("SELECT 'md5' || md5('{PASSWORD}digest')"));
    let digest = digest.single().unwrap();
    run(&format!("CREATE ROLE digest LOGIN PASSWORD '{digest}'"));
    let mut accounts = "local all clear password\nlocal all digest md5\n".to_owned();
    let knows_scram = server.try_admin(&format!(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE scram LOGIN PASSWORD '{PASSWORD}'"
    ));
    if knows_scram.is_ok() {
        accounts.push_str("local all scram scram-sha-256\n");
    }
    let file = run("SHOW hba_file");
    let file = file.single().unwrap();
    accounts.push_str(&fs::read_to_string(file).unwrap());
    fs::write(file, accounts).unwrap();
    run("SELECT pg_reload_conf()");
    knows_scram.is_ok()
}

/// Prepares and executes, and asks as text.
fn talk(mut connection: Connection) {
    let ids = PREPARED.map(|sql| connection.prepare(sql).unwrap().id);
    let mut stream = connection.into_stream().unwrap();
    let number = 1_i32.to_be_bytes();
    for _ in 0..2 {
        execute(&mut stream, ids[0], &[&number]);
        execute(&mut stream, ids[1], &[b"changed", &number]);
        execute(&mut stream, ids[2], &[]);
    }
    for sql in QUERIES {
        ask(&mut stream, sql);
    }
    quit(&mut stream);
}

/// Sends rows, and rows that the server refuses in the middle.
fn send_rows(mut connection: Connection) {
    for first in [101, 102] {
        let mut rows = (first..104).map(|id| format!("{id}\t{id}\tsent\n"));
        let mut next = |out: &mut Vec<u8>| out.extend(rows.next().unwrap_or_default().bytes());
        let sql = "COPY t (id, k, c) FROM STDIN";
        assert_eq!(connection.load_rows(sql, &mut next).is_ok(), first == 101);
    }
    connection.query("DELETE FROM t WHERE id > 100").unwrap();
}

/// Ends its own session, as an administrator can.
fn terminate(mut connection: Connection) {
    let sql = "SELECT pg_terminate_backend(pg_backend_pid())";
    connection.query(sql).unwrap_err();
}

/// Values of 4 bytes are integers, others are texts.
fn execute(stream: &mut Stream, id: u32, values: &[&[u8]]) {
    let shapes: Vec<PostgresParam> = values
        .iter()
        .map(|value| match value.len() {
            4 => PostgresParam::Int4,
            size => PostgresParam::Text(size),
        })
        .collect();
    let layout = PostgresExecute::new(&shapes).unwrap();
    let mut request = layout.bytes().to_vec();
    PostgresExecute::set_id(&mut request, id);
    for (place, value) in layout.values().iter().zip(values) {
        request[place.clone()].copy_from_slice(value);
    }
    converse(stream, &request);
}

fn ask(stream: &mut Stream, sql: &str) {
    let mut request = Vec::new();
    let start = begin_message(&mut request, b'Q');
    request.extend_from_slice(sql.as_bytes());
    request.push(0);
    finish_message(&mut request, start);
    converse(stream, &request);
}

/// Sends a request and reads its whole answer.
fn converse(stream: &mut Stream, request: &[u8]) {
    stream.write_all(request).unwrap();
    let mut skimmer = PostgresSkimmer::default();
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
    append_terminate(&mut goodbye);
    stream.write_all(&goodbye).unwrap();
}
