//! Bytes as they were said.

use std::fmt::Write as _;

use prony_wire::{HEADER_SIZE, PAYLOAD_MAX, Progress, Skimmer, split_frame};

use crate::conversation::{Speaker, of_mysql, parse, to_text};
use crate::walk::{Content, Exchange, describe, exchanges, read, skimmed};

/// Builds and conversations that must be there: without them the other tests see nothing.
const BUILDS: [&str; 6] = [
    "mariadb-11.8",
    "mysql-4.1.13",
    "mysql-5.0.21",
    "mysql-5.7.22",
    "mysql-8.0.31",
    "mysql-9.7",
];

#[test]
fn what_was_said() {
    let conversations = of_mysql();
    for build in BUILDS {
        let mut text = String::new();
        for (_, conversation) in conversations.iter().filter(|(of, _)| of == build) {
            writeln!(text, "{}", conversation.name).unwrap();
            for line in describe(conversation) {
                writeln!(text, "  {line}").unwrap();
            }
        }
        insta::assert_snapshot!(build, text);
    }
}

#[test]
fn the_values_of_rows() {
    for (build, conversation) in of_mysql() {
        if conversation.name != "statements" {
            continue;
        }
        let rows: Vec<_> = skimmed(&conversation)
            .iter()
            .flat_map(|exchange| read(exchange).rows)
            .collect();
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(rows[0], [value("row 42")], "{build}");
        for (index, row) in rows[1..=100].iter().enumerate() {
            let id = index + 1;
            let name = match id {
                ..=10 => "changed".to_owned(),
                id => format!("row {id}"),
            };
            // Executed twice.
            let k = id * 7 % 100 + if id <= 10 { 2 } else { 0 };
            let k = (id % 10 != 0).then(|| k.to_string());
            assert_eq!(
                row[..],
                [value(&id.to_string()), value(&name), k],
                "{build}"
            );
        }
        assert_eq!(rows[101], [value(&"x".repeat(70_000))]);
        assert_eq!(rows.last().unwrap()[..], [value("still in step")]);
    }
}

/// What the skimmer makes of an answer in pieces.
fn skim<'a>(exchange: &Exchange, pieces: impl Iterator<Item = &'a [u8]>) -> Content {
    let mut skimmer = Skimmer::default();
    let mut left = exchange.answer.len();
    for piece in pieces {
        assert!(left > 0, "it was done too early");
        match skimmer.feed(piece).unwrap() {
            Progress::More => left -= piece.len(),
            Progress::Done { consumed } => {
                assert_eq!((consumed, left), (piece.len(), piece.len()));
                left = 0;
            }
        }
    }
    assert_eq!(left, 0, "it was never done");
    Content {
        tally: skimmer.tally(),
        error: skimmer
            .error()
            .map(|error| (error.code, error.sqlstate_text(), error.message_text())),
        rows: Vec::new(),
    }
}

/// Places to cut an answer at: all of a short one; of a long one all near its ends and near its
/// frames' ends, and some between.
fn places(bytes: &[u8]) -> Vec<usize> {
    const NEAR: usize = 64;
    if bytes.len() < 5_000 {
        return (0..=bytes.len()).collect();
    }
    let mut edges = vec![0];
    let mut rest = bytes;
    while let Some((_, after)) = split_frame(rest) {
        edges.push(bytes.len() - after.len());
        rest = after;
    }
    let near = edges
        .iter()
        .flat_map(|edge| edge.saturating_sub(NEAR)..=(edge + NEAR).min(bytes.len()));
    let mut places: Vec<usize> = near.chain((0..bytes.len()).step_by(997_331)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn the_skimmer_counts_alike_however_bytes_are_cut() {
    let mut answers = 0;
    for (build, conversation) in of_mysql() {
        for exchange in skimmed(&conversation) {
            let expected = Content {
                rows: Vec::new(),
                ..read(&exchange)
            };
            let answer = exchange.answer.as_slice();
            let shown = format!("{build}: {:?}", exchange.kind);
            assert_eq!(skim(&exchange, [answer].into_iter()), expected, "{shown}");
            for place in places(answer) {
                let (first, second) = answer.split_at(place);
                let pieces = [first, second].into_iter().filter(|it| !it.is_empty());
                assert_eq!(skim(&exchange, pieces), expected, "{shown} cut at {place}");
            }
            if answer.len() < PAYLOAD_MAX {
                assert_eq!(skim(&exchange, answer.chunks(1)), expected, "{shown}");
            }
            answers += 1;
        }
    }
    // Six executions, eleven texts and one long row.
    assert_eq!(answers, BUILDS.len() * 18);
}

#[test]
fn an_answer_cut_short_is_never_done() {
    for (_, conversation) in of_mysql() {
        for exchange in skimmed(&conversation) {
            for place in places(&exchange.answer) {
                if place < exchange.answer.len() {
                    let progress = Skimmer::default().feed(&exchange.answer[..place]);
                    assert_eq!(progress, Ok(Progress::More), "{:?}", exchange.kind);
                }
            }
        }
    }
}

#[test]
fn a_frame_cut_short_is_none() {
    for (_, conversation) in of_mysql() {
        for exchange in exchanges(&conversation) {
            let mut rest = exchange.answer.as_slice();
            while let Some((frame, after)) = split_frame(rest) {
                let size = HEADER_SIZE + frame.payload.len();
                for place in places(&rest[..size]).into_iter().filter(|it| *it < size) {
                    assert_eq!(split_frame(&rest[..place]), None);
                }
                rest = after;
            }
            assert!(rest.is_empty());
        }
    }
}

/// Files are as the recorder writes them.
#[test]
fn the_format_reads_back() {
    for (_, conversation) in of_mysql() {
        assert_eq!(conversation.turns[0].speaker, Speaker::Server);
        let conversations = [conversation];
        assert_eq!(parse(&to_text("two\nlines", &conversations)), conversations);
    }
}
