//! Filters: `key:value key:(a OR b) -key:value`, as benchstat has them, with `*` for any text.

use std::fmt;

use crate::compare::key::Key;
use crate::compare::syntax::{Reader, SyntaxError, written};

/// Terms that all must hold; without any, everything passes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    is_negative: bool,
    key: Key,
    /// One of these must match; never empty.
    patterns: Vec<String>,
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// When it can't be understood; the error points at the place.
    pub(crate) fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new("--filter", text);
        let mut terms = Vec::new();
        while reader.skip(&[]) {
            terms.push(term(&mut reader)?);
        }
        Ok(Self { terms })
    }

    /// Returns `true` if all terms hold for a cell, whose properties `value` gives.
    pub(crate) fn holds(&self, value: impl Fn(&Key) -> String) -> bool {
        self.terms.iter().all(|term| {
            let value = value(&term.key);
            let mut patterns = term.patterns.iter();
            patterns.any(|pattern| matches(pattern, &value)) != term.is_negative
        })
    }
}

fn term(reader: &mut Reader<'_>) -> Result<Term, SyntaxError> {
    let is_negative = reader.take('-');
    let key = reader.key(&[':', '(', ')'])?;
    if !reader.take(':') {
        return Err(reader.error(reader.at(), format!("`:` and a value must follow `{key}`")));
    }
    let mut patterns = Vec::new();
    let open = reader.at();
    if reader.take('(') {
        alternatives(reader, open, &mut patterns)?;
    } else {
        patterns.push(pattern(reader)?);
    }
    Ok(Term {
        is_negative,
        key,
        patterns,
    })
}

/// The values of a parenthesis that is open, to its end.
fn alternatives(
    reader: &mut Reader<'_>,
    open: usize,
    patterns: &mut Vec<String>,
) -> Result<(), SyntaxError> {
    loop {
        if !reader.skip(&[]) {
            return Err(reader.error(open, "this parenthesis does not end; add )"));
        }
        patterns.push(pattern(reader)?);
        if !reader.skip(&[]) {
            return Err(reader.error(open, "this parenthesis does not end; add )"));
        }
        if reader.take(')') {
            return Ok(());
        }
        let at = reader.at();
        if reader.word(&['(', ')'], "OR or )")? != "OR" {
            return Err(reader.error(at, "write OR between values"));
        }
    }
}

fn pattern(reader: &mut Reader<'_>) -> Result<String, SyntaxError> {
    let at = reader.at();
    let pattern = reader.word(&['(', ')'], "a value")?;
    if pattern.starts_with('/') && pattern.ends_with('/') && pattern.len() > 1 {
        return Err(reader.error(
            at,
            "regular expressions are not supported; write * for any text",
        ));
    }
    Ok(pattern)
}

/// Returns `true` if `text` is as `pattern`, in which `*` stands for any text, also none.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            let sign = if term.is_negative { "-" } else { "" };
            let patterns: Vec<String> = term.patterns.iter().map(|word| written(word)).collect();
            let key = written(&term.key.to_string());
            write!(f, "{blank}{sign}{key}:")?;
            match &patterns[..] {
                [only] => f.write_str(only)?,
                several => write!(f, "({})", several.join(" OR "))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_narrow_and_exclude() {
        let value = |key: &Key| match key.to_string().as_str() {
            "target" => "mysql-5.7".to_owned(),
            "clients" => "4".to_owned(),
            _ => String::new(),
        };
        for (text, holds) in [
            ("", true),
            ("target:mysql-5.7", true),
            ("target:mysql-*", true),
            ("target:*5*", true),
            ("target:*5", false),
            ("target:(a OR mysql-5.7) clients:4", true),
            ("-target:mysql-5.7", false),
            ("clients:(1 OR 2)", false),
            ("-clients:1 -config.binlog:*", false),
        ] {
            assert_eq!(Filter::parse(text).unwrap().holds(value), holds, "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let shown = |text: &str| {
            let error = Filter::parse(text).unwrap_err();
            (error.at, error.problem)
        };
        assert_eq!(shown("clients").0, 7);
        assert_eq!(shown("step:a colour:b").0, 7);
        assert!(shown("step:a colour:b").1.contains("no key `colour`"));
        assert_eq!(shown("step:(a b)"), (8, "write OR between values".into()));
        assert_eq!(shown("step:(a").0, 5);
        assert_eq!(shown("step:(a OR ").0, 5);
        assert_eq!(shown("step:\"a").0, 5);
        assert!(shown("step:/a.*/").1.contains("regular expressions"));
        let error = Filter::parse("ärger:b").unwrap_err().to_string();
        assert!(error.ends_with("\n  ärger:b\n  ^"), "{error}");
    }

    proptest! {
        /// What is written is read back.
        #[test]
        fn round_trip(terms in vec(
            (any::<bool>(), "step|clients|param\\.[a-z (]{1,4}", vec("[a-z*() \"@:-]{1,5}", 1..4)),
            0..4,
        )) {
            let term = |(is_negative, key, patterns): (bool, String, Vec<String>)| Term {
                is_negative, key: Key::named(&key).unwrap(), patterns,
            };
            let filter = Filter { terms: terms.into_iter().map(term).collect() };
            prop_assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
        }
    }
}
