//! Conversations with servers of PostgreSQL: as they were, in pieces, cut short, and damaged.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use prony_model::{Family, Tls};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::conversation::{Conversation, of_postgres};
use super::damage::{damage, damaged};
use crate::postgres::connection::Connection;
use crate::{Address, ClientError, Login, Opening, OpeningProgress, Socket};

/// A conversation in two parts.
#[derive(Debug, Clone)]
struct Replay {
    shown: String,
    login: Login,
    /// Statements to prepare.
    statements: Vec<String>,
    /// The part that opens the connection: what the client says, and what the server answers, by turns.
    opening: Vec<(Vec<u8>, Vec<u8>)>,
    /// The rest.
    asked: Vec<(Request, Vec<u8>)>,
}

#[derive(Debug, Clone)]
enum Request {
    Query(String),
    /// Rows, after the statement that asked for them.
    Rows,
}

static REPLAYS: LazyLock<Vec<Replay>> = LazyLock::new(|| {
    of_postgres()
        .iter()
        .map(|(build, it)| Replay::of(build, it))
        .collect()
});

/// Those whose client says the same every time: a proof by SCRAM is random.
static REPEATABLE: LazyLock<Vec<Replay>> = LazyLock::new(|| {
    let mut repeatable = REPLAYS.clone();
    repeatable.retain(|replay| !replay.shown.contains("scram"));
    for replay in &mut repeatable {
        // Each fits into a socket's buffer.
        replay.asked.retain(|(_, answer)| answer.len() < 10_000);
    }
    repeatable
});

impl Replay {
    fn of(build: &str, conversation: &Conversation) -> Self {
        let pairs = conversation.turns.chunks_exact(2);
        let pairs: Vec<(Vec<u8>, Vec<u8>)> = pairs
            .map(|turns| (turns[0].bytes.clone(), turns[1].bytes.clone()))
            .collect();
        let is_opening = |client: &[u8]| matches!(client[0], 0 | b'p' | b'P');
        let end = pairs.iter().position(|(client, _)| !is_opening(client));
        let (opening, rest) = pairs.split_at(end.unwrap_or(pairs.len()));
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap();
            String::from_utf8(bytes[..end].to_vec()).unwrap()
        };
        let asked = rest.iter().filter_map(|(client, server)| {
            let request = match client[0] {
                b'Q' => Request::Query(text(&client[5..])),
                b'd' => Request::Rows,
                _ => return None,
            };
            Some((request, server.clone()))
        });
        Self {
            shown: format!("{build} {}", conversation.name),
            login: Login {
                family: Family::Postgresql,
                user: conversation.user.clone(),
                password: conversation.password.clone(),
                database: Some("sample".into()),
                tls: Tls::Off,
            },
            statements: (opening.iter())
                .filter(|(client, _)| client[0] == b'P')
                .map(|(client, _)| text(&client[5 + "s00000000\0".len()..]))
                .collect(),
            opening: opening.to_vec(),
            asked: asked.collect(),
        }
    }

    fn begin(&self, out: &mut Vec<u8>) -> Opening {
        let address = Address::Unix("/s".into());
        let mut opening = Opening::new(&address, &self.login, self.statements.clone());
        opening.begin(out).unwrap();
        opening
    }

    fn is_refused(&self) -> bool {
        let (_, last) = self.opening.last().unwrap();
        !last.ends_with(b"Z\0\0\0\x05I")
    }

    /// What a blocking client makes of the server's turns, of which one is changed and the rest left out:
    /// the values of all rows, and the error that ended it.
    fn block(
        &self,
        changed: Option<(usize, &[u8])>,
    ) -> (Vec<Vec<Option<String>>>, Option<ClientError>) {
        let opening = self.opening.iter().map(|(_, server)| server);
        let asked = self.asked.iter().map(|(_, server)| server);
        let turns = opening.chain(asked).map(Vec::as_slice).enumerate();
        let last = changed.map_or(usize::MAX, |(index, _)| index);
        let turns: Vec<&[u8]> = turns
            .take_while(|(index, _)| *index <= last)
            .map(|(index, turn)| changed.filter(|it| it.0 == index).map_or(turn, |it| it.1))
            .collect();
        let (near, mut far) = UnixStream::pair().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut heard = [0; 1 << 12];
                for turn in turns {
                    // Each request comes in one write, except rows and their end.
                    if !matches!(far.read(&mut heard), Ok(1..)) || far.write_all(turn).is_err() {
                        return;
                    }
                }
                let _ = far.shutdown(Shutdown::Write);
                while matches!(far.read(&mut heard), Ok(1..)) {}
            });
            let mut rows = Vec::new();
            let error = self.converse(near, &mut rows).err();
            (rows, error)
        })
    }

    fn converse(
        &self,
        near: UnixStream,
        rows: &mut Vec<Vec<Option<String>>>,
    ) -> Result<(), ClientError> {
        let address = Address::Unix("/s".into());
        let socket = Socket::from(OwnedFd::from(near));
        let patience = Duration::from_secs(5);
        let mut connection = Connection::open(socket, &address, &self.login, patience)?;
        for sql in &self.statements {
            connection.prepare(sql)?;
        }
        for (request, _) in &self.asked {
            let answer = match request {
                Request::Query(sql) if sql.starts_with("COPY") => continue,
                Request::Query(sql) => connection.query(sql.as_bytes()),
                Request::Rows => connection.load_rows("COPY t (id, k, c) FROM STDIN", &mut |_| ()),
            };
            match answer {
                Ok(answer) => rows.extend(answer.rows),
                Err(ClientError::Server { code, .. }) if code.as_str() != "57P01" => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[test]
fn openings_say_what_the_recorded_client_said() {
    let mut statements = 0;
    for replay in REPEATABLE.iter() {
        for piece in [usize::MAX, 1, 5] {
            let mut out = Vec::new();
            let mut opening = replay.begin(&mut out);
            let (last, before) = replay.opening.split_last().unwrap();
            for (client, server) in before {
                assert_eq!(&out, client, "{}", replay.shown);
                out.clear();
                for bytes in server.chunks(piece) {
                    assert!(out.is_empty(), "{}", replay.shown);
                    let progress = opening.feed(bytes, &mut out).unwrap();
                    assert_eq!(progress, OpeningProgress::More, "{}", replay.shown);
                }
            }
            assert_eq!(out, last.0, "{}", replay.shown);
            let pieces = last.1.chunks(piece);
            let mut out = Vec::new();
            let mut results: Vec<_> = pieces.map(|bytes| opening.feed(bytes, &mut out)).collect();
            match results.pop().unwrap() {
                Ok(progress) => assert_eq!(progress, OpeningProgress::Done),
                Err(ClientError::Login { .. }) => assert!(replay.is_refused()),
                Err(error) => panic!("{}: {error}", replay.shown),
            }
            for early in results {
                assert_eq!(early.unwrap(), OpeningProgress::More);
            }
            assert_eq!(out, b"");
            statements += opening.prepared().len();
        }
    }
    // Three statements, three ways to cut, three builds.
    assert_eq!(statements, 27);
}

/// The challenge answers the nonce of another.
#[test]
fn proofs_by_scram_are_not_repeated() {
    let mut replays = 0;
    for replay in REPLAYS.iter().filter(|it| it.shown.contains("scram")) {
        let mut out = Vec::new();
        let mut opening = replay.begin(&mut out);
        opening.feed(&replay.opening[0].1, &mut out).unwrap();
        let error = opening.feed(&replay.opening[1].1, &mut out).unwrap_err();
        assert!(error.to_string().contains("invalid nonce"), "{error}");
        replays += 1;
    }
    // Two builds know it.
    assert_eq!(replays, 4);
}

/// A server that breaks off anywhere leaves nothing that looks open.
#[test]
fn openings_cut_short_are_never_done() {
    for replay in REPEATABLE.iter().filter(|it| !it.is_refused()) {
        for (turn, (_, cut)) in replay.opening.iter().enumerate() {
            for end in 0..cut.len() {
                let mut out = Vec::new();
                let mut opening = replay.begin(&mut out);
                for (_, server) in &replay.opening[..turn] {
                    opening.feed(server, &mut out).unwrap();
                }
                let progress = opening.feed(&cut[..end], &mut out).unwrap();
                assert_eq!(progress, OpeningProgress::More, "{}", replay.shown);
            }
        }
    }
}

#[test]
fn connections_read_the_same_rows() {
    let mut rows = 0;
    for replay in REPEATABLE.iter() {
        let (read, error) = replay.block(None);
        match error {
            None => rows += read.len(),
            Some(ClientError::Login { .. }) => assert!(replay.is_refused()),
            Some(ClientError::Server { code, .. }) if code.as_str() == "57P01" => {
                assert!(replay.shown.contains("terminated"));
            }
            Some(error) => panic!("{}: {error}", replay.shown),
        }
    }
    // Of every build 1 row, 100 rows, the 3 of several results, and 1 row.
    assert_eq!(rows, 3 * 105);
}

#[test]
fn connections_cut_short_are_closed() {
    for replay in REPEATABLE.iter().filter(|it| !it.is_refused()) {
        let opening = replay.opening.iter().map(|(_, server)| server);
        let asked = replay.asked.iter().map(|(_, server)| server);
        for (index, turn) in opening.chain(asked).enumerate() {
            // What a socket carries takes time, so not every place is cut at.
            let places = (0..turn.len()).step_by(turn.len().div_ceil(20));
            for end in places.chain([turn.len() - 1]) {
                let (_, error) = replay.block(Some((index, &turn[..end])));
                let is_closed = match &error {
                    Some(ClientError::Closed) => true,
                    // What it said before it went is the better error.
                    Some(ClientError::Server { code, .. }) => code.as_str() == "57P01",
                    _ => false,
                };
                assert!(is_closed, "{} {index} {end}: {error:?}", replay.shown);
            }
        }
    }
}

proptest! {
    /// Damage is an error or goes unseen; it panics nowhere, nothing is waited for, and what the client
    /// says in answer stays short.
    #[test]
    fn damaged_openings(
        replay in select(REPLAYS.as_slice()),
        turn in any::<prop::sample::Index>(),
        damages in vec(damage(), 1..3),
        piece in 1..40_usize,
    ) {
        let mut out = Vec::new();
        let mut opening = replay.begin(&mut out);
        let turn = turn.index(replay.opening.len());
        for (_, server) in &replay.opening[..turn] {
            if opening.feed(server, &mut out).is_err() {
                return Ok(());
            }
        }
        out.clear();
        for bytes in damaged(&replay.opening[turn].1, &damages).chunks(piece) {
            if opening.feed(bytes, &mut out).is_err() {
                break;
            }
        }
        prop_assert!(out.len() < 1_000);
    }

    #[test]
    fn arbitrary_bytes_for_openings(bytes in vec(any::<u8>(), 0..200), piece in 1..40_usize) {
        let mut out = Vec::new();
        let mut opening = REPLAYS[0].begin(&mut out);
        for bytes in bytes.chunks(piece) {
            if opening.feed(bytes, &mut out).is_err() {
                break;
            }
        }
    }

    #[test]
    fn damaged_connections(
        replay in select(REPEATABLE.as_slice()),
        turn in any::<prop::sample::Index>(),
        damages in vec(damage(), 1..4),
    ) {
        let opening = replay.opening.iter().map(|(_, server)| server);
        let asked = replay.asked.iter().map(|(_, server)| server);
        let turns: Vec<&Vec<u8>> = opening.chain(asked).collect();
        let index = turn.index(turns.len());
        replay.block(Some((index, &damaged(turns[index], &damages))));
    }
}
