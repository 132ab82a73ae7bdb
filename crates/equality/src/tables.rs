//! The tables of all families, each for the servers that it is about.

use std::collections::BTreeSet;

use prony_model::Engine;

use crate::difference::Difference;
use crate::settings::{Setting, SettingCell};
use crate::subject::{Subject, canonical};
use crate::table::{Table, VariableTableError};

/// Known facts of server variables, for every family. Variables of MySQL and MariaDB are compared with
/// each other, those of PostgreSQL with those of PostgreSQL.
#[derive(Debug, Clone)]
pub struct VariableTable {
    mysql: Table,
    postgresql: Table,
}

/// The subjects that one table is about.
struct Part<'t, 's> {
    table: &'t Table,
    subjects: Vec<Subject<'s>>,
    /// By subject: its index among all.
    places: Vec<usize>,
    /// The number of all.
    count: usize,
}

impl VariableTable {
    /// The tables that Prony brings along.
    ///
    /// # Errors
    /// Never in a Prony whose tests pass; the tables are compiled in.
    pub fn embedded() -> Result<Self, VariableTableError> {
        let mysql = include_str!("../../../catalog/variables.toml");
        let postgresql = include_str!("../../../catalog/variables-postgresql.toml");
        Ok(Self {
            mysql: Table::parse("variables.toml", mysql)?,
            postgresql: Table::parse("variables-postgresql.toml", postgresql)?,
        })
    }

    /// The variables whose values differ between subjects of a family for another reason than that an
    /// intent was asked for with different values. Those known to matter come first, then by kind
    /// and name. `allow` has names of variables as any version writes them, and of the intents that
    /// govern them.
    pub fn compare(&self, subjects: &[Subject<'_>], allow: &[String]) -> Vec<Difference> {
        let parts = self.parts(subjects);
        let differences = parts.iter().flat_map(|part| {
            let found = part.table.compare(&part.subjects, allow);
            found.into_iter().map(|one| part.difference(one))
        });
        let mut differences: Vec<Difference> = differences.collect();
        differences.sort_by(|a, b| a.rank().cmp(&b.rank()));
        differences
    }

    /// Everything that was asked of at least one target, raw options first, then what the
    /// experiment asked by intents, then the common baseline; each by name. A setting is of one family.
    pub fn settings(&self, subjects: &[Subject<'_>]) -> Vec<Setting> {
        let parts = self.parts(subjects);
        let settings = parts.iter().flat_map(|part| {
            let found = part.table.settings(&part.subjects);
            found.into_iter().map(|one| part.setting(one))
        });
        let mut settings: Vec<Setting> = settings.collect();
        settings.sort_by(|a, b| a.rank().cmp(&b.rank()));
        settings
    }

    /// The names in `allow` that are no variable of any subject and of no row of a table: they
    /// are probably misspelt.
    pub fn unknown_allowed<'a>(
        &self,
        subjects: &[Subject<'_>],
        allow: &'a [String],
    ) -> Vec<&'a str> {
        let parts = self.parts(subjects);
        let known = |name: &str| {
            let mut parts = parts.iter();
            parts.any(|part| part.table.knows(&part.subjects, name))
        };
        let names = allow.iter().map(String::as_str);
        names.filter(|name| !known(&canonical(name))).collect()
    }

    /// Names of the intents that rows refer to, each once. For checks against the table of
    /// intents.
    pub fn intents(&self) -> BTreeSet<&str> {
        let tables = [&self.mysql, &self.postgresql].into_iter();
        tables.flat_map(Table::intents).collect()
    }

    /// The subjects of each table, tables without any left out.
    fn parts<'s>(&self, subjects: &[Subject<'s>]) -> Vec<Part<'_, 's>> {
        let of = |table, is_of: fn(Engine) -> bool| {
            let own = subjects.iter().enumerate();
            let own = own.filter(|(_, subject)| is_of(subject.engine));
            let (places, own) = own.map(|(place, subject)| (place, *subject)).unzip();
            Part {
                table,
                subjects: own,
                places,
                count: subjects.len(),
            }
        };
        let parts = [
            of(&self.mysql, |engine| engine != Engine::Heap),
            of(&self.postgresql, |engine| engine == Engine::Heap),
        ];
        let mut parts = Vec::from(parts);
        parts.retain(|part| !part.subjects.is_empty());
        parts
    }
}

impl Part<'_, '_> {
    /// By subject of all: its own, or what stands for nothing.
    fn spread<T: Clone>(&self, own: Vec<T>, nothing: T) -> Vec<T> {
        let mut all = vec![nothing; self.count];
        for (place, one) in self.places.iter().zip(own) {
            all[*place] = one;
        }
        all
    }

    fn difference(&self, one: Difference) -> Difference {
        Difference {
            values: self.spread(one.values, None),
            asked: self.spread(one.asked, None),
            groups: self.spread(one.groups, None),
            of: self.spread(one.of, false),
            ..one
        }
    }

    fn setting(&self, one: Setting) -> Setting {
        let nothing = SettingCell {
            asked: None,
            got: None,
            adjusted: false,
        };
        Setting {
            cells: self.spread(one.cells, nothing),
            ..one
        }
    }
}

#[cfg(test)]
mod tests;
