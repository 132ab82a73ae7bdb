//! Numbers of clients.

use std::fmt;

use toml::de::DeValue;

use crate::fields::{Located, Value, twice};
use crate::invalid::{Problem, Read};

/// Most clients of a step: the servers' own limit of `max_connections`.
const CLIENTS_MAX: i64 = 100_000;

/// A number of clients as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Clients {
    /// This many.
    Count(u32),
    /// As many as the dataset has tables.
    Tables,
}

impl Clients {
    /// Number of clients with a dataset of `tables` tables.
    pub(super) fn with(self, tables: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            Self::Tables => tables,
        }
    }
}

impl fmt::Display for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Tables => f.write_str("\"tables\""),
        }
    }
}

/// Reads a list of numbers of clients, at least one and none twice; or `"tables"` alone.
pub(in super::super) fn read(value: Value<'_>) -> Read<Vec<Clients>> {
    if matches!(value.inner(), DeValue::String(_)) {
        return Ok(vec![read_one(value)?.value]);
    }
    let whole = value.clone();
    let mut clients: Vec<Located<Clients>> = Vec::new();
    for item in value.list()? {
        let document = item.document();
        let count = read_one(item)?;
        if let Some(first) = clients.iter().find(|other| other.value == count.value) {
            return twice(
                format!("`clients` has {} twice", count.value),
                &count.span,
                &first.span,
            )
            .help("each number of clients is measured once in every trial: remove one")
            .fail(document);
        }
        clients.push(count);
    }
    if clients.is_empty() {
        return Err(whole.report("must not be empty", "no number of clients"));
    }
    Ok(clients.into_iter().map(|count| count.value).collect())
}

/// Reads one number of clients.
pub(super) fn read_one(value: Value<'_>) -> Read<Located<Clients>> {
    if !matches!(value.inner(), DeValue::String(_)) {
        return Ok(value.count(1..=CLIENTS_MAX)?.map(Clients::Count));
    }
    let document = value.document();
    let word = value.text()?;
    if word.value == "tables" {
        return Ok(word.map(|_| Clients::Tables));
    }
    Problem::new(format!("`{}` is not a number of clients", word.value))
        .at(&word.span, "not a number")
        .help("write whole numbers, or \"tables\" for as many as the dataset has tables")
        .fail(document)
}

/// The numbers for a dataset of `tables` tables, each once.
pub(super) fn resolve(clients: &[Clients], tables: u32) -> Vec<u32> {
    let mut counts = Vec::new();
    for written in clients {
        let count = written.with(tables);
        if !counts.contains(&count) {
            counts.push(count);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_tables_counts_once() {
        let written = [Clients::Count(1), Clients::Tables, Clients::Count(8)];
        assert_eq!(resolve(&written, 4), [1, 4, 8]);
        assert_eq!(resolve(&written, 8), [1, 8]);
    }
}
