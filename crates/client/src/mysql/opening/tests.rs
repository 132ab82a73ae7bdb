//! The server's side is written out as bytes.

use super::*;
use crate::testing::{NATIVE, OK, SHA2, greeting, login, native};

const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
const DEFINITION: &[u8] = b"\x03def\0\0\0\x01k\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0";
/// Number 9, one parameter, one column.
const PREPARED: &[u8] = b"\0\x09\0\0\0\x01\0\x01\0\0\0\0";
/// Number 10, neither parameters nor columns.
const PREPARED_BARE: &[u8] = b"\0\x0a\0\0\0\0\0\0\0\0\0\0";
const STATEMENTS: [&str; 2] = ["SELECT k FROM t WHERE id = ?", "DO 1"];

/// What the server says in one go, and the packets with which the client answers.
type Turns = Vec<(Vec<u8>, Vec<Vec<u8>>)>;

fn framed(mut sequence: u8, packets: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        sequence = append_packet(&mut bytes, sequence, packet);
    }
    bytes
}

fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some((frame, rest)) = split_frame(bytes) {
        packets.push(frame.payload.to_vec());
        bytes = rest;
    }
    assert!(bytes.is_empty());
    packets
}

fn opening(password: &str, statements: &[&str]) -> Opening {
    let statements: Vec<String> = statements.iter().map(ToString::to_string).collect();
    Opening::new(&Address::Unix("/s".into()), &login(password), statements)
}

/// An opening with all that can happen: another way to authenticate, and two statements.
fn turns() -> Turns {
    let proof = native("secret", b"tsrqponmlkjihgfedcba");
    let prepare = |sql: &str| vec![[b"\x16", sql.as_bytes()].concat()];
    let greeted = prony_wire::Greeting::parse(&greeting(0xf7, SHA2)).map(|greeting| {
        prony_wire::Login {
            user: "prony",
            password: "secret",
            database: Some("test"),
            channel: prony_wire::Channel::Local,
        }
        .answer(&greeting)
    });
    vec![
        (framed(0, &[&greeting(0xf7, SHA2)]), vec![greeted.unwrap()]),
        (
            framed(2, &[b"\xfemysql_native_password\0tsrqponmlkjihgfedcba\0"]),
            vec![proof],
        ),
        (framed(4, &[OK]), prepare(STATEMENTS[0])),
        (
            framed(1, &[PREPARED, DEFINITION, EOF, DEFINITION, EOF]),
            prepare(STATEMENTS[1]),
        ),
        (framed(1, &[PREPARED_BARE]), Vec::new()),
    ]
}

/// The error that comes of bytes, the last of which is wrong.
fn refusal(opening: &mut Opening, turns: &[&[u8]]) -> ClientError {
    let mut out = Vec::new();
    let (last, before) = turns.split_last().unwrap();
    for bytes in before {
        opening.feed(bytes, &mut out).unwrap();
    }
    opening.feed(last, &mut out).unwrap_err()
}

#[test]
fn logs_in_and_prepares() {
    for piece in [1, 2, 3, 7, usize::MAX] {
        let mut opening = opening("secret", &STATEMENTS);
        let last = turns().len() - 1;
        for (number, (server, client)) in turns().into_iter().enumerate() {
            let mut out = Vec::new();
            let mut progress = OpeningProgress::More;
            let mut left = server.len();
            for bytes in server.chunks(piece.min(server.len())) {
                assert!(out.is_empty(), "it answered too early");
                assert_eq!(progress, OpeningProgress::More);
                assert_eq!(opening.preparing(), number.checked_sub(3));
                progress = opening.feed(bytes, &mut out).unwrap();
                left -= bytes.len();
            }
            assert_eq!(left, 0);
            assert_eq!(packets(&out), client);
            assert_eq!(progress == OpeningProgress::Done, number == last);
        }
        assert_eq!(opening.preparing(), None);
        let ids: Vec<_> = opening
            .prepared()
            .iter()
            .map(|it| (it.id, it.params))
            .collect();
        assert_eq!(ids, [(9, 1), (10, 0)]);
    }
}

#[test]
fn without_statements_the_login_is_all() {
    let mut opening = opening("", &[]);
    let mut out = Vec::new();
    let greeting = framed(0, &[&greeting(0xf7, NATIVE)]);
    assert_eq!(
        opening.feed(&greeting, &mut out).unwrap(),
        OpeningProgress::More
    );
    let accepted = framed(2, &[OK]);
    assert_eq!(
        opening.feed(&accepted, &mut out).unwrap(),
        OpeningProgress::Done
    );
    assert_eq!(opening.feed(&[], &mut out).unwrap(), OpeningProgress::Done);
    assert!(opening.prepared().is_empty());
}

#[test]
fn a_cached_proof_is_followed_by_the_acceptance() {
    let mut opening = opening("secret", &[]);
    let mut out = Vec::new();
    opening
        .feed(&framed(0, &[&greeting(0xf7, SHA2)]), &mut out)
        .unwrap();
    let progress = opening.feed(&framed(2, &[&[1, 3], OK]), &mut out);
    assert_eq!(progress.unwrap(), OpeningProgress::Done);
}

#[test]
fn whoever_speaks_out_of_turn_is_not_listened_to() {
    let greeting = framed(0, &[&greeting(0xf7, NATIVE)]);
    let mut early = greeting.clone();
    early.push(7);
    let accepted = framed(2, &[OK]);
    for turns in [
        &[&early[..]][..],
        &[&greeting, &framed(2, &[OK, OK])],
        &[&greeting, &accepted, &[1]],
        &[&greeting, &accepted, &framed(1, &[OK])],
    ] {
        let error = refusal(&mut opening("", &[]), turns);
        assert!(
            matches!(
                error,
                ClientError::Protocol {
                    source: WireError::Surplus { .. }
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains("unexpected byte"), "{error}");
    }
}

#[test]
fn packets_out_of_order_or_too_long() {
    let greeting = framed(0, &[&greeting(0xf7, NATIVE)]);
    let error = refusal(&mut opening("", &[]), &[&greeting, &framed(1, &[OK])]);
    assert!(
        error
            .to_string()
            .contains("expected packet number 2, got 1")
    );
    // A header is enough to refuse it.
    let error = refusal(&mut opening("", &[]), &[&[0xff, 0xff, 0xff, 0]]);
    assert!(error.to_string().contains("16777215 bytes"), "{error}");
}

#[test]
fn refusals_tell_how_far_it_came() {
    let crowded = framed(0, &[b"\xff\x10\x04Too many connections"]);
    let mut refused = opening("", &STATEMENTS);
    let error = refusal(&mut refused, &[&crowded]);
    assert!(matches!(error, ClientError::Server { code, .. } if code.as_str() == "1040"));
    assert!(
        error
            .to_string()
            .starts_with("open the connection: server error 1040"),
        "{error}"
    );
    assert_eq!(refused.preparing(), None);

    let greeting = framed(0, &[&greeting(0xf7, NATIVE)]);
    let denied = framed(2, &[b"\xff\x15\x04#28000Access denied"]);
    let error = refusal(&mut opening("", &STATEMENTS), &[&greeting, &denied]);
    assert!(matches!(error, ClientError::Login { code, .. } if code.as_str() == "1045"));

    let accepted = framed(2, &[OK]);
    let prepared = framed(1, &[PREPARED, DEFINITION, EOF, DEFINITION, EOF]);
    let unknown = framed(1, &[b"\xff\x7a\x04#42S02no such table"]);
    let before = [&greeting[..], &accepted, &prepared];
    let mut refused = opening("", &STATEMENTS);
    let error = refusal(&mut refused, &[&before[..], &[&unknown]].concat());
    assert!(matches!(error, ClientError::Server { code, .. } if code.as_str() == "1146"));
    assert!(
        error
            .to_string()
            .starts_with("run the statement: server error 1146"),
        "{error}"
    );
    assert_eq!(
        (refused.preparing(), refused.prepared().len()),
        (Some(1), 1)
    );
}

#[test]
fn answers_to_a_prepare_that_are_none() {
    let greeting = framed(0, &[&greeting(0xf7, NATIVE)]);
    let accepted = framed(2, &[OK]);
    let interrupted: &[u8] = b"\xff\x25\x05#70100interrupted";
    for (packets, word) in [
        (&[&b"\0\x09\0"[..]][..], "ends too early"),
        (&[b"\x01"], "byte 0x01"),
        (&[PREPARED, EOF], "column definition"),
        (&[PREPARED, DEFINITION, DEFINITION], "EOF packet"),
        (&[PREPARED, DEFINITION, EOF, interrupted], "interrupted"),
    ] {
        let answer = framed(1, packets);
        let turns = [&greeting[..], &accepted, &answer];
        let shown = refusal(&mut opening("", &STATEMENTS), &turns).to_string();
        assert!(shown.contains(word), "{shown}");
    }
}

fn encrypted() -> Opening {
    let login = Login {
        tls: prony_model::Tls::Required,
        ..login("secret")
    };
    Opening::new(&Address::Unix("/s".into()), &login, Vec::new())
}

#[test]
fn the_login_waits_for_encryption() {
    let mut opening = encrypted();
    let (mut in_clear, mut in_tls) = (Vec::new(), Vec::new());
    let greeting = framed(0, &[&greeting(0xff, NATIVE)]);
    let (last, before) = greeting.split_last().unwrap();
    let progress = opening.feed(before, &mut in_clear).unwrap();
    assert_eq!(progress, OpeningProgress::More);
    let progress = opening.feed(&[*last], &mut in_clear).unwrap();
    assert_eq!(progress, OpeningProgress::Encrypt);
    let proof = native("secret", b"abcdefghijklmnopqrst");
    let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|it| it == part);
    assert_eq!((in_clear.len(), in_clear[3]), (4 + 32, 1));
    assert!(!holds(&in_clear, b"prony") && !holds(&in_clear, &proof));

    opening.encrypted(&mut in_tls);
    assert_eq!(in_tls[3], 2);
    assert!(holds(&in_tls, b"prony") && holds(&in_tls, &proof));
    let mut more = Vec::new();
    opening.encrypted(&mut more);
    let progress = opening.feed(&framed(3, &[OK]), &mut more).unwrap();
    assert_eq!(progress, OpeningProgress::Done);
    assert!(more.is_empty());
}

#[test]
fn encryption_that_can_not_begin() {
    let plain = framed(0, &[&greeting(0xf7, NATIVE)]);
    let error = refusal(&mut encrypted(), &[&plain]).to_string();
    assert!(error.contains("does not offer it"), "{error}");
    // Whoever stands in between could slip in an answer before TLS begins.
    let mut both = framed(0, &[&greeting(0xff, NATIVE)]);
    both.extend(framed(2, &[OK]));
    let error = refusal(&mut encrypted(), &[&both]).to_string();
    assert!(error.contains("unexpected byte"), "{error}");
}
