//! The null server over real sockets, with the project's own client and with raw bytes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, outside of functions marked as tests"
)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use prony_client::{Address, ClientError, Connection, Login};
use prony_model::{Family, Tls};
use prony_null::{NullError, NullServer};
use prony_wire::postgres::{PostgresExecute, PostgresParam, PostgresSkimmer};
use prony_wire::{
    ExecuteTemplate, ParamShape, Progress, Skimmer, Types, append_query, split_frame,
};

/// Patience of a client: long enough for a machine that is busy with other tests.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A null server that runs as a thread of the test.
struct Running {
    family: Family,
    address: Address,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), NullError>>>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(service: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        Self::start_at(folder, Family::Mysql, Address::Unix(path), service)
    }

    fn start_of_postgresql(service: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        Self::start_at(folder, Family::Postgresql, Address::Unix(path), service)
    }

    fn start_at(
        folder: tempfile::TempDir,
        family: Family,
        address: Address,
        service: Duration,
    ) -> Self {
        let mut server = NullServer::bind(address.clone(), family, service).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || server.serve(&|| asked.load(Ordering::Relaxed)));
        Self {
            family,
            address,
            stop,
            thread: Some(thread),
            _folder: folder,
        }
    }

    fn path(&self) -> PathBuf {
        match &self.address {
            Address::Unix(path) => path.clone(),
            Address::Tcp(_) => panic!("a unix socket"),
        }
    }

    fn connect(&self) -> Connection {
        Connection::connect(&self.address, &login(self.family), TIMEOUT).unwrap()
    }

    /// A connection whose bytes the test writes itself, after the login.
    fn raw(&self) -> prony_client::Stream {
        self.connect().into_stream().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join().unwrap();
        if !thread::panicking() {
            ended.unwrap();
        }
    }
}

fn login(family: Family) -> Login {
    Login {
        family,
        user: "anybody".into(),
        password: "any password".into(),
        database: Some("sbtest".into()),
        tls: Tls::Off,
    }
}

/// Reads so many answers and counts their rows.
fn rows_of(answers: usize, stream: &mut impl Read) -> u64 {
    let mut skimmer = Skimmer::default();
    let mut rows = 0;
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    for _ in 0..answers {
        skimmer.start(1);
        loop {
            match skimmer.feed(&bytes).unwrap() {
                Progress::Done { consumed } => {
                    bytes.drain(..consumed);
                    break;
                }
                Progress::More => {
                    let count = stream.read(&mut buffer).unwrap();
                    assert!(count > 0, "the server hung up");
                    bytes = buffer[..count].to_vec();
                }
            }
        }
        assert!(skimmer.error().is_none());
        rows += skimmer.tally().rows;
    }
    assert!(bytes.is_empty());
    rows
}

#[test]
fn the_client_of_prony_is_served() {
    let server = Running::start(Duration::ZERO);
    let mut connection = server.connect();
    assert_eq!(connection.server_version(), "8.0.31-null");
    let answer = connection
        .query("SELECT c FROM sbtest1 WHERE id=1")
        .unwrap();
    assert_eq!(answer.columns, ["c"]);
    assert_eq!(answer.single().unwrap().len(), 119);
    let answer = connection.query("UPDATE sbtest1 SET k=k+1").unwrap();
    assert_eq!((answer.affected, answer.rows.len()), (1, 0));
    assert_eq!(connection.query("BEGIN").unwrap().affected, 0);

    let statement = connection
        .prepare("DELETE FROM sbtest1 WHERE id=?")
        .unwrap();
    assert_eq!((statement.params, statement.columns), (1, 0));
    let template = ExecuteTemplate::new(&[ParamShape::Integer], Types::Sent).unwrap();
    let mut request = template.bytes().to_vec();
    request[ExecuteTemplate::ID].copy_from_slice(&statement.id.to_le_bytes());
    assert_eq!(connection.execute(&request).unwrap().affected, 1);
    connection.close(statement).unwrap();
    assert_eq!(connection.query("COMMIT").unwrap().affected, 0);
}

#[test]
fn binary_rows_are_what_the_generator_reads() {
    let server = Running::start(Duration::ZERO);
    let mut connection = server.connect();
    let statement = connection
        .prepare("SELECT c FROM sbtest1 WHERE id=?")
        .unwrap();
    assert_eq!((statement.params, statement.columns), (1, 1));
    let template = ExecuteTemplate::new(&[ParamShape::Integer], Types::Omitted).unwrap();
    let mut request = template.bytes().to_vec();
    request[ExecuteTemplate::ID].copy_from_slice(&statement.id.to_le_bytes());
    let mut stream = connection.into_stream().unwrap();
    stream.write_all(&request.repeat(3)).unwrap();
    assert_eq!(rows_of(3, &mut stream), 3);
}

#[test]
fn tcp_is_served_alike() {
    // The port is free again when the listener is dropped.
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address: SocketAddr = free.local_addr().unwrap();
    drop(free);
    let folder = tempfile::tempdir().unwrap();
    let address = Address::Tcp(address);
    let server = Running::start_at(folder, Family::Mysql, address, Duration::ZERO);
    assert_eq!(server.connect().query("SELECT 1").unwrap().rows.len(), 1);
}

#[test]
fn the_client_of_prony_is_served_in_the_protocol_of_postgresql() {
    let server = Running::start_of_postgresql(Duration::ZERO);
    let mut connection = server.connect();
    assert_eq!(connection.server_version(), "18.0 (null)");
    let answer = connection
        .query("SELECT c FROM sbtest1 WHERE id=1")
        .unwrap();
    assert_eq!(answer.columns, ["c"]);
    assert_eq!(answer.single().unwrap().len(), 119);
    let answer = connection.query("UPDATE sbtest1 SET k=k+1").unwrap();
    assert_eq!((answer.affected, answer.rows.len()), (1, 0));
    assert_eq!(connection.query("BEGIN").unwrap().affected, 0);
    let statement = connection
        .prepare("DELETE FROM sbtest1 WHERE id=$1::int4")
        .unwrap();
    assert_eq!((statement.params, statement.columns), (1, 0));
    let request = postgres_request(statement.id);
    assert_eq!(connection.execute(&request).unwrap().affected, 1);
    connection.close(statement).unwrap();
    let refused = connection.execute(&request).unwrap_err();
    assert!(refused.to_string().contains("26000"), "{refused}");
    assert_eq!(connection.query("COMMIT").unwrap().affected, 0);
}

/// The execution of a statement with one number.
fn postgres_request(id: u32) -> Vec<u8> {
    let layout = PostgresExecute::new(&[PostgresParam::Int4]).unwrap();
    let mut request = layout.bytes().to_vec();
    PostgresExecute::set_id(&mut request, id);
    request
}

#[test]
fn many_executions_at_once_are_all_answered_in_postgresql() {
    let requests = 50_000;
    let server = Running::start_of_postgresql(Duration::ZERO);
    let mut connection = server.connect();
    let sql = "SELECT c FROM sbtest1 WHERE id=$1::int4";
    let statement = connection.prepare(sql).unwrap();
    assert_eq!((statement.params, statement.columns), (1, 1));
    let request = postgres_request(statement.id);
    let mut stream = connection.into_stream().unwrap();
    let mut writer = UnixStream::from(rustix::io::dup(stream.socket()).unwrap());
    let writing = thread::spawn(move || writer.write_all(&request.repeat(requests)).unwrap());
    let mut skimmer = PostgresSkimmer::default();
    let mut buffer = [0; 4096];
    let (mut answers, mut rows) = (0, 0);
    while answers < requests {
        let count = stream.read(&mut buffer).unwrap();
        let mut bytes = &buffer[..count];
        while let Progress::Done { consumed } = skimmer.feed(bytes).unwrap() {
            assert_eq!(skimmer.refused(), None);
            (answers, rows) = (answers + 1, rows + skimmer.tally().rows);
            skimmer.start();
            bytes = &bytes[consumed..];
            if bytes.is_empty() {
                break;
            }
        }
    }
    assert_eq!((answers, rows), (requests, requests as u64));
    writing.join().unwrap();
}

#[test]
fn a_service_time_is_that_of_executions_in_postgresql_too() {
    let server = Running::start_of_postgresql(Duration::from_millis(2));
    let mut connection = server.connect();
    let statement = connection.prepare("DELETE FROM t WHERE id=$1").unwrap();
    let request = postgres_request(statement.id);
    let begin = Instant::now();
    for _ in 0..50 {
        assert_eq!(connection.execute(&request).unwrap().affected, 1);
    }
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(100), "{took:?}");
}

#[test]
fn requests_byte_by_byte() {
    let server = Running::start(Duration::ZERO);
    let mut stream = server.raw();
    let mut request = Vec::new();
    append_query(&mut request, b"SELECT 1");
    for byte in &request {
        stream.write_all(&[*byte]).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(rows_of(1, &mut stream), 1);
}

#[test]
fn many_requests_at_once_are_all_answered() {
    let requests = 50_000;
    let server = Running::start(Duration::ZERO);
    let mut stream = server.raw();
    let mut request = Vec::new();
    append_query(&mut request, b"SELECT 1");
    // More than sockets hold in either direction: the server has to wait for its reader.
    let mut writer = UnixStream::from(rustix::io::dup(stream.socket()).unwrap());
    let writing = thread::spawn(move || writer.write_all(&request.repeat(requests)).unwrap());
    assert_eq!(rows_of(requests, &mut stream), requests as u64);
    writing.join().unwrap();
}

#[test]
fn who_hangs_up_makes_room() {
    let server = Running::start(Duration::ZERO);
    for _ in 0..200 {
        let mut connection = server.connect();
        connection.query("SELECT 1").unwrap();
    }
    let kept: Vec<_> = (0..200).map(|_| server.connect()).collect();
    // Without a word, in the middle of a request.
    let mut raw = server.raw();
    raw.write_all(&[9, 0]).unwrap();
    drop(raw);
    for mut connection in kept {
        connection.query("SELECT 1").unwrap();
    }
}

#[test]
fn nonsense_is_refused_and_the_connection_closed() {
    let server = Running::start(Duration::ZERO);
    let mut stream = UnixStream::connect(server.path()).unwrap();
    stream.write_all(b"\x03\0\0\x01abc").unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let (greeting, rest) = split_frame(&said).unwrap();
    let (error, rest) = split_frame(rest).unwrap();
    assert_eq!((greeting.payload[0], error.payload[0]), (10, 0xff));
    assert!(rest.is_empty());
    let unknown = server.connect().shutdown().unwrap_err();
    assert!(matches!(unknown, ClientError::Server { code, .. } if code == 1047.into()));
}

#[test]
fn a_service_time_limits_all_clients_together() {
    let server = Running::start(Duration::from_millis(2));
    let begin = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut connection = server.connect();
            scope.spawn(move || {
                for _ in 0..25 {
                    assert_eq!(connection.query("SELECT 1").unwrap().rows.len(), 1);
                }
            });
        }
    });
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(200), "{took:?}");
}

#[test]
fn answers_keep_their_order_when_only_some_take_time() {
    let server = Running::start(Duration::from_millis(5));
    let mut stream = server.raw();
    let mut requests = Vec::new();
    append_query(&mut requests, b"SELECT 1");
    requests.extend_from_slice(&[1, 0, 0, 0, 0x0e]);
    append_query(&mut requests, b"SELECT 1");
    stream.write_all(&requests).unwrap();
    for rows in [1, 0, 1] {
        assert_eq!(rows_of_next(&mut stream), rows);
    }
}

/// Rows of the next answer, read byte by byte so that nothing of the one after it is taken.
fn rows_of_next(stream: &mut impl Read) -> u64 {
    let mut skimmer = Skimmer::default();
    skimmer.start(1);
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte).unwrap();
        if let Progress::Done { .. } = skimmer.feed(&byte).unwrap() {
            return skimmer.tally().rows;
        }
    }
}

#[test]
fn an_address_that_is_taken_is_said() {
    let server = Running::start(Duration::ZERO);
    let path = server.path();
    let Err(error) = NullServer::bind(Address::Unix(path.clone()), Family::Mysql, Duration::ZERO)
    else {
        panic!("the socket is taken");
    };
    let error = error.to_string();
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    assert!(error.contains("end what listens there"), "{error}");
    // The other server still listens.
    server.connect();
    drop(server);
    assert!(!path.exists());
    let long = Address::Unix(path.with_file_name("x".repeat(120)));
    let Err(error) = NullServer::bind(long, Family::Mysql, Duration::ZERO) else {
        panic!("too long");
    };
    assert!(error.to_string().contains("107 bytes"), "{error}");
}
