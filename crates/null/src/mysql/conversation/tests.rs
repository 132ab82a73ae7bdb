use prony_wire::{
    ExecuteTemplate, ParamShape, Types, append_close, append_packet, append_prepare, append_query,
    append_quit,
};
use proptest::prelude::*;

use super::*;
use crate::protocol::Pending;

const WELCOME: Reply = Reply::Other(Answer::Welcome);

fn login() -> Vec<u8> {
    let mut payload = Capabilities::WANTED.0.to_le_bytes().to_vec();
    payload.extend_from_slice(&[0; 28]);
    payload.extend_from_slice(b"anybody\0\0");
    let mut bytes = Vec::new();
    append_packet(&mut bytes, 1, &payload);
    bytes
}

fn query(sql: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_query(&mut bytes, sql);
    bytes
}

fn prepare(sql: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_prepare(&mut bytes, sql);
    bytes
}

fn execute(id: u32) -> Vec<u8> {
    let template = ExecuteTemplate::new(&[ParamShape::Integer], Types::Sent).unwrap();
    let mut bytes = template.bytes().to_vec();
    bytes[ExecuteTemplate::ID].copy_from_slice(&id.to_le_bytes());
    bytes
}

fn command(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_packet(&mut bytes, 0, payload);
    bytes
}

/// Replies of a new conversation to these pieces, and its state after them.
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
    (replies, flow)
}

/// The reply to a request after the login.
fn reply(request: &[u8]) -> Reply {
    let login = login();
    let (replies, _) = replies([login.as_slice(), request]);
    assert_eq!(replies.len(), 2);
    assert_eq!(replies[0], WELCOME);
    replies[1]
}

#[test]
fn queries_are_answered_by_their_first_word() {
    assert_eq!(reply(&query(b"SELECT 1")), Reply::Query(Answer::TextRow));
    for (sql, affected) in [(&b"UPDATE t SET k=1"[..], 1), (b"COMMIT", 0)] {
        assert_eq!(reply(&query(sql)), Reply::Query(Answer::Done { affected }));
    }
}

#[test]
fn executions_are_answered_as_their_statement_was_prepared() {
    for (sql, expected) in [
        (&b"SELECT c FROM t WHERE id=?"[..], Answer::BinaryRow),
        (b"DELETE FROM t WHERE id=?", Answer::Done { affected: 1 }),
        (b"SET @a=?", Answer::Done { affected: 0 }),
    ] {
        let Reply::Other(Answer::Prepared { id, params, kind }) = reply(&prepare(sql)) else {
            panic!("prepared");
        };
        assert_eq!((params, kind), (1, Kind::of(sql)));
        assert_eq!(reply(&execute(id)), Reply::Query(expected));
    }
}

#[test]
fn statements_have_numbers_of_their_own() {
    let bytes = [login(), prepare(b"SELECT 1"), prepare(b"SELECT 1")].concat();
    let (replies, _) = replies([bytes.as_slice()]);
    let [
        _,
        Reply::Other(Answer::Prepared { id: first, .. }),
        Reply::Other(Answer::Prepared { id: second, .. }),
    ] = replies[..]
    else {
        panic!("two statements: {replies:?}");
    };
    assert_ne!(first, second);
}

#[test]
fn small_commands() {
    let done = Reply::Other(Answer::Done { affected: 0 });
    assert_eq!(reply(&command(b"\x0e")), done);
    assert_eq!(reply(&command(b"\x02sbtest")), done);
    let mut close = Vec::new();
    append_close(&mut close, 5);
    assert_eq!(reply(&close), Reply::Silence);
}

#[test]
fn what_is_not_known_is_refused_and_the_conversation_goes_on() {
    for (request, refusal) in [
        (command(b"\x1e1234"), Refusal::UnknownCommand),
        (command(b""), Refusal::UnknownCommand),
        (execute(0), Refusal::UnknownStatement),
        (command(b"\x17\x01"), Refusal::UnknownStatement),
        (prepare(&b"?".repeat(65_536)), Refusal::TooManyParameters),
    ] {
        let bytes = [login(), request, query(b"SELECT 1")].concat();
        let expected = [
            WELCOME,
            Reply::Other(Answer::Refused(refusal)),
            Reply::Query(Answer::TextRow),
        ];
        let (replies, flow) = replies([bytes.as_slice()]);
        assert_eq!((replies.as_slice(), flow), (&expected[..], Flow::GoOn));
    }
}

#[test]
fn what_makes_no_sense_ends_the_conversation() {
    let mut out_of_order = Vec::new();
    append_packet(&mut out_of_order, 1, b"\x0e");
    let mut tls = Vec::new();
    append_packet(&mut tls, 1, &login()[4..36]);
    let mut wrong_login = login();
    wrong_login[3] = 2;
    for (bytes, refusal) in [
        ([login(), out_of_order].concat(), Refusal::OutOfOrder),
        (wrong_login, Refusal::OutOfOrder),
        (tls, Refusal::Handshake),
        (
            [login(), vec![0xff, 0xff, 0xff, 0]].concat(),
            Refusal::TooLarge,
        ),
    ] {
        let (replies, flow) = replies([bytes.as_slice(), &query(b"SELECT 1")]);
        assert_eq!(flow, Flow::End);
        assert_eq!(
            replies.last(),
            Some(&Reply::Other(Answer::Refused(refusal)))
        );
    }
}

#[test]
fn nothing_is_said_after_goodbye() {
    let mut quit = Vec::new();
    append_quit(&mut quit);
    let bytes = [login(), quit, query(b"SELECT 1")].concat();
    let (replies, flow) = replies([bytes.as_slice()]);
    assert_eq!(replies, [WELCOME, Reply::Goodbye]);
    assert_eq!(flow, Flow::Goodbye);
}

/// Everything that clients say, with one request that is refused.
fn conversation() -> Vec<u8> {
    [
        login(),
        prepare(b"SELECT c FROM sbtest1 WHERE id=?"),
        execute(5),
        execute(0),
        query(b"BEGIN"),
        query(&b"INSERT ".repeat(40)),
        command(b"\x19\x05\0\0\0"),
        command(b"\x0e"),
    ]
    .concat()
}

#[test]
fn splitting_in_two_changes_nothing() {
    let bytes = conversation();
    let whole = replies([bytes.as_slice()]);
    assert_eq!(whole.0.len(), 8);
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(replies([first, second]), whole, "split at {at}");
    }
    assert_eq!(replies(bytes.chunks(1)), whole);
}

proptest! {
    /// Requests that come in pieces of any sizes get the same replies.
    #[test]
    fn splitting_anywhere_changes_nothing(
        mut at in proptest::collection::vec(0..conversation().len(), 0..20),
    ) {
        let bytes = conversation();
        at.sort_unstable();
        let starts = std::iter::once(0).chain(at.iter().copied());
        let ends = at.iter().copied().chain([bytes.len()]);
        let pieces = starts.zip(ends).map(|(start, end)| &bytes[start..end]);
        prop_assert_eq!(replies(pieces), replies([bytes.as_slice()]));
    }

    /// Arbitrary bytes never panic, before the login or after it.
    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        replies([bytes.as_slice()]);
        replies([login().as_slice(), &bytes]);
        replies([login().as_slice(), &command(&bytes)]);
    }
}
