//! Bytes as they were said.

use std::fmt::Write as _;

use prony_wire::Progress;
use prony_wire::postgres::PostgresSkimmer;

use super::walk::{Content, Exchange, Kind, describe, read, skimmed};
use crate::conversation::{of_postgres, parse, to_text};

/// Builds that must be there: without them the other tests see nothing.
const BUILDS: [&str; 3] = ["postgresql-12.22", "postgresql-18.6", "postgresql-9.5.3"];

#[test]
fn what_was_said() {
    let conversations = of_postgres();
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
    for (build, conversation) in of_postgres() {
        if conversation.name != "statements" {
            continue;
        }
        let rows: Vec<_> = skimmed(&conversation)
            .iter()
            .filter(|exchange| matches!(exchange.kind, Kind::Query(_)))
            .flat_map(|exchange| read(exchange).rows)
            .collect();
        let value = |text: &str| Some(text.to_owned());
        let padded = |text: &str| Some(format!("{text:20}"));
        assert_eq!(rows[0], [padded("row 42")], "{build}");
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
                [value(&id.to_string()), padded(&name), k],
                "{build}"
            );
        }
        assert_eq!(rows[101], [value(&"x".repeat(70_000))]);
        assert_eq!(rows.last().unwrap()[..], [value("still in step")]);
    }
}

/// What the skimmer makes of an answer in pieces.
fn skim<'a>(exchange: &Exchange, pieces: impl Iterator<Item = &'a [u8]>) -> Content {
    let mut skimmer = PostgresSkimmer::default();
    skimmer.start();
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
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Content {
        tally: skimmer.tally(),
        error: skimmer
            .refused()
            .map(|it| (text(it.code), text(it.message))),
        rows: Vec::new(),
    }
}

/// Places to cut an answer at: all of a short one, those near the ends of a long one, and some between.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let size = bytes.len();
    let near =
        move |place: &usize| *place < 2_500 || size - *place < 100 || place.is_multiple_of(997);
    (0..=size).filter(near)
}

#[test]
fn the_skimmer_counts_alike_however_bytes_are_cut() {
    let mut answers = 0;
    for (build, conversation) in of_postgres() {
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
            assert_eq!(skim(&exchange, answer.chunks(1)), expected, "{shown}");
            answers += 1;
        }
    }
    // Three prepared statements, six executions, eighteen texts, two loads of rows and a change after
    // them, and the end of a session.
    assert_eq!(answers, BUILDS.len() * (3 + 6 + 18 + 3 + 1));
}

#[test]
fn an_answer_cut_short_is_never_done() {
    for (_, conversation) in of_postgres() {
        for exchange in skimmed(&conversation) {
            for place in places(&exchange.answer) {
                if place < exchange.answer.len() {
                    let progress = PostgresSkimmer::default().feed(&exchange.answer[..place]);
                    assert_eq!(progress, Ok(Progress::More), "{:?}", exchange.kind);
                }
            }
        }
    }
}

/// Files are as the recorder writes them.
#[test]
fn the_format_reads_back() {
    for (_, conversation) in of_postgres() {
        let conversations = [conversation];
        assert_eq!(parse(&to_text("two\nlines", &conversations)), conversations);
    }
}
