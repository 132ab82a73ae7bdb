//! A fake server for tests: it greets, logs everybody in, prepares anything, keeps a record of
//! what it is asked, and answers as the test wants.

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
use prony_wire::append_packet;

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
    /// These packets, numbered from the given number on.
    Packets(u8, Vec<Vec<u8>>),
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
    /// These bytes in place of the greeting.
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
    record: Record,
    departed: Departed,
}

/// What a server does.
#[derive(Clone)]
struct Play {
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
        let (record, departed) = serve(accept, play);
        Self {
            _folder: Some(folder),
            address: Address::Unix(path),
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
            delivery,
            doors: Arc::new(|_| Door::Open),
            script: Arc::new(script),
        };
        let (record, departed) = serve(accept, play);
        Self {
            _folder: None,
            address: Address::Tcp(address),
            record,
            departed,
        }
    }

    /// Its address.
    pub(crate) fn address(&self) -> Address {
        self.address.clone()
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
                prepared: Vec::new(),
                cuts: BTreeMap::new(),
            };
            // A client that hangs up ends its conversation, not the test.
            let gone = Arc::clone(&gone);
            thread::spawn(move || {
                let end = peer.converse();
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
    prepared: Vec<PreparedText>,
    /// Where the last answer of each length was cut.
    cuts: BTreeMap<usize, usize>,
}

struct PreparedText {
    sql: String,
    params: usize,
    types: Vec<u8>,
}

impl Peer {
    fn converse(&mut self) -> std::io::Result<()> {
        let mut door = (self.play.doors)(self.connection);
        if let Door::Greeting(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.say(0, &[greeting()])?;
        }
        self.hear()?;
        if let Door::Login(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.say(2, &[ok(0)])?;
        }
        let mut number = 0;
        loop {
            let request = self.hear()?;
            let sql = match request[0] {
                0x01 => return Ok(()),
                0x03 => text(&request[1..]),
                0x16 => {
                    match std::mem::replace(&mut door, Door::Open) {
                        Door::Prepare(bytes, then) => self.say_bytes(&bytes, then)?,
                        _ => self.prepare(&text(&request[1..]))?,
                    }
                    continue;
                }
                0x17 => self.execution(&request),
                // Numbers of statements are not given again.
                0x19 => continue,
                other => panic!("unexpected command {other:#x}"),
            };
            let request = Request { number, sql };
            number += 1;
            let mut record = self.record.lock().unwrap();
            record
                .entry(self.connection)
                .or_default()
                .push(request.sql.clone());
            drop(record);
            self.reply((self.play.script)(&request))?;
        }
    }

    fn reply(&mut self, reply: Reply) -> std::io::Result<()> {
        match reply {
            Reply::Ok(affected) => self.say(1, &[ok(affected)]),
            Reply::Err(code) => self.say(1, &[err(code)]),
            Reply::Packets(first, packets) => self.say(first, &packets),
            Reply::Rows(count) => {
                let mut packets = rows(count);
                packets.push(eof());
                self.say(1, &packets)
            }
            Reply::Text(values) => self.say(1, &text_result(&values)),
            Reply::RowsThenErr(count, code) => {
                let mut packets = rows(count);
                packets.push(err(code));
                self.say(1, &packets)
            }
            Reply::HangUp => {
                self.say(1, &rows(1))?;
                Err(ErrorKind::ConnectionAborted.into())
            }
            Reply::Bytes(bytes, then) => self.say_bytes(&bytes, then),
            Reply::LoadRows => self.take_rows(),
        }
    }

    fn take_rows(&mut self) -> std::io::Result<()> {
        self.say(1, &[b"\xfbrows".to_vec()])?;
        let mut lines = Vec::new();
        let mut sequence = 2_u8;
        loop {
            let packet = self.hear()?;
            sequence = sequence.wrapping_add(1);
            if packet.is_empty() {
                break;
            }
            lines.extend_from_slice(&packet);
        }
        let mut record = self.record.lock().unwrap();
        record
            .entry(self.connection)
            .or_default()
            .push(text(&lines));
        drop(record);
        self.say(sequence, &[ok(0)])
    }

    fn say(&mut self, sequence: u8, packets: &[Vec<u8>]) -> std::io::Result<()> {
        let bytes = framed(sequence, packets);
        match self.play.delivery {
            Delivery::Whole => self.stream.write_all(&bytes),
            Delivery::Trickle => {
                for byte in bytes {
                    self.stream.write_all(&[byte])?;
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

    fn say_bytes(&mut self, bytes: &[u8], then: Then) -> std::io::Result<()> {
        self.stream.write_all(bytes)?;
        match then {
            Then::GoOn => Ok(()),
            Then::HangUp => Err(ErrorKind::ConnectionAborted.into()),
            Then::Silence => loop {
                self.hear()?;
            },
        }
    }

    fn hear(&mut self) -> std::io::Result<Vec<u8>> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header)?;
        let [a, b, c, _] = header.map(usize::from);
        let mut payload = vec![0; a | b << 8 | c << 16];
        self.stream.read_exact(&mut payload)?;
        Ok(payload)
    }

    fn prepare(&mut self, sql: &str) -> std::io::Result<()> {
        let params = sql.matches('?').count();
        let id = u8::try_from(self.prepared.len()).unwrap();
        self.prepared.push(PreparedText {
            sql: sql.to_owned(),
            params,
            types: Vec::new(),
        });
        let [low, high] = u16::try_from(params).unwrap().to_le_bytes();
        let mut packets = vec![vec![0, id, 0, 0, 0, 0, 0, low, high, 0, 0, 0]];
        if params > 0 {
            packets.extend((0..params).map(|_| definition()));
            packets.push(eof());
        }
        self.say(1, &packets)
    }

    /// The statement of a `COM_STMT_EXECUTE` with its values in place of the question marks.
    fn execution(&mut self, request: &[u8]) -> String {
        let prepared = &mut self.prepared[usize::from(request[1])];
        if prepared.params == 0 {
            assert_eq!(request.len(), 10);
            return prepared.sql.clone();
        }
        let mut at = 10 + prepared.params.div_ceil(8);
        let types_sent = request[at] == 1;
        at += 1;
        if types_sent {
            prepared.types = request[at..at + 2 * prepared.params]
                .chunks(2)
                .map(|pair| pair[0])
                .collect();
            at += 2 * prepared.params;
        }
        assert_eq!(prepared.types.len(), prepared.params, "types come first");
        let mut sql = String::new();
        let mut pieces = prepared.sql.split('?');
        sql.push_str(pieces.next().unwrap());
        for (piece, kind) in pieces.zip(&prepared.types) {
            if *kind == 8 {
                let bytes = request[at..at + 8].try_into().unwrap();
                sql.push_str(&i64::from_le_bytes(bytes).to_string());
                at += 8;
            } else {
                let length = usize::from(request[at]);
                assert!(length < 0xfb, "short texts only");
                let value = text(&request[at + 1..=at + length]);
                sql.extend(["'", value.as_str(), "'"]);
                at += 1 + length;
            }
            sql.push_str(piece);
        }
        assert_eq!(at, request.len());
        sql
    }
}

pub(crate) fn greeting() -> Vec<u8> {
    let mut greeting = b"\x0a5.6.24\0\x01\0\0\0abcdefgh\0\xff\xf7\x08\x02\0\x08\0\x15".to_vec();
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    greeting
}

/// Packets as bytes, numbered from the given number on.
pub(crate) fn framed(mut sequence: u8, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        sequence = append_packet(&mut bytes, sequence, packet);
    }
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn ok(affected: u8) -> Vec<u8> {
    vec![0, affected, 0, 2, 0, 0, 0]
}

pub(crate) fn eof() -> Vec<u8> {
    vec![0xfe, 0, 0, 2, 0]
}

pub(crate) fn err(code: u16) -> Vec<u8> {
    let mut packet = vec![0xff];
    packet.extend_from_slice(&code.to_le_bytes());
    packet.extend_from_slice(b"#HY000as the test wants");
    packet
}

pub(crate) fn definition() -> Vec<u8> {
    named_definition("k")
}

fn named_definition(name: &str) -> Vec<u8> {
    let mut packet = b"\x03def\0\0\0".to_vec();
    packet.extend(short_text(name));
    packet.extend_from_slice(b"\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0");
    packet
}

fn short_text(text: &str) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(text.len()).unwrap()];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn text_result(values: &[(&str, String)]) -> Vec<Vec<u8>> {
    let mut packets = vec![vec![u8::try_from(values.len()).unwrap()]];
    packets.extend(values.iter().map(|(name, _)| named_definition(name)));
    packets.push(eof());
    packets.push(
        values
            .iter()
            .flat_map(|(_, value)| short_text(value))
            .collect(),
    );
    packets.push(eof());
    packets
}

pub(crate) fn rows(count: usize) -> Vec<Vec<u8>> {
    let mut packets = vec![vec![1], definition(), eof()];
    packets.extend((0..count).map(|_| b"\x03abc".to_vec()));
    packets
}
