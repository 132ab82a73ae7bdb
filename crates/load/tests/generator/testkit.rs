//! A fake server for tests: it greets, logs everybody in, prepares anything, keeps a record of
//! what it is asked, and answers as the test wants.

#[path = "testkit/mysql.rs"]
pub(crate) mod mysql;
#[path = "testkit/postgres.rs"]
pub(crate) mod postgres;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use prony_client::Address;
use prony_model::{ErrorCode, Family};

thread_local! {
    static SPOKEN: Cell<Family> = const { Cell::new(Family::Mysql) };
}

/// Chooses the protocol of the servers that this thread starts.
pub(crate) fn speak(family: Family) {
    SPOKEN.set(family);
}

/// The family of the servers that this thread starts.
pub(crate) fn spoken() -> Family {
    SPOKEN.get()
}

/// `true` if the servers that this thread starts are of PostgreSQL.
pub(crate) fn is_postgres() -> bool {
    spoken() == Family::Postgresql
}

/// Errors of MySQL and their counterparts.
const CODES: [(u16, &str); 6] = [
    (1062, "23505"),
    (1146, "42P01"),
    (1205, "55P03"),
    (1213, "40P01"),
    (1295, "0A000"),
    (1317, "57014"),
];

/// The code of an error of MySQL, as the servers say it that this thread starts.
pub(crate) fn code(number: u16) -> ErrorCode {
    if !is_postgres() {
        return number.into();
    }
    sqlstate(number).parse().unwrap()
}

fn sqlstate(number: u16) -> &'static str {
    let known = CODES.iter().find(|(code, _)| *code == number);
    known
        .unwrap_or_else(|| panic!("{number} has no counterpart"))
        .1
}

/// An answer that a number of rows changed, as bytes.
pub(crate) fn ok_bytes(affected: u8) -> Vec<u8> {
    if is_postgres() {
        postgres::changed(affected)
    } else {
        mysql::framed(1, &[mysql::ok(affected)])
    }
}

/// An answer of rows, as bytes.
pub(crate) fn rows_bytes(count: usize) -> Vec<u8> {
    if is_postgres() {
        postgres::rows(count)
    } else {
        mysql::framed(1, &[mysql::rows(count), vec![mysql::eof()]].concat())
    }
}

/// What a client asked, in words: SQL with its values.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Number of the request on the connection, counted from 0, preparing not included.
    pub(crate) number: usize,
    /// The statement.
    pub(crate) sql: String,
}

/// What the server does about it.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// OK with so many affected rows.
    Ok(u8),
    /// One column and so many rows.
    Rows(usize),
    /// One row of text: names of columns and their values.
    Text(Vec<(&'static str, String)>),
    /// An error.
    Err(u16),
    /// One column, so many rows, and then an error.
    RowsThenErr(usize, u16),
    /// Half an answer, and the connection closed.
    HangUp,
    /// These bytes, and what follows them.
    Bytes(Vec<u8>, Then),
    /// Asks for rows to load, takes them into the record, and is content.
    LoadRows,
}

/// What the server does after bytes that a test wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Goes on as if nothing were wrong.
    GoOn,
    /// Closes the connection.
    HangUp,
    /// Says nothing until the client closes it.
    Silence,
}

/// What the server does wrong before the first statement of a connection.
#[derive(Debug, Clone)]
pub(crate) enum Door {
    /// Nothing.
    Open,
    /// These bytes in place of the first that a server says: MySQL's greeting, or PostgreSQL's request for the
    /// password.
    Greeting(Vec<u8>, Then),
    /// These in place of the answer to the login.
    Login(Vec<u8>, Then),
    /// These in place of the answer to the first statement that is to be prepared.
    Prepare(Vec<u8>, Then),
}

/// How the server's bytes arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// An answer at once.
    Whole,
    /// Byte by byte.
    Trickle,
    /// In two parts: the first answer of a length cut after its first byte, the next after its
    /// second, and so on, over and over.
    Cut,
}

/// How long a client that is to leave may take.
const PATIENCE: Duration = Duration::from_mins(1);

type Script = dyn Fn(&Request) -> Reply + Send + Sync;
/// What happens to a connection, by its number.
type Doors = dyn Fn(usize) -> Door + Send + Sync;
type Record = Arc<Mutex<BTreeMap<usize, Vec<String>>>>;
type Departed = Arc<Mutex<Departures>>;
/// A server's side of a new connection, of either kind.
type Accept = dyn FnMut() -> OwnedFd + Send;

/// Clients that are gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Departures {
    /// Those that said goodbye.
    pub(crate) goodbyes: usize,
    /// Connections that ended, with a goodbye or without.
    pub(crate) ended: usize,
}

/// A server that runs as long as the process.
pub(crate) struct FakeServer {
    /// Keeps the folder of a unix socket.
    _folder: Option<tempfile::TempDir>,
    address: Address,
    family: Family,
    record: Record,
    departed: Departed,
}

/// What a server does.
#[derive(Clone)]
struct Play {
    family: Family,
    delivery: Delivery,
    doors: Arc<Doors>,
    script: Arc<Script>,
}

impl FakeServer {
    /// Starts a server on a unix socket that answers by `script`.
    pub(crate) fn start(
        delivery: Delivery,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start_on_unix(Play {
            family: spoken(),
            delivery,
            doors: Arc::new(|_| Door::Open),
            script: Arc::new(script),
        })
    }

    /// Starts a server on a unix socket that does wrong when somebody connects.
    pub(crate) fn start_behind(
        doors: impl Fn(usize) -> Door + Send + Sync + 'static,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start_on_unix(Play {
            family: spoken(),
            delivery: Delivery::Whole,
            doors: Arc::new(doors),
            script: Arc::new(script),
        })
    }

    fn start_on_unix(play: Play) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let accept = Box::new(move || listener.accept().unwrap().0.into());
        let family = play.family;
        let (record, departed) = serve(accept, play);
        Self {
            _folder: Some(folder),
            address: Address::Unix(path),
            family,
            record,
            departed,
        }
    }

    /// Starts a server on TCP that answers by `script`.
    pub(crate) fn start_over_tcp(
        delivery: Delivery,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accept = Box::new(move || listener.accept().unwrap().0.into());
        let play = Play {
            family: spoken(),
            delivery,
            doors: Arc::new(|_| Door::Open),
            script: Arc::new(script),
        };
        let family = play.family;
        let (record, departed) = serve(accept, play);
        Self {
            _folder: None,
            address: Address::Tcp(address),
            family,
            record,
            departed,
        }
    }

    /// Its address.
    pub(crate) fn address(&self) -> Address {
        self.address.clone()
    }

    /// Its family.
    pub(crate) fn family(&self) -> Family {
        self.family
    }

    /// What was asked so far, by connection.
    pub(crate) fn record(&self) -> BTreeMap<usize, Vec<String>> {
        self.record.lock().unwrap().clone()
    }

    /// Who is gone by now.
    pub(crate) fn departures(&self) -> Departures {
        *self.departed.lock().unwrap()
    }

    /// Waits until so many connections have ended.
    pub(crate) fn wait_for_ends(&self, connections: usize) {
        let begin = Instant::now();
        while self.departures().ended < connections {
            let departures = self.departures();
            assert!(begin.elapsed() < PATIENCE, "{departures:?} {connections}");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Answers every connection from now on; returns the records that are kept.
fn serve(mut accept: Box<Accept>, play: Play) -> (Record, Departed) {
    let (record, departed) = (Record::default(), Departed::default());
    let for_server = Arc::clone(&record);
    let gone = Arc::clone(&departed);
    thread::spawn(move || {
        for connection in 0.. {
            let mut peer = Peer {
                stream: accept().into(),
                connection,
                play: play.clone(),
                record: Arc::clone(&for_server),
                asked: 0,
                prepared: BTreeMap::new(),
                cuts: BTreeMap::new(),
            };
            // A client that hangs up ends its conversation, not the test.
            let gone = Arc::clone(&gone);
            thread::spawn(move || {
                let end = match peer.play.family {
                    Family::Postgresql => peer.converse_postgres(),
                    Family::Mysql | Family::Mariadb => peer.converse_mysql(),
                };
                let mut gone = gone.lock().unwrap();
                gone.goodbyes += usize::from(end.is_ok());
                gone.ended += 1;
            });
        }
    });
    (record, departed)
}

struct Peer {
    stream: File,
    connection: usize,
    play: Play,
    record: Record,
    /// Statements that were asked, preparing not included.
    asked: usize,
    /// Prepared statements by their names.
    prepared: BTreeMap<String, PreparedText>,
    /// Where the last answer of each length was cut.
    cuts: BTreeMap<usize, usize>,
}

struct PreparedText {
    sql: String,
    params: usize,
    types: Vec<u8>,
}

impl Peer {
    /// Sends an answer, as the test wants it delivered.
    fn deliver(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self.play.delivery {
            Delivery::Whole => self.stream.write_all(bytes),
            Delivery::Trickle => {
                for byte in bytes {
                    self.stream.write_all(&[*byte])?;
                    thread::sleep(Duration::from_micros(20));
                }
                Ok(())
            }
            Delivery::Cut => {
                let cut = self.cuts.entry(bytes.len()).or_default();
                *cut = 1 + *cut % bytes.len();
                let (first, second) = bytes.split_at(*cut);
                self.stream.write_all(first)?;
                thread::sleep(Duration::from_micros(200));
                self.stream.write_all(second)
            }
        }
    }

    /// Sends bytes in place of an answer.
    fn say_bytes(&mut self, bytes: &[u8], then: Then) -> std::io::Result<()> {
        self.stream.write_all(bytes)?;
        match then {
            Then::GoOn => Ok(()),
            Then::HangUp => Err(ErrorKind::ConnectionAborted.into()),
            Then::Silence => loop {
                self.stream.read_exact(&mut [0])?;
            },
        }
    }

    /// Puts a statement, or rows, into the record.
    fn note(&self, sql: &str) {
        let mut record = self.record.lock().unwrap();
        let asked = record.entry(self.connection).or_default();
        asked.push(sql.to_owned());
    }

    /// The test's reply to the next statement.
    fn asked(&mut self, sql: String) -> Reply {
        self.note(&sql);
        let number = self.asked;
        self.asked += 1;
        (self.play.script)(&Request { number, sql })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
