//! Records what real servers and our client say to each other, for the tests that replay it:
//! `cargo xtask record-conversations` writes the files in `crates/wire/tests/conversations` anew.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for developers, which may give up where it fails"
)]

#[path = "../../../wire/tests/support/conversation.rs"]
mod conversation;
mod mysql;
mod postgres;
#[path = "../../tests/support/server.rs"]
mod server;

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::thread;

use prony_client::{Address, ClientError, Connection, Login};
use prony_model::{Family, Tls};
use prony_wire::Channel;
use rustix::net::{Shutdown, shutdown};

use conversation::{Conversation, Speaker, Turn, folder, to_text};
use server::{Certificate, LIMIT, Server};

/// The password of all accounts, which die with their servers.
const PASSWORD: &str = "spoken-in-tests-only";
const DATABASE: &str = "sample";

fn main() {
    let only: Vec<String> = env::args().skip(1).collect();
    let all = (mysql::BUILDS
        .iter()
        .map(|build| (*build, mysql::record_server as Recorder)))
    .chain(
        postgres::BUILDS
            .iter()
            .map(|build| (*build, postgres::record_server as Recorder)),
    );
    for (build, record_server) in all {
        if !only.is_empty() && !only.iter().any(|it| it == build) {
            continue;
        }
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

/// Has all conversations with a server.
type Recorder = fn(&Server) -> Vec<Conversation>;

/// Connects through a listener that hears everything, and has a conversation.
fn record(
    name: &str,
    (family, server): (Family, &Address),
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
        family,
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
