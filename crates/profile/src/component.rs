//! Components: parts of a server to which functions belong, by ordered patterns.
//!
//! The built-in table is `catalog/components.toml`; `catalog/README.md` describes the format.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// The table that comes with the program.
const BUILT_IN: &str = include_str!("../../../catalog/components.toml");
/// Its name in messages.
const BUILT_IN_NAME: &str = "catalog/components.toml";

/// A table of components.
#[derive(Debug, Clone)]
pub struct Components {
    rules: Vec<Rule>,
    /// Names of functions that only threads of sessions run.
    sessions: Vec<String>,
    /// Name of the outermost function that a path is shown from, the first that it has.
    roots: Vec<String>,
    waits: Vec<WaitRule>,
}

/// Places in the kernel where threads wait for one thing.
#[derive(Debug, Clone)]
struct WaitRule {
    kind: String,
    places: Regex,
}

/// Threads that wait for nothing.
const RUNNING: &str = "on a processor, or ready";
/// Threads that wait at a place that no rule has.
const OTHER_WAITS: &str = "other waits";

/// The reason that a table of components can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {file}, line {line}: {reason}")]
pub struct ComponentsError {
    /// Its name.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// The problem, and the expected content.
    pub reason: String,
}

/// Functions of one component.
#[derive(Debug, Clone)]
struct Rule {
    component: String,
    object: Option<Regex>,
    function: Option<Regex>,
    callees: Option<String>,
}

/// The component of a function whose name is known, or of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match<'a> {
    /// Name of the component.
    pub(crate) component: &'a str,
    /// Component of functions without symbol that it calls, where this is another.
    pub(crate) callees: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    sessions: Vec<String>,
    #[serde(default)]
    roots: Vec<String>,
    #[serde(default)]
    component: Vec<toml::Spanned<Row>>,
    #[serde(default)]
    wait: Vec<toml::Spanned<WaitRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitRow {
    name: String,
    places: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    object: Option<String>,
    #[serde(default)]
    functions: Vec<String>,
    callees: Option<String>,
}

impl Components {
    /// The built-in table.
    ///
    /// # Errors
    /// When it is damaged, which a test excludes.
    pub fn built_in() -> Result<Self, ComponentsError> {
        Self::parse(BUILT_IN, BUILT_IN_NAME)
    }

    /// The built-in table with another before it: of two patterns that match, the first decides.
    ///
    /// # Errors
    /// When `text` is not such a table.
    pub fn with(text: &str, file: &str) -> Result<Self, ComponentsError> {
        let mut own = Self::parse(text, file)?;
        let built_in = Self::built_in()?;
        own.rules.extend(built_in.rules);
        own.sessions.extend(built_in.sessions);
        own.roots.extend(built_in.roots);
        own.waits.extend(built_in.waits);
        Ok(own)
    }

    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, ComponentsError> {
        let error = |at: usize, reason: String| ComponentsError {
            file: file.to_owned(),
            line: text[..at.min(text.len())].matches('\n').count() + 1,
            reason,
        };
        let document: Document = toml::from_str(text).map_err(|source| {
            let at = source.span().map_or(0, |span| span.start);
            error(at, source.message().to_owned())
        })?;
        let compile = |pattern: String, at: usize| {
            // Names are bytes to compilers and linkers, and classes of Unicode take five times as long
            // to compile.
            let compiled = RegexBuilder::new(&pattern).unicode(false).build();
            compiled.map_err(|source| {
                error(
                    at,
                    format!("`{pattern}` is no regular expression: {source}"),
                )
            })
        };
        // One pattern of all: the beginnings of names are listed one by one to be read.
        let any_of = |patterns: &[String]| format!("^(?:{})", patterns.join("|"));
        let mut waits = Vec::new();
        for row in document.wait {
            let at = row.span().start;
            let row = row.into_inner();
            waits.push(WaitRule {
                kind: row.name,
                places: compile(any_of(&row.places), at)?,
            });
        }
        let mut rules = Vec::new();
        for row in document.component {
            let at = row.span().start;
            let row = row.into_inner();
            if row.object.is_none() && row.functions.is_empty() {
                let reason = "expected the key `object` or `functions`: \
                              without both, every function belongs to it";
                return Err(error(at, reason.to_owned()));
            }
            let function = (!row.functions.is_empty()).then(|| any_of(&row.functions));
            rules.push(Rule {
                component: row.name,
                object: row.object.map(|it| compile(it, at)).transpose()?,
                function: function.map(|it| compile(it, at)).transpose()?,
                callees: row.callees,
            });
        }
        Ok(Self {
            rules,
            sessions: document.sessions,
            roots: document.roots,
            waits,
        })
    }

    /// What a thread waits for at a place in the kernel; without a place, it waits for nothing.
    pub(crate) fn wait(&self, place: &str) -> &str {
        if place.is_empty() {
            return RUNNING;
        }
        let rule = self.waits.iter().find(|rule| rule.places.is_match(place));
        rule.map_or(OTHER_WAITS, |rule| &rule.kind)
    }

    /// The component of a function by its comparable name and the name of its object; `None` if no rule
    /// has it.
    pub(crate) fn of_function(&self, object: &str, name: &str) -> Option<Match<'_>> {
        self.first(|rule| {
            rule.is_of(object) && rule.function.as_ref().is_none_or(|f| f.is_match(name))
        })
    }

    /// The component of an object whose functions all belong to one; `None` if no rule says so.
    pub(crate) fn of_object(&self, object: &str) -> Option<Match<'_>> {
        self.first(|rule| rule.function.is_none() && rule.is_of(object))
    }

    fn first(&self, matches: impl Fn(&Rule) -> bool) -> Option<Match<'_>> {
        let rule = self.rules.iter().find(|rule| matches(rule))?;
        Some(Match {
            component: &rule.component,
            callees: rule.callees.as_deref(),
        })
    }

    /// `true` for a function that only threads of sessions run.
    pub(crate) fn is_of_session(&self, name: &str) -> bool {
        self.sessions.iter().any(|session| session == name)
    }

    /// The rank of a function among those that paths are shown from; the lowest goes first.
    pub(crate) fn root_rank(&self, name: &str) -> Option<usize> {
        self.roots.iter().position(|root| root == name)
    }
}

impl Rule {
    fn is_of(&self, object: &str) -> bool {
        self.object.as_ref().is_none_or(|o| o.is_match(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
sessions = ["do_command"]
roots = ["dispatch_command"]

[[component]]
name = "C library"
object = "^libc[.-]"

[[component]]
name = "engine interface"
functions = ["handler::", "ha_"]
callees = "engine"

[[component]]
name = "parser"
functions = ["MYSQLparse$"]
"#;

    #[test]
    fn the_first_rule_that_matches_decides() {
        let components = Components::parse(TABLE, "mine.toml").unwrap();
        let of = |object, name| components.of_function(object, name).map(|m| m.component);
        assert_eq!(of("libc.so.6", "ha_x"), Some("C library"));
        assert_eq!(of("mysqld", "ha_x"), Some("engine interface"));
        assert_eq!(of("mysqld", "MYSQLparse"), Some("parser"));
        assert_eq!(of("mysqld", "MYSQLparse2"), None);
        assert_eq!(of("mysqld", "my_ha_x"), None);
        assert!(components.of_object("libc.so.6").is_some());
        assert_eq!(components.of_object("mysqld"), None);
        assert!(components.is_of_session("do_command"));
        assert_eq!(components.root_rank("dispatch_command"), Some(0));
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = |text: &str| {
            Components::parse(text, "mine.toml")
                .unwrap_err()
                .to_string()
        };
        let nothing = error("\n[[component]]\nname = 'x'\n");
        assert!(
            nothing.starts_with("read mine.toml, line 2: expected the key"),
            "{nothing}"
        );
        let broken = error("[[component]]\nname = 'x'\nfunctions = ['a(']\n");
        assert!(broken.contains("is no regular expression"), "{broken}");
        let unknown = error("[[component]]\nname = 'x'\ncolour = 'red'\n");
        assert!(
            unknown.contains("line 3") && unknown.contains("colour"),
            "{unknown}"
        );
    }

    #[test]
    fn the_built_in_table_can_be_read() {
        let components = Components::with(TABLE, "mine.toml").unwrap();
        assert!(components.rules.len() > 30, "{}", components.rules.len());
    }
}
