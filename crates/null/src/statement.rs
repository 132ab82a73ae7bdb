//! The kind of a statement, by its first word: nothing is parsed.

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

/// Parameters of a statement to prepare: question marks outside of quotes.
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
        }
    }
}
