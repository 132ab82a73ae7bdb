//! Faults in the protocol of PostgreSQL.

use crate::testkit::postgres::{accepted, described, error, message, ready, refused, row};
use crate::testkit::{Door, Then};

use super::Fault;

/// Answers that are none, and those that end in an error.
pub(super) fn broken() -> Vec<Fault> {
    type Words = &'static [&'static str];
    let wrong = |bytes: Vec<u8>, words: Words| (bytes, Then::GoOn, words);
    let after_rows = |bytes: Vec<u8>, words: Words| {
        let rows = row(&["abc"]).repeat(2);
        (
            [message(b'2', b""), rows, bytes].concat(),
            Then::GoOn,
            words,
        )
    };
    vec![
        wrong(
            message(b'R', &[0; 4]),
            &["message: byte 0x52 is not allowed"],
        ),
        wrong(message(b'K', &[0; 8]), &["byte 0x4b is not allowed"]),
        wrong(message(b'G', &[0; 3]), &["byte 0x47 is not allowed"]),
        wrong(message(b'H', &[0; 3]), &["byte 0x48 is not allowed"]),
        wrong(vec![0, 0, 0, 0, 4], &["byte 0x00 is not allowed"]),
        wrong(b"D\0\0\0\x03".to_vec(), &["message: it ends too early"]),
        wrong(b"D\x40\0\0\0".to_vec(), &["1073741824 bytes"]),
        after_rows(b"HTTP/1.1 400".to_vec(), &["1414811695 bytes"]),
        after_rows(refused("42P01"), &["error 42P01: as the test wants"]),
        // The session ends with it, and nothing follows.
        (
            error("FATAL", "57P01"),
            Then::HangUp,
            &["error 57P01: as the test wants"],
        ),
        (
            [message(b'2', b""), row(&["abc"]), error("PANIC", "XX000")].concat(),
            Then::HangUp,
            &["error XX000"],
        ),
    ]
}

/// Claims of a message of 16 MB, and of settings that go on.
pub(super) fn claims() -> Vec<Vec<u8>> {
    vec![
        b"D\x01\0\0\0\0\x01".to_vec(),
        [message(b'S', b"a\0b\0"), message(b'N', b"")].concat(),
    ]
}

pub(super) fn half_greeting() -> Vec<u8> {
    message(b'R', &[0; 4])[..7].to_vec()
}

pub(super) fn half_prepare() -> Vec<u8> {
    described(2)[..12].to_vec()
}

/// Faults of the request for the password, of the answer to the login, and of the answer to a
/// prepare.
pub(super) fn doors() -> Vec<(Door, &'static [&'static str])> {
    const CLOSED: &[&str] = &["the server closed the connection"];
    let hang_up = Then::HangUp;
    let go_on = Then::GoOn;
    let crowded = error("FATAL", "53300");
    let accepted = accepted();
    let without_count = [message(b'1', b""), message(b't', b"\0"), ready()].concat();
    vec![
        (Door::Greeting(vec![], hang_up), CLOSED),
        (Door::Greeting(half_greeting(), hang_up), CLOSED),
        (
            Door::Greeting(crowded, hang_up),
            &["error 53300: as the test"],
        ),
        (
            Door::Greeting(message(b'R', &[0, 0, 0, 7]), hang_up),
            &["requires Kerberos"],
        ),
        (
            Door::Greeting(message(b'C', b"SELECT 1\0"), hang_up),
            &["no place in a login"],
        ),
        (
            Door::Greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), hang_up),
            &["1414811695 bytes"],
        ),
        (Door::Login(vec![], hang_up), CLOSED),
        (Door::Login(accepted[..20].to_vec(), hang_up), CLOSED),
        (
            Door::Login(error("FATAL", "28P01"), hang_up),
            &["error 28P01", "`prony`", "check the password"],
        ),
        (
            Door::Login(message(b'2', b""), go_on),
            &["no place in a login"],
        ),
        (Door::Prepare(vec![], hang_up), CLOSED),
        (Door::Prepare(half_prepare(), hang_up), CLOSED),
        (Door::Prepare(refused("42P01"), go_on), &["error 42P01"]),
        (
            Door::Prepare(error("FATAL", "57P01"), hang_up),
            &["error 57P01"],
        ),
        (Door::Prepare(without_count, go_on), &["message"]),
        (
            Door::Prepare(message(b'2', b""), go_on),
            &["no place in an answer"],
        ),
        (
            Door::Prepare(described(1), go_on),
            &["found 1 parameters, expected 2"],
        ),
    ]
}
