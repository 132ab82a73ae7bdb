//! Words of filters and projections, and errors that point at the place.

use crate::compare::key::{Key, NAMES};

/// An expression that can't be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {option}: {problem}\n  {text}\n  {caret:>width$}", caret = "^", width = at + 1)]
pub struct SyntaxError {
    /// The option of the command line, such as `--filter`.
    pub option: &'static str,
    /// What is wrong, and the remedy.
    pub problem: String,
    /// The whole expression.
    pub text: String,
    /// Characters before the place.
    pub at: usize,
}

/// Reads an expression from left to right.
pub(super) struct Reader<'a> {
    option: &'static str,
    text: &'a str,
    /// Bytes that were read.
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(option: &'static str, text: &'a str) -> Self {
        Self {
            option,
            text,
            at: 0,
        }
    }

    /// An error at a byte of the text.
    pub(super) fn error(&self, at: usize, problem: impl Into<String>) -> SyntaxError {
        let before = self.text.get(..at).unwrap_or(self.text);
        SyntaxError {
            option: self.option,
            problem: problem.into(),
            text: self.text.to_owned(),
            at: before.chars().count(),
        }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Skips blanks, and commas where these separate; `false` at the end.
    pub(super) fn skip(&mut self, separators: &[char]) -> bool {
        let rest = &self.text[self.at..];
        let is_skipped = |c: char| c.is_whitespace() || separators.contains(&c);
        self.at += rest.len() - rest.trim_start_matches(is_skipped).len();
        self.at < self.text.len()
    }

    /// Takes a sign if it comes next.
    pub(super) fn take(&mut self, sign: char) -> bool {
        let comes = self.text[self.at..].starts_with(sign);
        if comes {
            self.at += sign.len_utf8();
        }
        comes
    }

    /// Takes a word: characters up to a blank or one of `ends`; or text in double quotes, in which
    /// `""` stands for one quote.
    ///
    /// # Errors
    /// When there is none, or its quote does not end.
    pub(super) fn word(&mut self, ends: &[char], what: &str) -> Result<String, SyntaxError> {
        let begin = self.at;
        if self.take('"') {
            return self.quoted(begin);
        }
        let rest = &self.text[begin..];
        let is_end = |c: char| c.is_whitespace() || ends.contains(&c);
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error(begin, format!("{what} is missing here")));
        }
        self.at += word.len();
        Ok(word.to_owned())
    }

    fn quoted(&mut self, begin: usize) -> Result<String, SyntaxError> {
        let mut word = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else {
                return Err(self.error(begin, "this quote does not end; add \""));
            };
            word.push_str(&rest[..end]);
            self.at += end + 1;
            if !self.take('"') {
                return Ok(word);
            }
            word.push('"');
        }
    }

    /// Takes the name of a key.
    ///
    /// # Errors
    /// When there is none of this name.
    pub(super) fn key(&mut self, ends: &[char]) -> Result<Key, SyntaxError> {
        let begin = self.at;
        let name = self.word(ends, "a key")?;
        Key::named(&name).ok_or_else(|| {
            let known = NAMES.join(", ");
            self.error(
                begin,
                format!("there is no key `{name}`; choose {known}, config.NAME or param.NAME"),
            )
        })
    }
}

/// A word as [`Reader::word`] reads it, wherever it stands.
pub(super) fn written(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !"()\",@:".contains(c);
    let is_keyword = matches!(word, "" | "OR" | "AND") || word.starts_with(['-', '/']);
    if word.chars().all(is_plain) && !is_keyword {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('"', "\"\""))
}
