//! One variable across all targets, whatever names it has.

use std::collections::BTreeSet;

use crate::subject::{Asked, Prepared};
use crate::table::{Row, Table};

/// One variable across all subjects.
pub(crate) struct Item<'t, 'p> {
    /// As [`crate::Difference::variable`].
    pub(crate) variable: String,
    pub(crate) row: Option<&'t Row>,
    pub(crate) values: Vec<Option<String>>,
    pub(crate) asked: Vec<Option<String>>,
    /// The options that ask for it; the last of each subject counts.
    pub(crate) options: Vec<Vec<&'p Asked<'p>>>,
}

impl Table {
    /// Every variable that a subject has or was given, once, whatever its names. Those that say
    /// nothing about speed are left out.
    pub(crate) fn items<'t, 'p>(&'t self, prepared: &'p [Prepared<'p>]) -> Vec<Item<'t, 'p>> {
        let mut names = BTreeSet::new();
        let mut items = Vec::new();
        for subject in prepared {
            names.extend(subject.variables.keys().map(String::as_str));
            names.extend(subject.asked.keys().map(String::as_str));
        }
        let known = |row: &&Row| row.factors().any(|name| names.contains(name));
        let rows = self.rows.iter().filter(known);
        items.extend(rows.map(|row| Item::of_row(row, prepared)));
        for name in names {
            let row = self.row(name);
            if !row.map_or(self.ignores(name), |row| row.is_about(name)) {
                items.push(Item::of_name(name, row, prepared));
            }
        }
        items
    }
}

impl<'t, 'p> Item<'t, 'p> {
    fn of_row(row: &'t Row, prepared: &'p [Prepared<'p>]) -> Self {
        let value_of = |p: &Prepared<'_>| row.value(&p.variables).map(|(_, value)| value);
        let asked = prepared.iter().map(|p| {
            let asked = |name: &str| Some((name.to_owned(), p.asked.get(name)?.value.clone()));
            let asked: Vec<_> = row.factors().filter_map(asked).collect();
            let mut requested = p.variables.clone();
            let any = !asked.is_empty();
            requested.extend(asked);
            row.value(&requested)
                .map(|(_, value)| value)
                .filter(|_| any)
        });
        let options = |p: &'p Prepared<'p>| row.factors().filter_map(|name| p.asked.get(name));
        Self {
            variable: newest_name(row, prepared),
            row: Some(row),
            values: prepared.iter().map(value_of).collect(),
            asked: asked.collect(),
            options: prepared.iter().map(|p| options(p).collect()).collect(),
        }
    }

    fn of_name(name: &str, row: Option<&'t Row>, prepared: &'p [Prepared<'p>]) -> Self {
        let value = |p: &Prepared<'_>| p.variables.get(name).cloned();
        let asked = |p: &'p Prepared<'p>| p.asked.get(name);
        let requested = |p: &'p Prepared<'p>| asked(p).map(|asked| asked.value.clone());
        Self {
            variable: name.to_owned(),
            row,
            values: prepared.iter().map(value).collect(),
            asked: prepared.iter().map(requested).collect(),
            options: prepared
                .iter()
                .map(|p| asked(p).into_iter().collect())
                .collect(),
        }
    }

    /// The intents that set the variable, the most important first: as the table says, or as the
    /// options say.
    pub(crate) fn intents(&self) -> Vec<&str> {
        let of_row: Vec<&str> = self.row.into_iter().flat_map(Row::intents).collect();
        if !of_row.is_empty() {
            return of_row;
        }
        let options = self.options.iter().flatten();
        let of_options = options.filter_map(|asked| asked.option.intent.as_deref());
        of_options.min().into_iter().collect()
    }
}

/// The newest name of a row that a server uses, or that one was given.
fn newest_name(row: &Row, prepared: &[Prepared<'_>]) -> String {
    row.names
        .iter()
        .rev()
        .find(|name| {
            let first = &name.factors[0];
            let knows =
                |p: &Prepared<'_>| p.variables.contains_key(first) || p.asked.contains_key(first);
            prepared.iter().any(knows)
        })
        .or(row.names.last())
        .map(ToString::to_string)
        .unwrap_or_default()
}
