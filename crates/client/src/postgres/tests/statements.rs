//! Statements and their answers.

use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use prony_wire::postgres::{PostgresExecute, PostgresParam};

use super::server::{
    accepted, asides, columns, done, hear, hear_query, login, message, open, ready, refusal, row,
};
use crate::postgres::answer::{Answered, Answering};
use crate::postgres::connection;
use crate::postgres::messages::Inbox;
use crate::{Address, Answer, ClientError, Socket};

/// CHAR(n), int4 and text.
const TYPES: [(&str, u32); 3] = [("c", 1042), ("k", 23), ("t", 25)];

/// Answers of every kind, with what is read in them; an error is given by its code.
fn answers() -> Vec<(Vec<u8>, Result<Answer, &'static str>)> {
    let text = |text: &str| Some(text.to_owned());
    let rows = [
        asides(),
        columns(&TYPES),
        row(&[Some("padded   "), Some("7"), Some("blank ")]),
        asides(),
        row(&[Some(""), None, Some("é")]),
        done("SELECT 2"),
        asides(),
        ready(),
    ]
    .concat();
    let read = Answer {
        columns: vec!["c".into(), "k".into(), "t".into()],
        rows: vec![
            vec![text("padded"), text("7"), text("blank ")],
            vec![text(""), None, text("é")],
        ],
        ..Answer::default()
    };
    let changed = |affected| Answer {
        affected,
        ..Answer::default()
    };
    vec![
        (rows, Ok(read)),
        ([done("UPDATE 12"), ready()].concat(), Ok(changed(12))),
        ([done("INSERT 0 3"), ready()].concat(), Ok(changed(3))),
        ([done("CREATE TABLE"), ready()].concat(), Ok(changed(0))),
        (
            [done("BEGIN"), done("DELETE 4"), ready()].concat(),
            Ok(changed(4)),
        ),
        ([message(b'I', b""), ready()].concat(), Ok(changed(0))),
        (
            [
                columns(&TYPES[1..2]),
                row(&[Some("1")]),
                asides(),
                refusal("ERROR", "22012", "division by zero"),
                asides(),
                ready(),
            ]
            .concat(),
            Err("22012"),
        ),
    ]
}

/// Reads an answer that comes in these pieces.
fn read(pieces: &[&[u8]]) -> Result<Answer, ClientError> {
    let mut inbox = Inbox::new(1 << 20);
    let mut answering = Answering::default();
    for piece in pieces {
        inbox.put(piece);
        while let Some(message) = inbox.take()? {
            if let Answered::Done(answer) = answering.take(&message)? {
                assert_eq!(inbox.len(), 0);
                return Ok(answer);
            }
        }
    }
    Err(ClientError::Closed)
}

fn check(read: Result<Answer, ClientError>, expected: &Result<Answer, &'static str>) {
    match (read, expected) {
        (Ok(answer), Ok(expected)) => assert_eq!(answer, *expected),
        (Err(ClientError::Server { code, .. }), Err(expected)) => {
            assert_eq!(code.as_str(), *expected);
        }
        (read, expected) => panic!("{read:?}, expected {expected:?}"),
    }
}

#[test]
fn answers_read_alike_however_they_are_cut() {
    for (bytes, expected) in answers() {
        for place in 0..=bytes.len() {
            let (first, second) = bytes.split_at(place);
            check(read(&[first, second]), &expected);
            if place < bytes.len() {
                assert!(matches!(read(&[first]), Err(ClientError::Closed)));
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        check(read(&single), &expected);
    }
}

/// The answer to a query that comes over a socket, which ends after these bytes.
fn query(answer: &[u8]) -> Result<Answer, ClientError> {
    let (near, mut far) = UnixStream::pair().unwrap();
    let socket = Socket::from(OwnedFd::from(near));
    let patience = Duration::from_secs(5);
    let address = Address::Unix("/s".into());
    far.write_all(&accepted()).unwrap();
    let opened = connection::Connection::open(socket, &address, &login(""), patience);
    let mut connection = opened.unwrap();
    far.write_all(answer).unwrap();
    far.shutdown(Shutdown::Write).unwrap();
    let answer = connection.query(b"SELECT 1");
    let is_open = answer.is_ok() || matches!(answer, Err(ClientError::Server { .. }));
    assert_eq!(connection.socket().is_some(), is_open);
    answer
}

#[test]
fn a_server_that_is_gone_in_an_answer() {
    for (bytes, expected) in answers() {
        check(query(&bytes), &expected);
        let words = b"division by zero";
        let refused = bytes.windows(words.len()).position(|it| it == words);
        for place in 0..bytes.len() {
            match query(&bytes[..place]).unwrap_err() {
                ClientError::Closed => {}
                // What it said before it went is the better error.
                ClientError::Server { .. } => assert!(refused.is_some_and(|it| place > it)),
                error => panic!("{error}"),
            }
        }
    }
}

#[test]
fn last_words_of_a_server_are_kept() {
    let text = "terminating connection due to administrator command";
    let error = query(&refusal("FATAL", "57P01", text)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("run the statement: server error 57P01: {text}")
    );
}

#[test]
fn messages_without_a_place_in_answers() {
    for answer in [
        message(b'R', &[0; 4]),
        message(b'K', &[0; 8]),
        message(b'H', b"\0\0\0"),
        message(b'd', b"row"),
        message(b'c', b""),
        message(b'!', b""),
        message(b'W', b"\0\0\0"),
        message(b'C', b"no end"),
        message(b'Z', b""),
        message(b'1', b"surplus"),
        message(b'D', b"\0\x02\0\0\0\x01a"),
        message(b'T', b"\0\x01no end"),
        b"D\0\0\0\x03".to_vec(),
        b"D\xff\xff\xff\xff".to_vec(),
    ] {
        let shown = format!("{answer:?}");
        let error = query(&[answer, ready()].concat()).unwrap_err();
        let is_named = matches!(
            error,
            ClientError::Message { .. } | ClientError::Protocol { .. }
        );
        assert!(is_named, "{shown}: {error}");
    }
}

#[test]
fn a_refused_statement_leaves_the_connection_usable() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(hear_query(&mut peer), "SELEC");
        peer.say_bytes(&refusal("ERROR", "42601", "syntax error"));
        peer.say_bytes(&ready());
        assert_eq!(hear_query(&mut peer), "SELECT 1");
        peer.say_bytes(&[done("SELECT 0"), ready()].concat());
        assert_eq!(hear(&mut peer).0, b'X');
    });
    let error = connection.query("SELEC").unwrap_err();
    assert_eq!(
        error.to_string(),
        "run the statement: server error 42601: syntax error"
    );
    connection.query("SELECT 1").unwrap();
    drop(connection);
    server.join().unwrap();
}

#[test]
fn errors_that_break_the_conversation_close_it() {
    let (mut connection, server) = open(|mut peer| {
        hear_query(&mut peer);
        peer.say_bytes(&message(b'R', &[0; 4]));
        assert!(peer.has_hung_up());
    });
    let error = connection.query("SELECT 1").unwrap_err();
    assert!(matches!(error, ClientError::Message { .. }), "{error}");
    assert!(connection.socket().is_none());
    let error = connection.query("SELECT 1").unwrap_err();
    assert!(matches!(error, ClientError::Closed), "{error}");
    server.join().unwrap();
}

#[test]
fn statements_are_prepared_executed_and_closed() {
    let (mut connection, server) = open(|mut peer| {
        for (name, refused) in [("s00000000", false), ("s00000001", true)] {
            let parse = format!("{name}\0DELETE FROM t WHERE id = $1\0\0\0");
            assert_eq!(hear(&mut peer), (b'P', parse.into_bytes()));
            assert_eq!(hear(&mut peer), (b'D', format!("S{name}\0").into_bytes()));
            assert_eq!(hear(&mut peer), (b'S', Vec::new()));
            let answer = if refused {
                refusal("ERROR", "42P01", "no such table")
            } else {
                [
                    message(b'1', b""),
                    asides(),
                    message(b't', b"\0\x01\0\0\0\x17"),
                    message(b'n', b""),
                ]
                .concat()
            };
            peer.say_bytes(&[answer, ready()].concat());
        }
        let bind = b"\0s00000000\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x05\0\x01\0\x01";
        assert_eq!(hear(&mut peer), (b'B', bind.to_vec()));
        assert_eq!(hear(&mut peer), (b'E', vec![0; 5]));
        assert_eq!(hear(&mut peer), (b'S', Vec::new()));
        peer.say_bytes(&[message(b'2', b""), done("DELETE 1"), ready()].concat());
        assert_eq!(hear(&mut peer), (b'C', b"Ss00000000\0".to_vec()));
        assert_eq!(hear(&mut peer), (b'S', Vec::new()));
        peer.say_bytes(&[message(b'3', b""), ready()].concat());
        assert_eq!(hear(&mut peer).0, b'X');
    });
    let sql = "DELETE FROM t WHERE id = $1";
    let statement = connection.prepare(sql).unwrap();
    assert_eq!((statement.params, statement.columns), (1, 0));
    let error = connection.prepare(sql).unwrap_err();
    assert!(error.to_string().contains("42P01"), "{error}");
    let layout = PostgresExecute::new(&[PostgresParam::Int4]).unwrap();
    let mut request = layout.bytes().to_vec();
    PostgresExecute::set_id(&mut request, statement.id);
    request[layout.values()[0].clone()].copy_from_slice(&5_i32.to_be_bytes());
    assert_eq!(connection.execute(&request).unwrap().affected, 1);
    connection.close(statement).unwrap();
    drop(connection);
    server.join().unwrap();
}

#[test]
fn columns_of_prepared_statements_are_counted() {
    let (mut connection, server) = open(|mut peer| {
        for _ in 0..3 {
            hear(&mut peer);
        }
        let parameters = message(b't', b"\0\0");
        let answer = [message(b'1', b""), parameters, columns(&TYPES), ready()];
        peer.say_bytes(&answer.concat());
    });
    let statement = connection.prepare("SELECT c, k, t FROM t").unwrap();
    assert_eq!((statement.params, statement.columns), (0, 3));
    server.join().unwrap();
}

/// The server asks for rows.
fn wants_rows() -> Vec<u8> {
    message(b'G', b"\x01\0\x02\0\x01\0\x01")
}

#[test]
fn rows_are_sent_when_the_server_asks_for_them() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(hear_query(&mut peer), "COPY t FROM STDIN");
        peer.say_bytes(&[asides(), wants_rows()].concat());
        assert_eq!(hear(&mut peer), (b'd', b"one,two,".to_vec()));
        peer.say_bytes(&asides());
        assert_eq!(hear(&mut peer), (b'd', b"three".to_vec()));
        assert_eq!(hear(&mut peer), (b'c', Vec::new()));
        peer.say_bytes(&[done("COPY 3"), ready()].concat());
    });
    let mut rows = ["one,two,", "three", ""].into_iter();
    let mut next = |out: &mut Vec<u8>| out.extend_from_slice(rows.next().unwrap().as_bytes());
    let answer = connection
        .load_rows("COPY t FROM STDIN", &mut next)
        .unwrap();
    assert_eq!(answer.affected, 3);
    server.join().unwrap();
}

#[test]
fn an_error_in_the_middle_of_rows_is_read() {
    let (mut connection, server) = open(|mut peer| {
        hear_query(&mut peer);
        peer.say_bytes(&wants_rows());
        hear(&mut peer);
        // Servers read on until the rows end, and ignore them.
        peer.say_bytes(&refusal("ERROR", "22P03", "incorrect binary data format"));
        peer.say_bytes(&ready());
        while hear(&mut peer).0 == b'd' {}
        assert_eq!(hear_query(&mut peer), "ROLLBACK");
        peer.say_bytes(&[done("ROLLBACK"), ready()].concat());
    });
    let mut left = 50;
    let mut next = |out: &mut Vec<u8>| {
        if left > 0 {
            left -= 1;
            out.resize(out.len() + 10_000, 7);
        }
    };
    let error = connection
        .load_rows("COPY t FROM STDIN", &mut next)
        .unwrap_err();
    assert!(
        matches!(error, ClientError::Server { code, .. } if code.as_str() == "22P03"),
        "{error}"
    );
    connection.query("ROLLBACK").unwrap();
    server.join().unwrap();
}

#[test]
fn rows_are_not_sent_unasked() {
    let (mut connection, server) = open(|mut peer| {
        hear_query(&mut peer);
        peer.say_bytes(&refusal("ERROR", "42P01", "no such table"));
        peer.say_bytes(&ready());
        // A query that asks for rows gets none.
        hear_query(&mut peer);
        peer.say_bytes(&wants_rows());
        assert_eq!(hear(&mut peer).0, b'f');
        peer.say_bytes(&refusal("ERROR", "57014", "COPY from stdin failed"));
        peer.say_bytes(&ready());
    });
    let refused = connection.load_rows("COPY t FROM STDIN", &mut |_| panic!("no rows are wanted"));
    assert!(matches!(refused, Err(ClientError::Server { .. })));
    let refused = connection.query("COPY t FROM STDIN").unwrap_err();
    assert!(refused.to_string().contains("57014"), "{refused}");
    server.join().unwrap();
}

#[test]
fn a_server_that_goes_while_it_gets_rows() {
    let (mut connection, server) = open(|mut peer| {
        hear_query(&mut peer);
        peer.say_bytes(&wants_rows());
        hear(&mut peer);
    });
    let mut next = |out: &mut Vec<u8>| out.resize(out.len() + 10_000, 7);
    let error = connection
        .load_rows("COPY t FROM STDIN", &mut next)
        .unwrap_err();
    assert!(matches!(error, ClientError::Closed), "{error}");
    server.join().unwrap();
}

#[test]
fn servers_are_not_asked_to_stop() {
    let (connection, server) = open(|mut peer| assert_eq!(hear(&mut peer).0, b'X'));
    let error = connection.shutdown().unwrap_err();
    assert!(matches!(error, ClientError::NoShutdown), "{error}");
    server.join().unwrap();
}
