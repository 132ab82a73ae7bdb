//! A compared subject: one target as requested and as it is.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{Baseline, Engine, IntentValue, RenderedOption};

use crate::table::Table;
use crate::value::flags;

/// One target: what was asked of its server and what the server says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The target's name.
    pub name: &'a str,
    /// The engine of its tables.
    pub engine: Engine,
    /// `true` for an external server, which can't be configured.
    pub external: bool,
    /// Values of the settings that the experiment does not ask for.
    pub baseline: Baseline,
    /// Intents that the experiment asks for; those left at the baseline are not there.
    pub intents: &'a BTreeMap<String, IntentValue>,
    /// Options given to the server. Empty for a server that Prony did not start.
    pub options: &'a [RenderedOption],
    /// `SHOW GLOBAL VARIABLES` or `SHOW ALL`, and what Prony adds under names that begin with `prony.`.
    pub variables: &'a BTreeMap<String, String>,
}

impl Subject<'_> {
    /// The target's name, with the server's version where the name does not tell it.
    pub(crate) fn label(&self) -> String {
        let version = self.variables.get("version");
        match version.or_else(|| self.variables.get("server_version")) {
            Some(version) if !self.name.contains(numeric(version)) => {
                format!("{} ({version})", self.name)
            }
            _ => self.name.to_owned(),
        }
    }
}

/// The `8.0.31` of `8.0.31-log`.
fn numeric(version: &str) -> &str {
    let end = version.find(|c: char| c != '.' && !c.is_ascii_digit());
    &version[..end.unwrap_or(version.len())]
}

/// A subject in a form to compare: flags apart, options under the names of variables.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) subject: &'a Subject<'a>,
    /// Values by variable.
    pub(crate) variables: BTreeMap<String, String>,
    /// The variables with flags, which are not in `variables` as a whole, and all others.
    pub(crate) lists: BTreeSet<String>,
    /// Values asked for, by variable.
    pub(crate) asked: BTreeMap<String, Asked<'a>>,
}

/// A value that an option gives to the server.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) value: String,
    pub(crate) option: &'a RenderedOption,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(table: &Table, subject: &'a Subject<'a>) -> Self {
        let mut variables = BTreeMap::new();
        let mut lists = BTreeSet::new();
        for (name, value) in subject.variables {
            variables.extend(flags_apart(&canonical(name), value));
            lists.insert(canonical(name));
        }
        let is_variable = |name: &str| lists.contains(name) || table.row(name).is_some();
        let mut asked = BTreeMap::new();
        for option in subject.options {
            let Some((name, value)) = as_variable(option, is_variable) else {
                continue;
            };
            for (name, value) in flags_apart(&name, &value) {
                asked.insert(name, Asked { value, option });
            }
        }
        Self {
            subject,
            variables,
            lists,
            asked,
        }
    }
}

/// The name of a variable as `SHOW VARIABLES` writes it.
pub(crate) fn canonical(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('-', "_")
}

/// A variable, or each flag of a variable that is a list of them, such as `optimizer_switch.mrr`.
fn flags_apart(name: &str, value: &str) -> Vec<(String, String)> {
    match flags(value) {
        Some(flags) => flags
            .into_iter()
            .map(|(flag, value)| (format!("{name}.{flag}"), value))
            .collect(),
        None => vec![(name.to_owned(), value.to_owned())],
    }
}

/// The variable that an option sets, and the value that it asks for. `None` for options that are
/// no variable, which the server only reads.
fn as_variable(
    option: &RenderedOption,
    is_variable: impl Fn(&str) -> bool,
) -> Option<(String, String)> {
    let name = canonical(&option.name);
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    let value = option.value.clone();
    if is_variable(name) {
        return Some((name.to_owned(), value.unwrap_or_else(|| "ON".into())));
    }
    [("skip_", "OFF"), ("disable_", "OFF"), ("enable_", "ON")]
        .into_iter()
        .find_map(|(prefix, meaning)| {
            let rest = name.strip_prefix(prefix)?;
            (value.is_none() && is_variable(rest)).then(|| (rest.to_owned(), meaning.to_owned()))
        })
}

#[cfg(test)]
mod tests {
    use prony_model::OptionOrigin;

    use super::*;

    #[test]
    fn options_become_variables() {
        let known = ["log_bin", "skip_networking", "innodb_doublewrite"];
        for (option, expected) in [
            ("log-bin=binlog", Some(("log_bin", "binlog"))),
            ("skip-log-bin", Some(("log_bin", "OFF"))),
            ("skip-networking", Some(("skip_networking", "ON"))),
            (
                "loose-innodb_doublewrite=0",
                Some(("innodb_doublewrite", "0")),
            ),
            ("skip-ssl", None),
        ] {
            let option = RenderedOption::new(option, OptionOrigin::Baseline, None, "");
            let found = as_variable(&option, |name| known.contains(&name));
            let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(found, expected, "{}", option.name);
        }
    }

    #[test]
    fn labels_tell_the_version() {
        let variables = BTreeMap::from([("version".to_owned(), "8.0.31-log".to_owned())]);
        let mut subject = Subject {
            name: "mysql-8.0.31",
            engine: Engine::Innodb,
            external: false,
            baseline: Baseline::Common,
            intents: &BTreeMap::new(),
            options: &[],
            variables: &variables,
        };
        assert_eq!(subject.label(), "mysql-8.0.31");
        subject.name = "ps-on";
        assert_eq!(subject.label(), "ps-on (8.0.31-log)");
    }
}
