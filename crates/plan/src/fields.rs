//! Reads TOML tables key by key. A table remembers which keys it was asked for: whatever else is
//! in it is unknown, and reported with what was probably meant.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use prony_model::Thousandths;
use toml::de::{DeTable, DeValue};

use crate::duration::DurationError;
use crate::invalid::{Document, Problem, Read, Reported, Span};
use crate::suggest;

/// A value with its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// One table being read.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    document: &'a Document<'a>,
    /// Name of the table's subject, with its article: `an experiment`.
    kind: &'static str,
    /// Place of reports about missing keys.
    span: Span,
    table: &'a DeTable<'a>,
    /// Keys that can be written.
    known: Vec<&'static str>,
    /// Keys that were refused with a message of their own.
    refused: Vec<&'static str>,
}

/// One value of a table or list, not yet read.
#[derive(Debug, Clone)]
pub(crate) struct Value<'a> {
    document: &'a Document<'a>,
    /// The key that it stands at, for messages.
    key: &'a str,
    span: Span,
    inner: &'a DeValue<'a>,
}

impl<T> Located<T> {
    pub(crate) fn as_ref(&self) -> Located<&T> {
        Located {
            value: &self.value,
            span: self.span.clone(),
        }
    }

    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located {
            value: change(self.value),
            span: self.span,
        }
    }
}

/// The problem of a word that is not one of those `known`. `noun` says what it should name.
pub(crate) fn unknown(noun: &str, written: &Located<&str>, known: &[&str]) -> Problem {
    let help = suggest::help(written.value, &plural(noun), known);
    Problem::new(format!("unknown {noun} `{}`", written.value))
        .at(&written.span, format!("no such {noun}"))
        .help(help)
}

fn plural(noun: &str) -> String {
    let after_vowel = noun.ends_with("ay");
    match noun.strip_suffix('y').filter(|_| !after_vowel) {
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with('s') => format!("values of {noun}"),
        None => format!("{noun}s"),
    }
}

/// Reads each of several parts of a file: all of them, so that every problem is reported.
pub(crate) fn read_each<P, T>(
    parts: impl IntoIterator<Item = P>,
    read: impl FnMut(P) -> Read<T>,
) -> Read<Vec<T>> {
    let read: Vec<_> = parts.into_iter().map(read).collect();
    read.into_iter().collect()
}

/// The problem of a value or name that stands in two places.
pub(crate) fn twice(message: impl Into<String>, again: &Span, first: &Span) -> Problem {
    Problem::new(message)
        .at(again, "here again")
        .at(first, "first here")
}

/// Rule of [`is_name`], in words.
pub(crate) const NAME_RULE: &str = "a name has letters, digits, `-`, `_` and `.`, at most 80 of them, and begins with a letter or digit";

/// Most characters of a name.
pub(crate) const NAME_LENGTH_MAX: usize = 80;

/// True where `text` can stand in a file name and in a table's heading.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_name_char)
}

/// True where `c` can be in a name.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

impl<'a> Fields<'a> {
    /// The whole file as a table.
    pub(crate) fn root(
        document: &'a Document<'a>,
        kind: &'static str,
        table: &'a DeTable<'a>,
    ) -> Self {
        Self {
            document,
            kind,
            span: 0..0,
            table,
            known: Vec::new(),
            refused: Vec::new(),
        }
    }

    pub(crate) const fn document(&self) -> &'a Document<'a> {
        self.document
    }

    /// Place of the table.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    fn get(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        self.table.get_key_value(key).map(|(key, inner)| Value {
            document: self.document,
            key: key.get_ref(),
            span: inner.span(),
            inner: inner.get_ref(),
        })
    }

    /// Keeps the values of some keys out of messages.
    pub(crate) fn hide(&self, secret: impl Fn(&str) -> bool) {
        for (key, value) in self.table {
            if secret(key.get_ref()) {
                self.document.hide(&value.span());
            }
        }
    }

    /// True where a key that can be written is there.
    pub(crate) fn has(&mut self, key: &'static str) -> bool {
        self.get(key).is_some()
    }

    /// Reads a key that may be missing.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'a>) -> Read<T>,
    ) -> Read<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// Reads a key that must be there.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value<'a>) -> Read<T>,
    ) -> Read<T> {
        match self.get(key) {
            Some(value) => read(value),
            None => Err(self.missing(key)),
        }
    }

    /// Reports that a key which must be there is not.
    pub(crate) fn missing(&self, key: &str) -> Reported {
        self.document.report(
            Problem::new(format!("{} needs `{key}`", self.kind))
                .at(&self.span, format!("`{key}` is missing")),
        )
    }

    /// Reads an array of tables, `[[key]]`; empty when there is none.
    pub(crate) fn tables(
        &mut self,
        key: &'static str,
        kind: &'static str,
    ) -> Read<Vec<Fields<'a>>> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        if !value.inner.is_array() {
            return Problem::new(format!("`{key}` must be a list of tables"))
                .at(&value.span, "there may be several")
                .help(format!("write [[{key}]] above each, in double brackets"))
                .fail(self.document);
        }
        let values = value.list()?;
        values.into_iter().map(|value| value.table(kind)).collect()
    }

    /// Refuses a key that people may expect here, with a message about the place given. Lists of
    /// known keys do not name it.
    pub(crate) fn refuse(
        &mut self,
        key: &'static str,
        problem: impl FnOnce(&Span) -> Problem,
    ) -> Read<()> {
        self.refused.push(key);
        match self.table.get_key_value(key) {
            None => Ok(()),
            Some((written, _)) => problem(&written.span()).fail(self.document),
        }
    }

    /// Ends reading: every key that was not asked for is unknown.
    pub(crate) fn finish(self) -> Read<()> {
        let mut outcome = Ok(());
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) && !self.refused.contains(&name) {
                outcome = Problem::new(format!("unknown key `{name}`"))
                    .at(&key.span(), format!("{} has no such key", self.kind))
                    .help(suggest::help(name, "keys", &self.known))
                    .fail(self.document);
            }
        }
        outcome
    }

    /// All entries in the order of the file, for tables whose keys the user chooses.
    pub(crate) fn entries(self) -> Vec<(Located<&'a str>, Value<'a>)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(key, inner)| {
                let name = key.get_ref().as_ref();
                let value = Value {
                    document: self.document,
                    key: name,
                    span: inner.span(),
                    inner: inner.get_ref(),
                };
                let key = Located {
                    value: name,
                    span: key.span(),
                };
                (key, value)
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        entries
    }
}

impl<'a> Value<'a> {
    pub(crate) const fn document(&self) -> &'a Document<'a> {
        self.document
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    pub(crate) const fn inner(&self) -> &'a DeValue<'a> {
        self.inner
    }

    pub(crate) fn text(self) -> Read<Located<&'a str>> {
        match self.inner {
            DeValue::String(text) => Ok(self.located(text.as_ref())),
            _ => Err(self.wrong_kind("a text in quotes")),
        }
    }

    pub(crate) fn flag(self) -> Read<bool> {
        match self.inner {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.wrong_kind("true or false")),
        }
    }

    /// A flag with its place.
    pub(crate) fn located_flag(self) -> Read<Located<bool>> {
        let span = self.span();
        let value = self.flag()?;
        Ok(Located { value, span })
    }

    /// A whole number in `range`.
    pub(crate) fn integer(self, range: RangeInclusive<i64>) -> Read<Located<i64>> {
        let DeValue::Integer(integer) = self.inner else {
            return Err(self.wrong_kind("a whole number"));
        };
        let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
        match number {
            Some(number) if range.contains(&number) => Ok(self.located(number)),
            Some(number) if number < *range.start() => {
                let least = range.start();
                Err(self.report(format!("must be at least {least}"), "too small"))
            }
            _ => {
                let most = range.end();
                Err(self.report(format!("must be at most {most}"), "too large"))
            }
        }
    }

    /// A whole number in `range` as another type of number, which must hold all of `range`.
    pub(crate) fn count<T: TryFrom<i64>>(self, range: RangeInclusive<i64>) -> Read<Located<T>> {
        let number = self.clone().integer(range)?;
        match T::try_from(number.value) {
            Ok(value) => Ok(self.located(value)),
            Err(_) => Err(self.report("is out of range", "out of range")),
        }
    }

    /// A number with at most three decimals, in `range`.
    pub(crate) fn thousandths(
        self,
        range: RangeInclusive<Thousandths>,
    ) -> Read<Located<Thousandths>> {
        let number = match self.inner {
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|number| number as f64),
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            _ => return Err(self.wrong_kind("a number")),
        };
        let scaled = number.unwrap_or(f64::NAN) * 1000.0;
        let read = format!("{scaled:.0}").parse().map(Thousandths);
        // Numbers such as 0.1 are not exact; what is off by more has a fourth decimal.
        let exact = |read: &Thousandths| (scaled - f64::from(read.0)).abs() < 1e-6;
        match read {
            Ok(read) if exact(&read) && range.contains(&read) => Ok(self.located(read)),
            _ => Err(self.report(
                format!(
                    "must be a number from {} to {} with at most three decimals",
                    range.start(),
                    range.end()
                ),
                "this can't be used",
            )),
        }
    }

    /// A length of time; `units` are examples for one without, `rule` says how to write one.
    pub(crate) fn time<T: FromStr<Err = DurationError>>(self, units: &str, rule: &str) -> Read<T> {
        let problem = match self.inner {
            DeValue::Integer(_) | DeValue::Float(_) => {
                Problem::new("a duration needs a unit").at(&self.span, units)
            }
            _ => match self.clone().text()?.value.parse() {
                Ok(time) => return Ok(time),
                Err(error) => Problem::new(error.to_string()).at(&self.span, "not a duration"),
            },
        };
        problem.help(rule).fail(self.document)
    }

    /// A name: something that can stand in a file name and in a table's heading.
    pub(crate) fn name(self) -> Read<Located<&'a str>> {
        let document = self.document;
        let key = self.key;
        let text = self.text()?;
        if is_name(text.value) {
            return Ok(text);
        }
        Problem::new(format!("`{}` can't be a {key}", text.value))
            .at(&text.span, "not a name")
            .help(NAME_RULE)
            .fail(document)
    }

    /// A text, or a whole number as text.
    pub(crate) fn text_or_integer(self) -> Read<Located<String>> {
        match self.inner {
            DeValue::String(text) => Ok(self.located(text.to_string())),
            DeValue::Integer(_) => {
                let number = self.integer(i64::MIN..=i64::MAX)?;
                Ok(number.map(|number| number.to_string()))
            }
            _ => Err(self.wrong_kind("a text in quotes or a whole number")),
        }
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(self, choices: &[(&str, T)]) -> Read<Located<T>> {
        let document = self.document;
        let key = self.key;
        let text = self.text()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text.value) {
            return Ok(text.map(|_| *value));
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        unknown(key, &text, &names).fail(document)
    }

    pub(crate) fn table(self, kind: &'static str) -> Read<Fields<'a>> {
        match self.inner {
            DeValue::Table(table) => Ok(Fields {
                document: self.document,
                kind,
                span: self.span,
                table,
                known: Vec::new(),
                refused: Vec::new(),
            }),
            _ => Err(self.wrong_kind("a table")),
        }
    }

    pub(crate) fn list(self) -> Read<Vec<Value<'a>>> {
        let DeValue::Array(array) = self.inner else {
            return Err(self.wrong_kind("a list"));
        };
        let item = |inner: &'a toml::Spanned<DeValue<'a>>| Value {
            document: self.document,
            key: self.key,
            span: inner.span(),
            inner: inner.get_ref(),
        };
        Ok(array.iter().map(item).collect())
    }

    fn located<T>(&self, value: T) -> Located<T> {
        Located {
            value,
            span: self.span.clone(),
        }
    }

    /// Reports that the value, named by its key, is wrong in some way.
    pub(crate) fn report(&self, wrong: impl fmt::Display, label: &str) -> Reported {
        self.document
            .report(Problem::new(format!("`{}` {wrong}", self.key)).at(&self.span, label))
    }

    fn wrong_kind(&self, expected: &str) -> Reported {
        let found = match self.inner {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a flag",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.report(format!("must be {expected}"), &format!("this is {found}"))
    }
}
