//! Fake servers for tests: each is a thread that plays one side of one conversation.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use prony_model::{Family, Tls};
use prony_wire::{AuthPlugin, Channel, append_packet, split_frame};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::{Address, ClientError, Connection, Login};

/// Patience of a client of a fake server.
const TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) const NATIVE: &[u8] = b"mysql_native_password\0";
pub(crate) const SHA2: &[u8] = b"caching_sha2_password\0";
pub(crate) const SHA256: &[u8] = b"sha256_password\0";
pub(crate) const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// The proof that a client gives for `mysql_native_password`.
pub(crate) fn native(password: &str, nonce: &[u8]) -> Vec<u8> {
    AuthPlugin::NativePassword
        .answer(password, nonce, Channel::Local)
        .unwrap()
}

/// Transport of a fake server's bytes.
trait Carrier: Read + Write + Send {}
impl<T: Read + Write + Send> Carrier for T {}

/// The server's side of a conversation.
pub(crate) struct Peer {
    stream: Box<dyn Carrier>,
    pub(crate) sequence: u8,
}

impl Peer {
    fn new(stream: impl Into<OwnedFd>) -> Self {
        Self {
            stream: Box::new(File::from(stream.into())),
            sequence: 0,
        }
    }

    pub(crate) fn say(&mut self, payload: &[u8]) {
        let mut bytes = Vec::new();
        self.sequence = append_packet(&mut bytes, self.sequence, payload);
        self.stream.write_all(&bytes).unwrap();
    }

    pub(crate) fn hear(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        self.stream.read_exact(&mut bytes).unwrap();
        let length = usize::from(bytes[0]) | usize::from(bytes[1]) << 8;
        bytes.resize(4 + length, 0);
        self.stream.read_exact(&mut bytes[4..]).unwrap();
        let (frame, _) = split_frame(&bytes).unwrap();
        self.sequence = frame.sequence.wrapping_add(1);
        frame.payload.to_vec()
    }

    /// Says nothing of TLS.
    pub(crate) fn greet(&mut self, plugin: &[u8]) {
        self.say(&greeting(0xf7, plugin));
    }

    /// Offers TLS and hears what the client makes of it.
    pub(crate) fn offer_tls(&mut self) -> Vec<u8> {
        self.say(&greeting(0xff, NATIVE));
        self.hear()
    }

    /// Goes on in TLS.
    pub(crate) fn encrypt(self, config: Arc<ServerConfig>) -> Self {
        let tls = ServerConnection::new(config).unwrap();
        Self {
            stream: Box::new(StreamOwned::new(tls, self.stream)),
            sequence: self.sequence,
        }
    }

    /// Sends bytes as they are.
    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Hears this number of bytes.
    pub(crate) fn hear_exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Hears bytes that are no packet; returns how many.
    pub(crate) fn hear_bytes(&mut self) -> usize {
        self.stream.read(&mut [0; 4096]).unwrap()
    }

    /// Returns `true` if the client is gone without a word.
    pub(crate) fn has_hung_up(&mut self) -> bool {
        self.hear_bytes() == 0
    }

    /// Greets and accepts any login.
    pub(crate) fn accept(&mut self) {
        self.greet(NATIVE);
        self.hear();
        self.say(OK);
    }
}

/// A greeting whose capabilities have this second byte.
pub(crate) fn greeting(flags: u8, plugin: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x0a8.0.31\0\x2a\0\0\0abcdefgh\0\xff".to_vec();
    bytes.push(flags);
    bytes.extend_from_slice(b"\x08\x02\0\x8f\0\x15");
    bytes.extend_from_slice(&[0; 10]);
    bytes.extend_from_slice(b"ijklmnopqrst\0");
    bytes.extend_from_slice(plugin);
    bytes
}

/// Starts a server for one connection; returns what a client of it gets, and the server.
pub(crate) fn connect(
    password: &str,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Result<Connection, ClientError>, JoinHandle<()>) {
    connect_with(&login(password), script)
}

/// The same over TCP.
pub(crate) fn connect_over_tcp(
    password: &str,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Result<Connection, ClientError>, JoinHandle<()>) {
    connect_over_tcp_with(&login(password), script)
}

/// Starts a server on a unix socket for one connection of this account.
pub(crate) fn connect_with(
    login: &Login,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Result<Connection, ClientError>, JoinHandle<()>) {
    let (_folder, address, server) = listen(script);
    let connection = Connection::connect(&address, login, TIMEOUT);
    (connection, server)
}

/// A server on a unix socket, in a folder of its own, for one connection.
pub(crate) fn listen(
    script: impl FnOnce(Peer) + Send + 'static,
) -> (TempDir, Address, JoinHandle<()>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        script(Peer::new(stream));
    });
    (folder, Address::Unix(path), server)
}

/// The same over TCP.
pub(crate) fn connect_over_tcp_with(
    login: &Login,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Result<Connection, ClientError>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        script(Peer::new(stream));
    });
    let connection = Connection::connect(&address, login, TIMEOUT);
    (connection, server)
}

/// Account of a connection.
pub(crate) fn login(password: &str) -> Login {
    Login {
        family: Family::Mysql,
        user: "prony".into(),
        password: password.into(),
        database: Some("test".into()),
        tls: Tls::Off,
    }
}

/// A connection that is open, and then the script.
pub(crate) fn open(script: impl FnOnce(Peer) + Send + 'static) -> (Connection, JoinHandle<()>) {
    let (connection, server) = connect("", |mut peer| {
        peer.accept();
        script(peer);
    });
    (connection.unwrap(), server)
}
