use prony_wire::postgres::{
    PostgresExecute, PostgresParam, append_terminate, begin_message, finish_message,
};
use proptest::prelude::*;

use super::*;
use crate::protocol::Pending;

const WELCOME: Reply = Reply::Other(Answer::Welcome);

fn startup() -> Vec<u8> {
    b"\0\0\0\x11\0\x03\0\0user\0me\0\0".to_vec()
}

fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = begin_message(&mut bytes, tag);
    bytes.extend_from_slice(content);
    finish_message(&mut bytes, start);
    bytes
}

fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

/// Parse, Describe and Sync, as clients of Prony send them.
fn prepare(name: &str, sql: &str) -> Vec<u8> {
    [
        message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes()),
        message(b'D', format!("S{name}\0").as_bytes()),
        sync(),
    ]
    .concat()
}

/// Bind, Execute and Sync, likewise.
fn execute(id: u32) -> Vec<u8> {
    let mut bytes = PostgresExecute::new(&[PostgresParam::Int4])
        .unwrap()
        .bytes()
        .to_vec();
    PostgresExecute::set_id(&mut bytes, id);
    bytes
}

/// Replies that are any, of a new conversation to these pieces, and its state after them.
fn replies<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> (Vec<Reply>, Flow) {
    let mut conversation = Conversation::default();
    let mut pending = Pending::default();
    let mut replies = Vec::new();
    let mut flow = Flow::GoOn;
    for piece in pieces {
        if flow != Flow::GoOn {
            break;
        }
        flow = pending.hear(piece, |bytes| {
            conversation.take_requests(bytes, &mut |reply| replies.push(reply))
        });
    }
    replies.retain(|reply| *reply != Reply::Silence);
    (replies, flow)
}

/// The replies to requests after the startup.
fn answered(requests: &[Vec<u8>]) -> Vec<Reply> {
    let bytes = [startup(), requests.concat()].concat();
    let (mut replies, flow) = replies([bytes.as_slice()]);
    assert_eq!((flow, replies.remove(0)), (Flow::GoOn, WELCOME));
    replies
}

#[test]
fn queries_are_answered_by_their_first_word() {
    for (sql, kind) in [
        ("SELECT 1", Kind::Rows),
        ("UPDATE t SET k=1", Kind::Change),
        ("COMMIT", Kind::Control),
    ] {
        let expected = Reply::Query(Answer::Text(kind));
        assert_eq!(answered(&[query(sql)]), [expected]);
    }
}

#[test]
fn executions_are_answered_as_their_statement_was_prepared() {
    for (sql, kind) in [
        ("SELECT c FROM t WHERE id=$1::int4", Kind::Rows),
        ("DELETE FROM t WHERE id=$1", Kind::Change),
        ("SET a=$1", Kind::Control),
    ] {
        let prepared = Batch {
            parsed: true,
            described: Some((1, kind)),
            ..Batch::default()
        };
        let expected = [
            Reply::Other(Answer::Batch(prepared)),
            Reply::Query(Answer::Executed(kind)),
            Reply::Query(Answer::Executed(kind)),
        ];
        let requests = [prepare("s0000000a", sql), execute(10), execute(10)];
        assert_eq!(answered(&requests), expected);
    }
}

/// Parse, Bind, Describe, Execute and Sync at once, as the server's own client library does.
#[test]
fn statements_without_names_are_executed_at_once() {
    let requests = [
        message(b'P', b"\0SELECT 1\0\0\0"),
        message(b'B', &[0; 8]),
        message(b'D', b"P\0"),
        message(b'E', &[0; 5]),
        sync(),
    ];
    let all = Batch {
        parsed: true,
        bound: true,
        columns: Some(Kind::Rows),
        executed: Some(Kind::Rows),
        ..Batch::default()
    };
    assert_eq!(answered(&requests), [Reply::Query(Answer::Batch(all))]);
}

#[test]
fn closed_statements_are_unknown() {
    let closed = Batch {
        closed: true,
        ..Batch::default()
    };
    let replies = answered(&[
        prepare("s00000001", "SELECT 1"),
        message(b'C', b"Ss00000001\0"),
        sync(),
        execute(1),
        query("SELECT 1"),
    ]);
    let expected = [
        Reply::Other(Answer::Batch(closed)),
        Reply::Other(Answer::Refused(Refusal::UnknownStatement)),
        Reply::Query(Answer::Text(Kind::Rows)),
    ];
    assert_eq!(replies[1..], expected);
}

#[test]
fn what_is_not_known_is_refused_and_the_conversation_goes_on() {
    let two_executions = [
        message(b'B', b"\0s00000001\0\0\0\0\0\0\0"),
        message(b'E', &[0; 5]),
        message(b'E', &[0; 5]),
        sync(),
    ];
    for (request, refusal) in [
        (execute(7), Refusal::UnknownStatement),
        (
            [message(b'E', &[0; 5]), sync()].concat(),
            Refusal::UnknownStatement,
        ),
        ([message(b'P', b"name"), sync()].concat(), Refusal::Message),
        (
            [message(b'd', b"row"), sync()].concat(),
            Refusal::Unsupported,
        ),
        (two_executions.concat(), Refusal::Unsupported),
    ] {
        let requests = [prepare("s00000001", "SELECT 1"), request, query("SELECT 1")];
        let expected = [
            Reply::Other(Answer::Refused(refusal)),
            Reply::Query(Answer::Text(Kind::Rows)),
        ];
        assert_eq!(answered(&requests)[1..], expected);
    }
}

#[test]
fn encryption_is_not_offered() {
    let tls = b"\0\0\0\x08\x04\xd2\x16\x2f".to_vec();
    let bytes = [tls, startup()].concat();
    let (replies, flow) = replies([bytes.as_slice()]);
    let expected = [Reply::Other(Answer::NotEncrypted), WELCOME];
    assert_eq!((replies.as_slice(), flow), (&expected[..], Flow::GoOn));
}

#[test]
fn what_makes_no_sense_ends_the_conversation() {
    for (bytes, refusal) in [
        (b"\0\0\0\x08\0\x02\0\0".to_vec(), Refusal::Startup),
        (b"\0\0\0\x05\0".to_vec(), Refusal::Startup),
        (b"GET / HTTP/1.1".to_vec(), Refusal::Message),
        (
            [startup(), b"Q\0\0\0\x03".to_vec()].concat(),
            Refusal::Message,
        ),
        (
            [startup(), b"Q\x7f\0\0\0".to_vec()].concat(),
            Refusal::Message,
        ),
        (
            [startup(), message(b'Q', b"no zero")].concat(),
            Refusal::Message,
        ),
    ] {
        let (replies, flow) = replies([bytes.as_slice(), &query("SELECT 1")]);
        let expected = Reply::Other(Answer::Refused(refusal));
        assert_eq!((replies.last(), flow), (Some(&expected), Flow::End));
    }
}

#[test]
fn nothing_is_said_after_goodbye() {
    let mut goodbye = Vec::new();
    append_terminate(&mut goodbye);
    let bytes = [startup(), goodbye, query("SELECT 1")].concat();
    let (replies, flow) = replies([bytes.as_slice()]);
    assert_eq!(replies, [WELCOME, Reply::Goodbye]);
    assert_eq!(flow, Flow::Goodbye);
}

/// Everything that clients say, with one request that is refused.
fn conversation() -> Vec<u8> {
    [
        startup(),
        prepare("s00000005", "SELECT c FROM sbtest1 WHERE id=$1::int4"),
        execute(5),
        execute(0),
        query("BEGIN"),
        query(&"INSERT ".repeat(40)),
        message(b'C', b"Ss00000005\0"),
        message(b'H', b""),
        sync(),
    ]
    .concat()
}

#[test]
fn splitting_in_two_changes_nothing() {
    let bytes = conversation();
    let whole = replies([bytes.as_slice()]);
    assert_eq!(whole.0.len(), 7);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(replies([first, second]), whole, "split at {at}");
    }
    assert_eq!(replies(bytes.chunks(1)), whole);
}

proptest! {
    /// Arbitrary bytes never panic, before the login or after it.
    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..80), tag: u8) {
        replies([bytes.as_slice()]);
        replies([startup().as_slice(), &bytes]);
        replies([startup().as_slice(), &message(tag, &bytes), &sync()]);
    }
}
