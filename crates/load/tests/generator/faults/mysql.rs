//! Faults in the protocol of MySQL.

use crate::testkit::mysql::{definition, eof, err, framed, greeting, ok, rows};
use crate::testkit::{Door, Then};

use super::Fault;

/// Answers that are none, and one that ends in an error.
pub(super) fn broken() -> Vec<Fault> {
    type Words = &'static [&'static str];
    let wrong = |packets: &[Vec<u8>], words: Words| (framed(1, packets), Then::GoOn, words);
    let numbered = |number: u8, words: Words| (framed(number, &[ok(0)]), Then::GoOn, words);
    let after_rows = |packet: Vec<u8>, words: Words| {
        let bytes = framed(1, &[rows(2), vec![packet]].concat());
        (bytes, Then::GoOn, words)
    };
    // The last packet comes with the number of the one before.
    let mut repeated = framed(1, &rows(3));
    repeated.extend(framed(6, &[eof()]));
    vec![
        numbered(0, &["expected packet number 1, got 0"]),
        numbered(2, &["expected packet number 1, got 2"]),
        (repeated, Then::GoOn, &["expected packet number 7, got 6"]),
        wrong(&[vec![]], &["number of columns: it ends too early"]),
        wrong(&[vec![0xff]], &["error packet: it ends too early"]),
        wrong(&[vec![0, 0xfe]], &["OK packet: it ends too early"]),
        wrong(&[b"\xfbfile".to_vec()], &["byte 0xfb is not allowed"]),
        wrong(&[vec![1], eof()], &["column definition: byte 0xfe"]),
        wrong(
            &[vec![1], definition(), definition()],
            &["EOF packet: byte 0x03"],
        ),
        after_rows(vec![0xfe, 0], &["EOF packet: it ends too early"]),
        after_rows(err(1146), &["error 1146 (HY000): as the test wants"]),
    ]
}

/// Claims of a packet of 16 MB, and of 2^60 columns.
pub(super) fn claims() -> Vec<Vec<u8>> {
    let count = [&[0xfe][..], &(1_u64 << 60).to_le_bytes()].concat();
    vec![vec![0xff, 0xff, 0xff, 1, 1], framed(1, &[count])]
}

pub(super) fn half_greeting() -> Vec<u8> {
    framed(0, &[greeting()])[..20].to_vec()
}

pub(super) fn half_prepare() -> Vec<u8> {
    vec![12, 0, 0, 1]
}

/// What is wrong with the greeting, the answer to the login, and the answer to a prepare.
pub(super) fn doors() -> Vec<(Door, &'static [&'static str])> {
    const CLOSED: &[&str] = &["the server closed the connection"];
    let hang_up = Then::HangUp;
    let go_on = Then::GoOn;
    let login = |number: u8, packet: Vec<u8>| Door::Login(framed(number, &[packet]), go_on);
    let prepare = |packets: &[Vec<u8>]| Door::Prepare(framed(1, packets), go_on);
    let one_parameter = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    vec![
        (Door::Greeting(vec![], hang_up), CLOSED),
        (Door::Greeting(half_greeting(), hang_up), CLOSED),
        (
            Door::Greeting(framed(0, &[err(1040)]), hang_up),
            &["error 1040 (HY000)"],
        ),
        (
            Door::Greeting(framed(1, &[vec![10]]), hang_up),
            &["expected packet number 0, got 1"],
        ),
        (
            Door::Greeting(framed(0, &[b"\x09three\0".to_vec()]), hang_up),
            &["protocol version 9"],
        ),
        (
            Door::Greeting(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), hang_up),
            &["expected packet number 0"],
        ),
        (Door::Login(vec![], hang_up), CLOSED),
        (Door::Login(vec![7, 0], hang_up), CLOSED),
        (
            login(2, err(1045)),
            &["error 1045", "`prony`", "check the password"],
        ),
        (login(3, ok(0)), &["expected packet number 2, got 3"]),
        (login(2, vec![7]), &["answer to the login: byte 0x07"]),
        (login(2, b"\xfedialog\0x\0".to_vec()), &["requires dialog"]),
        (Door::Prepare(vec![], hang_up), CLOSED),
        (Door::Prepare(vec![12, 0, 0, 1, 0], hang_up), CLOSED),
        (prepare(&[err(1146)]), &["error 1146"]),
        (
            prepare(&[err(1295)]),
            &["the server can't prepare this kind"],
        ),
        (prepare(&[vec![0, 1]]), &["ends too early"]),
        (
            prepare(&[one_parameter.clone(), eof()]),
            &["column definition"],
        ),
        (
            prepare(&[one_parameter, definition(), eof()]),
            &["found 1 parameters, expected 2"],
        ),
    ]
}
