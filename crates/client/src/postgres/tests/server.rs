//! The server's side of conversations.

use std::thread::JoinHandle;

use prony_model::{Family, Tls};
use prony_wire::postgres::{begin_message, finish_message};

use crate::testing::{self, Peer};
use crate::{Connection, Login};

/// A message of the server.
pub(super) fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = begin_message(&mut bytes, tag);
    bytes.extend_from_slice(content);
    finish_message(&mut bytes, start);
    bytes
}

/// A request for a proof of the password, or the end of such.
pub(super) fn authentication(kind: u8, content: &[u8]) -> Vec<u8> {
    message(b'R', &[&[0, 0, 0, kind], content].concat())
}

/// A refusal of this severity, as servers since 9.6 write it.
pub(super) fn refusal(severity: &str, code: &str, text: &str) -> Vec<u8> {
    let fields = format!("S{severity}\0V{severity}\0C{code}\0M{text}\0Fproc.c\0L1\0Rfunction\0\0");
    message(b'E', fields.as_bytes())
}

/// The server waits for the next statement.
pub(super) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// The end of a login.
pub(super) fn accepted() -> Vec<u8> {
    [
        authentication(0, b""),
        message(b'S', b"server_encoding\0LATIN1\0"),
        message(b'S', b"server_version\x0017.5 (Debian 17.5-1)\0"),
        message(b'K', b"\0\0\x01\x02abcd"),
        ready(),
    ]
    .concat()
}

/// Messages that can come at any time.
pub(super) fn asides() -> Vec<u8> {
    [
        message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mby the way\0\0"),
        message(b'S', b"TimeZone\0UTC\0"),
    ]
    .concat()
}

/// The names and types of columns.
pub(super) fn columns(columns: &[(&str, u32)]) -> Vec<u8> {
    let mut content = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for (name, kind) in columns {
        content.extend_from_slice(name.as_bytes());
        content.extend_from_slice(&[0; 7]);
        content.extend_from_slice(&kind.to_be_bytes());
        content.extend_from_slice(&[0; 8]);
    }
    message(b'T', &content)
}

/// A row of texts, `None` for NULL.
pub(super) fn row(values: &[Option<&str>]) -> Vec<u8> {
    let mut content = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        let length = value.map_or(-1, |text| i32::try_from(text.len()).unwrap());
        content.extend_from_slice(&length.to_be_bytes());
        content.extend_from_slice(value.unwrap_or_default().as_bytes());
    }
    message(b'D', &content)
}

/// The end of one statement.
pub(super) fn done(words: &str) -> Vec<u8> {
    message(b'C', format!("{words}\0").as_bytes())
}

/// The client's first message, without its length.
pub(super) fn hear_startup(peer: &mut Peer) -> Vec<u8> {
    let length = u32::from_be_bytes(peer.hear_exactly(4).try_into().unwrap());
    peer.hear_exactly(length as usize - 4)
}

/// A message of the client: its tag and its content.
pub(super) fn hear(peer: &mut Peer) -> (u8, Vec<u8>) {
    let head = peer.hear_exactly(5);
    let length = u32::from_be_bytes(head[1..].try_into().unwrap());
    (head[0], peer.hear_exactly(length as usize - 4))
}

/// A statement as text.
pub(super) fn hear_query(peer: &mut Peer) -> String {
    let (tag, mut content) = hear(peer);
    assert_eq!((tag, content.pop()), (b'Q', Some(0)));
    String::from_utf8(content).unwrap()
}

/// Account of a connection.
pub(super) fn login(password: &str) -> Login {
    Login {
        family: Family::Postgresql,
        ..testing::login(password)
    }
}

/// The same for an encrypted connection.
pub(super) fn encrypted(tls: Tls) -> Login {
    Login {
        tls,
        ..login("secret")
    }
}

/// Accepts any login.
pub(super) fn accept(peer: &mut Peer) {
    hear_startup(peer);
    peer.say_bytes(&accepted());
}

/// A connection that is open, and then the script.
pub(super) fn open(script: impl FnOnce(Peer) + Send + 'static) -> (Connection, JoinHandle<()>) {
    let (connection, server) = testing::connect_with(&login(""), |mut peer| {
        accept(&mut peer);
        script(peer);
    });
    (connection.unwrap(), server)
}
