//! The kind of a statement, by its first word: nothing is parsed.

/// The only value of the only row: what the column `c` of sbtest looks like, a `CHAR(120)` of which
/// 119 characters are used.
pub(crate) const VALUE: &str = "83868641912-28773972837-60736120486-75162659906-27563526494-\
                                20381887404-41576422241-93426793964-56405065102-33518432330";

/// Kind of answer to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One row.
    Rows = 1,
    /// One row changed.
    Change = 2,
    /// Nothing changed.
    Control = 3,
}

/// First words of statements that return rows.
const ROWS: [&[u8]; 10] = [
    b"SELECT",
    b"SHOW",
    b"WITH",
    b"TABLE",
    b"VALUES",
    b"DESC",
    b"DESCRIBE",
    b"EXPLAIN",
    b"CHECK",
    b"CHECKSUM",
];

/// First words of statements that change no row.
const CONTROL: [&[u8]; 6] = [b"BEGIN", b"START", b"COMMIT", b"ROLLBACK", b"SET", b"USE"];

impl Kind {
    /// The kind of a statement.
    pub(crate) fn of(sql: &[u8]) -> Self {
        let before = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'(';
        let start = sql.iter().position(|byte| !before(byte));
        let sql = &sql[start.unwrap_or(sql.len())..];
        let end = sql.iter().position(|byte| !byte.is_ascii_alphabetic());
        let word = &sql[..end.unwrap_or(sql.len())];
        let is_in = |words: &[&[u8]]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is_in(&ROWS) {
            Self::Rows
        } else if is_in(&CONTROL) {
            Self::Control
        } else {
            Self::Change
        }
    }
}

/// Parameters of a statement to prepare in MySQL: question marks outside of quotes.
pub(crate) fn count_parameters(sql: &[u8]) -> usize {
    let mut count = 0;
    let mut quote = None;
    let mut bytes = sql.iter();
    while let Some(&byte) = bytes.next() {
        match (quote, byte) {
            (None, b'?') => count += 1,
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            // Names in back quotes know no escapes. A doubled quote ends and begins a text.
            (Some(b'\'' | b'"'), b'\\') => {
                bytes.next();
            }
            (Some(end), byte) if end == byte => quote = None,
            _ => {}
        }
    }
    count
}

/// The same in PostgreSQL: the greatest number after a `$` outside of quotes, in which `\` escapes nothing.
pub(crate) fn count_places(sql: &[u8]) -> u16 {
    let mut count = 0;
    let mut quote = None;
    let mut rest = sql;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (quote, byte) {
            (None, b'$') => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
                let number = digits.fold(0_u16, |number, digit| {
                    let digit = u16::from(digit - b'0');
                    number.saturating_mul(10).saturating_add(digit)
                });
                count = count.max(number);
            }
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(end), byte) if end == byte => quote = None,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_by_the_first_word() {
        for (sql, kind) in [
            (&b"SELECT 1"[..], Kind::Rows),
            (b" \n(select 1)", Kind::Rows),
            (b"show tables", Kind::Rows),
            (b"SELECT", Kind::Rows),
            (b"SELECTED", Kind::Change),
            (b"INSERT INTO t SELECT 1", Kind::Change),
            (b"BEGIN", Kind::Control),
            (b"commit;", Kind::Control),
            (b"SET @a = 1", Kind::Control),
            (b"", Kind::Change),
            (b"  ", Kind::Change),
        ] {
            assert_eq!(Kind::of(sql), kind, "{}", String::from_utf8_lossy(sql));
        }
    }

    #[test]
    fn question_marks_in_quotes_are_text() {
        for (sql, count) in [
            (&b"SELECT c FROM t WHERE id=? AND k IN (?,?)"[..], 3),
            (b"'?' \"?\" `?` ?", 1),
            (b"'it''s ?' ?", 1),
            (br"'\'?' ?", 1),
            (br"`\` ?", 1),
            (br"'\\' ?", 1),
            (b"'open ?", 0),
            (br"'\", 0),
        ] {
            let shown = String::from_utf8_lossy(sql);
            assert_eq!(count_parameters(sql), count, "{shown}");
        }
    }

    #[test]
    fn places_in_quotes_are_text() {
        for (sql, count) in [
            (
                &b"SELECT c FROM t WHERE id=$1::int4 AND k IN ($2,$3)"[..],
                3,
            ),
            (b"SELECT $2, $10, $2", 10),
            (b"'$1' \"$1\" $2", 2),
            (b"'it''s $5' $1", 1),
            (br"'\' $1", 1),
            (b"'open $1", 0),
            (b"$ $x", 0),
            (b"$99999999999", u16::MAX),
        ] {
            let shown = String::from_utf8_lossy(sql);
            assert_eq!(count_places(sql), count, "{shown}");
        }
    }

    proptest! {
        /// However pieces are put together, only the parameters among them count.
        #[test]
        fn only_parameters_count(pieces in proptest::collection::vec(0..5_usize, 0..40)) {
            const PIECES: [&[u8]; 5] = [b"?", b" a = ", b"'? \\' \" ?'", b"\"?''\"", b"`?\\`"];
            let sql = pieces.iter().map(|piece| PIECES[*piece]).collect::<Vec<_>>().concat();
            let parameters = pieces.iter().filter(|piece| **piece == 0).count();
            prop_assert_eq!(count_parameters(&sql), parameters);
        }

        /// Arbitrary bytes never panic.
        #[test]
        fn arbitrary_bytes(sql in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Kind::of(&sql);
            let _ = count_parameters(&sql);
            let _ = count_places(&sql);
        }
    }
}
