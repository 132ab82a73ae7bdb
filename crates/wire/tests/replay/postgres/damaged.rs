//! Bytes with something wrong with them. Nothing panics or reads on for ever.

use std::sync::LazyLock;

use prony_wire::postgres::{POSTGRES_HEADER_SIZE, PostgresSkimmer, begin_message, finish_message};
use prony_wire::{Progress, Tally, WireError};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::walk::{exchanges, messages};
use crate::conversation::of_postgres;
use crate::damage::{MARKS, damage, damaged};

/// Longer answers are left to other tests: damage would seldom hit where it matters.
const SIZE_MAX: usize = 10_000;

/// Recorded answers, logins included, each once.
static ANSWERS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let answers = of_postgres().into_iter().flat_map(|(_, it)| exchanges(&it));
    let mut distinct: Vec<Vec<u8>> = answers
        .map(|exchange| exchange.answer)
        .filter(|bytes| bytes.len() < SIZE_MAX)
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
});

/// What comes of bytes: how far the skimmer got, what it counted, and the refusal.
type Skimmed = (
    Result<Option<usize>, WireError>,
    Tally,
    Option<(Vec<u8>, Vec<u8>, bool)>,
);

fn skim(bytes: &[u8], piece: usize) -> Skimmed {
    let mut skimmer = PostgresSkimmer::default();
    skimmer.start();
    let mut before = 0;
    let mut result = Ok(None);
    for piece in bytes.chunks(piece) {
        match skimmer.feed(piece) {
            Ok(Progress::More) => before += piece.len(),
            Ok(Progress::Done { consumed }) => {
                assert!(consumed <= piece.len());
                result = Ok(Some(before + consumed));
                break;
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    let refused = skimmer
        .refused()
        .map(|it| (it.code.to_vec(), it.message.to_vec(), it.is_fatal));
    (result, skimmer.tally(), refused)
}

/// However the bytes come, they mean the same.
fn check_skimmer(bytes: &[u8], piece: usize) {
    let whole = skim(bytes, usize::MAX);
    let Tally { packets, rows, .. } = whole.1;
    assert!(rows <= packets && packets * POSTGRES_HEADER_SIZE as u64 <= bytes.len() as u64);
    assert_eq!(skim(bytes, 1), whole);
    assert_eq!(skim(bytes, piece), whole);
}

proptest! {
    #[test]
    fn answers(
        answer in select(ANSWERS.as_slice()),
        damages in vec(damage(), 1..4),
        piece in 1..50_usize,
    ) {
        check_skimmer(&damaged(&answer, &damages), piece);
    }

    /// Lengths are right, so that more of what is inside is looked at.
    #[test]
    fn answers_in_good_frames(
        answer in select(ANSWERS.as_slice()),
        damages in vec((any::<Index>(), damage()), 1..4),
        piece in 1..50_usize,
    ) {
        let mut contents: Vec<(u8, Vec<u8>)> = messages(&answer)
            .into_iter()
            .map(|(tag, content)| (tag, content.to_vec()))
            .collect();
        for (index, damage) in damages {
            let count = contents.len();
            damage.apply(&mut contents[index.index(count)].1);
        }
        let mut bytes = Vec::new();
        for (tag, content) in contents {
            let start = begin_message(&mut bytes, tag);
            bytes.extend_from_slice(&content);
            finish_message(&mut bytes, start);
        }
        check_skimmer(&bytes, piece);
    }

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..400), piece in 1..50_usize) {
        check_skimmer(&bytes, piece);
    }

    /// Bytes that mean something are more frequent here than by chance.
    #[test]
    fn arbitrary_marks(marks in vec(any::<Index>(), 0..100), piece in 1..50_usize) {
        let bytes: Vec<u8> = marks.iter().map(|mark| *mark.get(MARKS.as_slice())).collect();
        check_skimmer(&bytes, piece);
    }
}
