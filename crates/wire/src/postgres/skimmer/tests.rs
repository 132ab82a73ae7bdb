//! Answers as bytes, whole and in pieces.

use proptest::prelude::*;

use super::*;

fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = crate::postgres::begin_message(&mut bytes, tag);
    bytes.extend_from_slice(content);
    crate::postgres::finish_message(&mut bytes, start);
    bytes
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn refusal(severity: &str, text: &str) -> Vec<u8> {
    let fields = format!("S{severity}\0V{severity}\0C40P01\0M{text}\0Fdeadlock.c\0\0");
    message(b'E', fields.as_bytes())
}

fn whole(bytes: &[u8]) -> PostgresSkimmer {
    let mut skimmer = PostgresSkimmer::default();
    skimmer.start();
    let consumed = bytes.len();
    assert_eq!(skimmer.feed(bytes), Ok(Progress::Done { consumed }));
    skimmer
}

/// Answers of each kind, with their rows and changes.
fn answers() -> Vec<(Vec<u8>, u64, u64)> {
    let row = message(b'D', b"\0\x01\0\0\0\x04\0\0\0\x07");
    let long = message(b'D', &[7; 3000]);
    let notice = message(b'N', b"SWARNING\0C25P01\0Mno transaction\0\0");
    let columns = message(
        b'T',
        b"\0\x01id\0\0\0\x40\0\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0",
    );
    let tag = |text: &[u8]| message(b'C', text);
    vec![
        (
            [message(b'2', b""), row.clone(), tag(b"SELECT 1\0"), ready()].concat(),
            1,
            0,
        ),
        (
            [columns, row.clone(), long, row, tag(b"SELECT 3\0"), ready()].concat(),
            3,
            0,
        ),
        ([tag(b"UPDATE 12\0"), ready()].concat(), 0, 12),
        ([tag(b"INSERT 0 3\0"), ready()].concat(), 0, 3),
        ([tag(b"DELETE 0\0"), ready()].concat(), 0, 0),
        ([notice, tag(b"COMMIT\0"), ready()].concat(), 0, 0),
        ([message(b'I', b""), ready()].concat(), 0, 0),
    ]
}

#[test]
fn rows_and_changes_are_counted() {
    for (bytes, rows, affected) in answers() {
        let tally = whole(&bytes).tally();
        assert_eq!((tally.rows, tally.affected), (rows, affected), "{bytes:?}");
    }
}

#[test]
fn a_refusal_is_kept_until_the_server_is_ready() {
    let bytes = [refusal("ERROR", "deadlock detected"), ready()].concat();
    let skimmer = whole(&bytes);
    let expected = Refused {
        code: b"40P01",
        message: b"deadlock detected",
        is_fatal: false,
    };
    assert_eq!(skimmer.refused(), Some(expected));
    let long = "x".repeat(2000);
    let skimmer = whole(&[refusal("ERROR", &long), ready()].concat());
    let refused = skimmer.refused().unwrap();
    assert_eq!(refused.code, b"40P01");
    assert!(refused.message.len() > 500);
}

#[test]
fn a_fatal_refusal_ends_the_answer() {
    let skimmer = whole(&refusal("FATAL", "terminating connection"));
    assert!(skimmer.refused().unwrap().is_fatal);
}

#[test]
fn messages_without_a_place_in_answers_are_errors() {
    for tag in *b"RKGHWdc0\xff" {
        let error = PostgresSkimmer::default()
            .feed(&message(tag, b"...."))
            .unwrap_err();
        assert!(matches!(error, WireError::UnexpectedByte { .. }), "{tag}");
    }
    assert!(PostgresSkimmer::default().feed(b"D\0\0\0\x03").is_err());
}

#[test]
fn the_next_answer_begins_with_nothing() {
    let mut skimmer = whole(&[refusal("ERROR", "no"), ready()].concat());
    skimmer.start();
    assert_eq!(skimmer.refused(), None);
    let bytes = ready();
    assert_eq!(
        skimmer.feed(&[&bytes[..], b"more"].concat()),
        Ok(Progress::Done { consumed: 6 })
    );
    assert_eq!(skimmer.tally().packets, 1);
}

#[test]
fn answers_read_alike_however_they_are_split() {
    let mut all: Vec<Vec<u8>> = answers().into_iter().map(|(bytes, ..)| bytes).collect();
    all.push(
        [
            refusal("ERROR", "deadlock detected"),
            message(b'C', b"X\0"),
            ready(),
        ]
        .concat(),
    );
    for bytes in all {
        let expected = whole(&bytes);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len().min(first + 40) {
                let mut skimmer = PostgresSkimmer::default();
                for part in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    skimmer.feed(part).unwrap();
                }
                assert_eq!(skimmer.tally(), expected.tally());
                assert_eq!(skimmer.refused(), expected.refused());
                assert!(skimmer.done);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(parts in proptest::collection::vec(any::<Vec<u8>>(), 0..9)) {
        let mut skimmer = PostgresSkimmer::default();
        for part in parts {
            if skimmer.feed(&part).is_err() {
                break;
            }
        }
    }
}

#[test]
fn asides_after_an_answer_belong_to_none() {
    let notice = message(b'N', b"SWARNING\0C01000\0Mreload\0\0");
    let setting = message(b'S', b"TimeZone\0UTC\0");
    let asides = [notice, setting].concat();
    let bytes = [&ready()[..], &asides].concat();
    assert_eq!(whole(&bytes).tally().packets, 1);
    for (after, surplus) in [
        (&asides[..asides.len() - 1], "TimeZone\0UTC\0".len() + 4),
        (&b"N\0\0\0\x03"[..], 5),
        (b"Z\0\0\0\x05I", 6),
        (b"S", 1),
    ] {
        let bytes = [&ready()[..], after].concat();
        let consumed = bytes.len() - surplus;
        let progress = PostgresSkimmer::default().feed(&bytes);
        assert_eq!(progress, Ok(Progress::Done { consumed }));
    }
}
