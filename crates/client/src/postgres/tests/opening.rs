//! Openings without I/O.

use prony_model::Tls;
use prony_wire::WireError;

use super::server::{
    accepted, asides, authentication, columns, encrypted, login, message, ready, refusal,
};
use crate::{Address, ClientError, Login, Opening, OpeningProgress, TlsError};

const STATEMENTS: [&str; 2] = ["SELECT c FROM t WHERE id = $1", "BEGIN"];

fn opening(login: &Login) -> Opening {
    Opening::new(
        &Address::Unix("/s".into()),
        login,
        STATEMENTS.map(str::to_owned).to_vec(),
    )
}

/// The messages of the server, up to each of the client.
fn turns() -> [Vec<u8>; 4] {
    let prepared = [
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x17"),
        columns(&[("c", 1042)]),
        ready(),
    ];
    let bare = [
        message(b'1', b""),
        message(b't', b"\0\0"),
        message(b'n', b""),
        asides(),
        ready(),
    ];
    [
        [asides(), authentication(5, &[1, 2, 3, 4])].concat(),
        accepted(),
        prepared.concat(),
        bare.concat(),
    ]
}

/// Feeds the server's turns in pieces of this size; returns everything that the client says.
fn play(piece: usize) -> (Opening, Vec<Vec<u8>>) {
    let mut opening = opening(&login("secret"));
    let mut said = vec![Vec::new()];
    opening.begin(&mut said[0]).unwrap();
    for (index, turn) in turns().iter().enumerate() {
        let mut out = Vec::new();
        let mut progress = OpeningProgress::More;
        for bytes in turn.chunks(piece) {
            assert_eq!((progress, out.len()), (OpeningProgress::More, 0));
            progress = opening.feed(bytes, &mut out).unwrap();
        }
        assert_eq!(
            progress == OpeningProgress::Done,
            index == 3,
            "turn {index}"
        );
        said.push(out);
    }
    (opening, said)
}

#[test]
fn pieces_of_any_size_make_the_same_opening() {
    let (opening, whole) = play(usize::MAX);
    assert_eq!(
        whole[0],
        b"\0\0\0\x22\0\x03\0\0user\0prony\0database\0test\0\0"
    );
    assert_eq!(
        whole[1],
        b"p\0\0\0\x28md53d4d6d09975d8505428e3a8b1bf18983\0"
    );
    let prepare = |name: &str, sql: &str| {
        let parse = message(b'P', format!("{name}\0{sql}\0\0\0").as_bytes());
        let describe = message(b'D', format!("S{name}\0").as_bytes());
        [parse, describe, message(b'S', b"")].concat()
    };
    assert_eq!(whole[2], prepare("s00000000", STATEMENTS[0]));
    assert_eq!(whole[3], prepare("s00000001", STATEMENTS[1]));
    assert_eq!(whole[4], b"");
    let counts = |opening: &Opening| -> Vec<(u32, u16, u16)> {
        let prepared = opening.prepared().iter();
        prepared.map(|it| (it.id, it.params, it.columns)).collect()
    };
    assert_eq!(counts(&opening), [(0, 1, 1), (1, 0, 0)]);
    assert_eq!(opening.preparing(), None);
    let longest = turns().iter().map(Vec::len).max().unwrap();
    for piece in 1..=longest {
        let (opening, said) = play(piece);
        assert_eq!(said, whole, "pieces of {piece}");
        assert_eq!(counts(&opening), [(0, 1, 1), (1, 0, 0)]);
    }
}

#[test]
fn bytes_after_the_last_answer_are_an_error() {
    for (after, surplus) in [(&b"N"[..], 1), (&asides(), asides().len())] {
        let mut opening = Opening::new(&Address::Unix("/s".into()), &login(""), Vec::new());
        let mut out = Vec::new();
        opening.begin(&mut out).unwrap();
        let bytes = [&accepted(), after].concat();
        match opening.feed(&bytes, &mut out).unwrap_err() {
            ClientError::Protocol {
                source: WireError::Surplus { bytes },
            } => assert_eq!(bytes, surplus),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn refusals_tell_how_far_it_came() {
    let unknown = [refusal("ERROR", "42P01", "no such table"), ready()].concat();
    let [proof, accepted, prepared, _] = turns();
    for (turns, preparing, prepared) in [
        (vec![&unknown], None, 0),
        (vec![&proof, &unknown], None, 0),
        (vec![&proof, &accepted, &unknown], Some(0), 0),
        (vec![&proof, &accepted, &prepared, &unknown], Some(1), 1),
    ] {
        let mut opening = opening(&login("secret"));
        let mut out = Vec::new();
        opening.begin(&mut out).unwrap();
        let (last, before) = turns.split_last().unwrap();
        for turn in before {
            opening.feed(turn, &mut out).unwrap();
        }
        let error = opening.feed(last, &mut out).unwrap_err();
        assert!(error.to_string().contains("42P01"), "{error}");
        assert_eq!(opening.preparing(), preparing);
        assert_eq!(opening.prepared().len(), prepared);
    }
}

#[test]
fn the_login_waits_for_encryption() {
    let mut opening = opening(&encrypted(Tls::Required));
    let (mut in_clear, mut in_tls) = (Vec::new(), Vec::new());
    opening.begin(&mut in_clear).unwrap();
    assert_eq!(in_clear, [0, 0, 0, 8, 4, 210, 22, 47]);
    let progress = opening.feed(b"", &mut in_clear).unwrap();
    assert_eq!(progress, OpeningProgress::More);
    let progress = opening.feed(b"S", &mut in_clear).unwrap();
    assert_eq!((progress, in_clear.len()), (OpeningProgress::Encrypt, 8));
    opening.encrypted(&mut in_tls).unwrap();
    assert!(in_tls.windows(5).any(|window| window == b"prony"));
    for turn in turns() {
        opening.feed(&turn, &mut in_tls).unwrap();
    }
    assert_eq!(opening.prepared().len(), 2);
}

#[test]
fn encryption_that_can_not_begin() {
    for (answer, word) in [
        (&b"N"[..], "does not offer it"),
        (b"S\x16", "1 unexpected bytes in clear"),
    ] {
        let mut opening = opening(&encrypted(Tls::Required));
        let mut out = Vec::new();
        opening.begin(&mut out).unwrap();
        match opening.feed(answer, &mut out).unwrap_err() {
            ClientError::Tls { source, .. } => {
                assert!(source.to_string().contains(word), "{source}");
                let is_offered = !matches!(source, TlsError::NotOffered);
                assert_eq!(is_offered, answer.len() > 1);
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn an_error_in_place_of_encryption_comes_in_pieces() {
    let bytes = refusal("FATAL", "57P03", "the database system is starting up");
    for piece in 1..=bytes.len() {
        let mut opening = opening(&encrypted(Tls::Required));
        let mut out = Vec::new();
        opening.begin(&mut out).unwrap();
        let results: Vec<_> = bytes
            .chunks(piece)
            .map(|bytes| opening.feed(bytes, &mut out))
            .collect();
        let (last, before) = results.split_last().unwrap();
        let error = last.as_ref().unwrap_err().to_string();
        assert!(error.contains("57P03"), "{error}");
        for early in before {
            assert!(matches!(early, Ok(OpeningProgress::More)));
        }
    }
}

#[test]
fn claimed_lengths_take_no_memory() {
    let mut opening = opening(&login(""));
    let mut out = Vec::new();
    opening.begin(&mut out).unwrap();
    let error = opening.feed(b"R\x3f\xff\xff\xff", &mut out).unwrap_err();
    let is_named = matches!(
        error,
        ClientError::Protocol {
            source: WireError::Oversized { .. }
        }
    );
    assert!(is_named, "{error}");
}
