//! Conversations with servers of MySQL and MariaDB: as they were, in pieces, cut short, and damaged.

use std::io::Write;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;

use prony_model::{Family, Tls};
use prony_wire::Channel;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::conversation::{Conversation, of_mysql};
use super::damage::{damage, damaged};
use crate::mysql::connection::Connection;
use crate::mysql::transport::Transport;
use crate::{Address, ClientError, Login, Opening, OpeningProgress, Socket};

/// A conversation in two parts.
#[derive(Debug, Clone)]
struct Replay {
    shown: String,
    address: Address,
    login: Login,
    /// Statements to prepare.
    statements: Vec<String>,
    /// The part that opens the connection: what the server says, and what the client answers, by
    /// turns.
    opening: Vec<(Vec<u8>, Vec<u8>)>,
    /// The rest: what the client asks as text, and the answers.
    asked: Vec<(String, Vec<u8>)>,
}

static REPLAYS: LazyLock<Vec<Replay>> = LazyLock::new(|| {
    of_mysql()
        .iter()
        .map(|(build, it)| Replay::of(build, it))
        .collect()
});

/// The same, of which every one fits into a socket's buffer.
static SHORT: LazyLock<Vec<Replay>> = LazyLock::new(|| {
    let mut short = REPLAYS.clone();
    for replay in &mut short {
        replay.asked.retain(|(_, answer)| answer.len() < 10_000);
    }
    short
});

impl Replay {
    fn of(build: &str, conversation: &Conversation) -> Self {
        let turns: Vec<Vec<u8>> = conversation
            .turns
            .iter()
            .map(|it| it.bytes.clone())
            .collect();
        // The server begins. Packets of a login are numbered on, and statements are prepared before
        // the first is executed.
        let is_opening = |client: &[u8]| client[3] > 0 || client[4] == 0x16;
        let end = (1..turns.len())
            .step_by(2)
            .find(|turn| !is_opening(&turns[*turn]))
            .unwrap_or(turns.len());
        let (opening, rest) = turns.split_at(end);
        let text = |bytes: &[u8]| String::from_utf8(bytes[5..].to_vec()).unwrap();
        let pairs = opening.chunks(2).map(|turns| {
            let client = turns.get(1).cloned().unwrap_or_default();
            (turns[0].clone(), client)
        });
        let requests = opening.iter().skip(1).step_by(2);
        Self {
            shown: format!("{build} {}", conversation.name),
            address: match conversation.channel {
                Channel::Open => Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 1))),
                _ => Address::Unix("/s".into()),
            },
            login: Login {
                family: Family::Mysql,
                user: conversation.user.clone(),
                password: conversation.password.clone(),
                database: Some("sample".into()),
                tls: Tls::Off,
            },
            statements: requests
                .filter(|client| client[4] == 0x16 && client[3] == 0)
                .map(|client| text(client))
                .collect(),
            opening: pairs.collect(),
            asked: rest
                .chunks_exact(2)
                .filter(|turns| turns[0][4] == 3)
                .map(|turns| (text(&turns[0]), turns[1].clone()))
                .collect(),
        }
    }

    fn begin(&self) -> Opening {
        Opening::new(&self.address, &self.login, self.statements.clone())
    }

    fn is_refused(&self) -> bool {
        let (last, _) = self.opening.last().unwrap();
        last[4] == 0xff
    }

    /// Returns `true` if the client says the same every time. A password under a key is random.
    fn is_repeatable(&self) -> bool {
        self.opening.iter().all(|(server, _)| {
            let mark: &[u8] = b"BEGIN PUBLIC KEY";
            !server.windows(mark.len()).any(|window| window == mark)
        })
    }

    /// Everything that the server says.
    fn server_bytes(&self) -> Vec<u8> {
        let opening = self.opening.iter().map(|(server, _)| server);
        let answers = self.asked.iter().map(|(_, answer)| answer);
        opening.chain(answers).flatten().copied().collect()
    }

    /// What a blocking client makes of bytes from which the server's side is read, until its end:
    /// the values of all rows, and the error that ended it.
    fn block(&self, bytes: &[u8]) -> (Vec<Vec<Option<String>>>, Option<ClientError>) {
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(bytes).unwrap();
        // What the client says is kept in the buffer of one who never reads it.
        far.shutdown(Shutdown::Write).unwrap();
        let transport = Transport::new(Socket::from(OwnedFd::from(near)));
        let mut rows = Vec::new();
        let error = self.converse(transport, &mut rows).err();
        (rows, error)
    }

    fn converse(
        &self,
        transport: Transport,
        rows: &mut Vec<Vec<Option<String>>>,
    ) -> Result<(), ClientError> {
        let mut connection = Connection::open(transport, &self.address, &self.login)?;
        for sql in &self.statements {
            connection.prepare(sql)?;
        }
        for (sql, _) in &self.asked {
            match connection.query(sql.as_bytes()) {
                Ok(answer) => rows.extend(answer.rows),
                Err(ClientError::Server { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[test]
fn openings_say_what_the_recorded_client_said() {
    let mut statements = 0;
    for replay in REPLAYS.iter() {
        for piece in [usize::MAX, 1, 5] {
            let mut opening = replay.begin();
            let (last, before) = replay.opening.split_last().unwrap();
            for (server, client) in before {
                let mut out = Vec::new();
                for bytes in server.chunks(piece) {
                    assert!(out.is_empty(), "{}", replay.shown);
                    let progress = opening.feed(bytes, &mut out).unwrap();
                    assert_eq!(progress, OpeningProgress::More, "{}", replay.shown);
                }
                assert_eq!(out.len(), client.len(), "{}", replay.shown);
                if replay.is_repeatable() {
                    assert_eq!(&out, client, "{}", replay.shown);
                }
            }
            let mut out = Vec::new();
            let pieces = last.0.chunks(piece);
            let mut results: Vec<_> = pieces.map(|bytes| opening.feed(bytes, &mut out)).collect();
            match results.pop().unwrap() {
                Ok(progress) => assert_eq!(progress, OpeningProgress::Done),
                Err(ClientError::Login { code, .. }) if code.as_str() == "1045" => {
                    assert!(replay.is_refused());
                }
                Err(error) => panic!("{}: {error}", replay.shown),
            }
            for early in results {
                assert_eq!(early.unwrap(), OpeningProgress::More);
            }
            assert_eq!(out, b"");
            statements += opening.prepared().len();
        }
    }
    // Three statements, three ways to cut, six builds.
    assert_eq!(statements, 54);
}

/// A server that breaks off anywhere leaves nothing that looks open.
#[test]
fn openings_cut_short_are_never_done() {
    for replay in REPLAYS.iter() {
        for (turn, (cut, _)) in replay.opening.iter().enumerate() {
            for end in 0..cut.len() {
                let mut opening = replay.begin();
                let mut out = Vec::new();
                for (server, _) in &replay.opening[..turn] {
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
    for replay in SHORT.iter() {
        let (read, error) = replay.block(&replay.server_bytes());
        match error {
            None => rows += read.len(),
            Some(ClientError::Login { .. }) => assert!(replay.is_refused()),
            Some(error) => panic!("{}: {error}", replay.shown),
        }
    }
    // Of every build 1 row, 100 rows and 1 row, and of the five with procedures the results of one.
    assert_eq!(rows, 6 * 102 + 5 * 3);
}

#[test]
fn connections_cut_short_are_closed() {
    for replay in SHORT.iter().filter(|it| !it.is_refused()) {
        let bytes = replay.server_bytes();
        // What a socket carries takes time, so not every place is cut at.
        for end in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
            let (_, error) = replay.block(&bytes[..end]);
            assert!(matches!(error, Some(ClientError::Closed)), "{error:?}");
        }
    }
}

proptest! {
    /// Damage is an error or goes unseen; it panics nowhere, nothing is waited for, and what the
    /// client says in answer stays short.
    #[test]
    fn damaged_openings(
        replay in select(REPLAYS.as_slice()),
        turn in any::<prop::sample::Index>(),
        damages in vec(damage(), 1..3),
        piece in 1..40_usize,
    ) {
        let mut opening = replay.begin();
        let mut out = Vec::new();
        let turn = turn.index(replay.opening.len());
        for (server, _) in &replay.opening[..turn] {
            opening.feed(server, &mut out).unwrap();
        }
        out.clear();
        for bytes in damaged(&replay.opening[turn].0, &damages).chunks(piece) {
            if opening.feed(bytes, &mut out).is_err() {
                break;
            }
        }
        prop_assert!(out.len() < 1_000);
    }

    #[test]
    fn arbitrary_bytes_for_openings(bytes in vec(any::<u8>(), 0..200), piece in 1..40_usize) {
        let mut opening = REPLAYS[0].begin();
        let mut out = Vec::new();
        for bytes in bytes.chunks(piece) {
            if opening.feed(bytes, &mut out).is_err() {
                break;
            }
        }
    }

    #[test]
    fn damaged_connections(
        replay in select(SHORT.as_slice()),
        damages in vec(damage(), 1..4),
    ) {
        replay.block(&damaged(&replay.server_bytes(), &damages));
    }
}
