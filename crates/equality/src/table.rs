//! The table of variables: which are known to matter, and which can't.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::Engine;
use serde::Deserialize;

use crate::value::Synonyms;

/// Known facts of the variables of one dialect's servers. The format is described in `catalog/README.md`.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    ignored: Vec<Ignored>,
    /// Spellings that mean the same in every variable.
    pub(crate) same: Synonyms,
}

/// Reason why a table of variables can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {file}, line {line}: {reason}")]
pub struct VariableTableError {
    /// Its name.
    pub file: &'static str,
    /// From 1.
    pub line: usize,
    /// The problem, and the expected content.
    pub reason: String,
}

/// A variable that is known to matter for speed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// All names that it had, the newest last.
    pub(crate) names: Vec<Name>,
    pub(crate) why: String,
    intent: Option<String>,
    #[serde(default)]
    intents: Vec<String>,
    /// Engines for which it matters; empty for all.
    #[serde(default)]
    pub(crate) engines: Vec<Engine>,
    /// The value that a server without the variable behaves as if it had.
    pub(crate) absent: Option<String>,
    /// Share of the larger of two numbers by which they may differ and still be equal; in [0, 1).
    #[serde(default)]
    pub(crate) tolerance: f64,
    /// `true` if a difference stops a run that does not allow it.
    #[serde(default = "yes")]
    pub(crate) stops: bool,
    #[serde(default, rename = "equal")]
    pub(crate) same: Synonyms,
}

/// A variable's name, or several whose numbers are multiplied.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Name {
    /// At least one.
    pub(crate) factors: Vec<String>,
}

/// Variables that say nothing about speed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignored {
    names: Vec<String>,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    equal: Synonyms,
    #[serde(default)]
    variable: Vec<toml::Spanned<Row>>,
    #[serde(default)]
    ignored: Vec<toml::Spanned<Ignored>>,
}

const fn yes() -> bool {
    true
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// The first line that is no TOML, has an unknown key, an empty list of names, or a name that
    /// another row has.
    pub(crate) fn parse(file: &'static str, text: &str) -> Result<Self, VariableTableError> {
        let line = |offset: usize| text[..offset].matches('\n').count() + 1;
        let wrong = |line, reason| VariableTableError { file, line, reason };
        let document: Document = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            wrong(line(start), error.message().to_owned())
        })?;
        let mut seen = BTreeSet::new();
        let mut rows = Vec::new();
        for spanned in document.variable {
            let line = line(spanned.span().start);
            let row = spanned.into_inner();
            row.check(&mut seen).map_err(|reason| wrong(line, reason))?;
            rows.push(row);
        }
        let mut ignored = Vec::new();
        for spanned in document.ignored {
            let line = line(spanned.span().start);
            let row = spanned.into_inner();
            if row.names.is_empty() || row.why.trim().is_empty() {
                let reason = "the row needs `names`, and a `why`".into();
                return Err(wrong(line, reason));
            }
            ignored.push(row);
        }
        Ok(Self {
            rows,
            ignored,
            same: document.equal,
        })
    }

    /// Names of the intents that rows refer to, each once.
    pub(crate) fn intents(&self) -> BTreeSet<&str> {
        self.rows.iter().flat_map(Row::intents).collect()
    }

    /// The row of a variable, or of the variable that a flag belongs to.
    pub(crate) fn row(&self, variable: &str) -> Option<&Row> {
        let named = |name: &str| self.rows.iter().find(|row| row.is_about(name));
        let (list, _) = variable.split_once('.').unwrap_or((variable, ""));
        named(variable).or_else(|| named(list))
    }

    /// Returns `true` if a variable says nothing about speed.
    pub(crate) fn ignores(&self, variable: &str) -> bool {
        let mut patterns = self.ignored.iter().flat_map(|row| &row.names);
        patterns.any(|pattern| fits(pattern, variable))
    }
}

impl Row {
    fn check(&self, seen: &mut BTreeSet<String>) -> Result<(), String> {
        if self.names.is_empty() {
            return Err("the row has no names".into());
        }
        if self.why.trim().is_empty() {
            return Err("the row has no reason why the variable matters".into());
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err("`tolerance` is a share: at least 0, less than 1".into());
        }
        for factor in self.factors() {
            let is_name =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
            if factor.is_empty() || !factor.chars().all(is_name) {
                return Err(format!(
                    "`{factor}` is not a variable: expected lower-case letters, digits, `_` and `.`"
                ));
            }
            if !seen.insert(factor.to_owned()) {
                return Err(format!("`{factor}` has a row already"));
            }
        }
        Ok(())
    }

    /// Every variable that the row is about.
    pub(crate) fn factors(&self) -> impl Iterator<Item = &str> {
        let factors = self.names.iter().flat_map(|name| &name.factors);
        factors.map(String::as_str)
    }

    /// Returns `true` if the row is about this variable.
    pub(crate) fn is_about(&self, variable: &str) -> bool {
        self.factors().any(|factor| factor == variable)
    }

    /// The intents that set the variable, the most important first.
    pub(crate) fn intents(&self) -> impl Iterator<Item = &str> {
        self.intent.iter().chain(&self.intents).map(String::as_str)
    }

    /// The newest of the names that the server has, and its value.
    pub(crate) fn value(&self, variables: &BTreeMap<String, String>) -> Option<(&Name, String)> {
        let mut names = self.names.iter().rev();
        names.find_map(|name| Some((name, name.value(variables)?)))
    }
}

impl Name {
    /// The value, or the product of the values. A name is there when its first factor is; another
    /// factor that is not there counts as 1.
    fn value(&self, variables: &BTreeMap<String, String>) -> Option<String> {
        let first = variables.get(&self.factors[0])?;
        let product = self
            .factors
            .iter()
            .filter_map(|factor| variables.get(factor))
            .try_fold(1_u64, |product, value| {
                product.checked_mul(crate::value::plain(value).parse().ok()?)
            });
        match product {
            Some(product) if self.factors.len() > 1 => Some(product.to_string()),
            _ => Some(first.clone()),
        }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        let factors = text.split('*').map(|factor| factor.trim().to_owned());
        Self {
            factors: factors.collect(),
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.factors.join(" * "))
    }
}

/// Returns `true` if a name fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    name.strip_prefix(before).is_some_and(|rest| {
        let mut rests = (0..=rest.len()).filter_map(|index| rest.get(index..));
        rests.any(|rest| fits(after, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_the_line() {
        for (text, line, words) in [
            (
                "[[variable]]\nnames = [\"a\"]\nwhy = \"b\"\n\n[[variable]]\nnames = [\"a\"]\nwhy = \"b\"\n",
                5,
                "has a row already",
            ),
            ("[[variable]]\nnames = []\nwhy = \"b\"\n", 1, "no names"),
            (
                "[[variable]]\nnames = [\"a\"]\nwhy = \"\"\n",
                1,
                "has no reason why",
            ),
            (
                "[[variable]]\nnames = [\"A b\"]\nwhy = \"b\"\n",
                1,
                "`A b` is not a variable",
            ),
            (
                "[[variable]]\nnames = [\"a\"]\nwhy = \"b\"\ntolerance = 2.0\n",
                1,
                "is a share",
            ),
            (
                "\n[[variable]]\nnames = [\"a\"]\nwhy = \"b\"\nwhen = 1\n",
                5,
                "unknown field `when`",
            ),
            ("[[ignored]]\nnames = [\"a\"]\n", 1, "missing field `why`"),
        ] {
            let error = Table::parse("t.toml", text).unwrap_err();
            assert_eq!(error.line, line, "{text} {error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("version*", "version_comment", true),
            ("version*", "version", true),
            ("*_dir", "plugin_dir", true),
            ("*_dir", "plugin_dirs", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "ac", false),
            ("exact", "exactly", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_newest_name_counts_and_products_multiply() {
        let table = Table::parse(
            "t.toml",
            "[[variable]]\nnames = [\"size * files\", \"capacity\"]\nwhy = \"w\"\n",
        )
        .unwrap();
        let value = |pairs: &[(&str, &str)]| {
            let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
            let variables = pairs.iter().map(own).collect();
            let (name, value) = table.rows[0].value(&variables)?;
            Some((name.to_string(), value))
        };
        let found = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(
            value(&[("size", "5"), ("files", "2")]),
            found("size * files", "10")
        );
        assert_eq!(value(&[("size", "1M")]), found("size * files", "1048576"));
        assert_eq!(
            value(&[("size", "5"), ("capacity", "7")]),
            found("capacity", "7")
        );
        assert_eq!(value(&[("files", "2")]), None);
    }
}
