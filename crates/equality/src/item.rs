//! One variable across all targets, whatever names it has.

use std::collections::BTreeSet;

use crate::subject::{Asked, Prepared};
use crate::table::{Row, VariableTable};

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

impl VariableTable {
    /// Every variable that a subject has or was told, once, whatever its names. Those that say
    /// nothing about speed are left out.
    pub(crate) fn items<'t, 'p>(&'t self, prepared: &'p [Prepared<'p>]) -> Vec<Item<'t, 'p>> {
        let mut names = BTreeSet::new();
        let mut items = Vec::new();
        for subject in prepared {
            names.extend(subject.variables.keys().map(String::as_str));
            names.extend(subject.asked.keys().map(String::as_str));
        }
        let of_rows = self
            .rows
            .iter()
            .filter(|row| row.factors().any(|name| names.contains(name)));
        for row in of_rows {
            items.push(Item::of_row(row, prepared));
        }
        for name in names {
            match self.row(name) {
                Some(row) if row.factors().any(|factor| factor == name) => {}
                Some(row) => items.push(Item::of_name(name, Some(row), prepared)),
                None if self.ignores(name) => {}
                None => items.push(Item::of_name(name, None, prepared)),
            }
        }
        items
    }
}

impl<'t, 'p> Item<'t, 'p> {
    fn of_row(row: &'t Row, prepared: &'p [Prepared<'p>]) -> Self {
        let value_of = |p: &Prepared<'_>| row.value(&p.variables).map(|(_, value)| value);
        let asked = prepared.iter().map(|p| {
            let mut told = p.variables.clone();
            let mut any = false;
            for name in row.factors() {
                if let Some(asked) = p.asked.get(name) {
                    told.insert(name.to_owned(), asked.value.clone());
                    any = true;
                }
            }
            row.value(&told).map(|(_, value)| value).filter(|_| any)
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
        let asked = |p: &'p Prepared<'p>| p.asked.get(name);
        Self {
            variable: name.to_owned(),
            row,
            values: prepared
                .iter()
                .map(|p| p.variables.get(name).cloned())
                .collect(),
            asked: prepared
                .iter()
                .map(|p| asked(p).map(|asked| asked.value.clone()))
                .collect(),
            options: prepared
                .iter()
                .map(|p| asked(p).into_iter().collect())
                .collect(),
        }
    }

    /// The intents that set the variable, the most important first: as the table says, or as the
    /// options say.
    pub(crate) fn intents(&self) -> Vec<String> {
        let of_row = self.row.map(|row| row.intents.clone()).unwrap_or_default();
        if !of_row.is_empty() {
            return of_row;
        }
        let options = self.options.iter().flatten();
        let of_options = options.filter_map(|asked| asked.option.intent.clone());
        of_options.min().into_iter().collect()
    }
}

/// The newest name of a row that a server uses, or that one was told.
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
