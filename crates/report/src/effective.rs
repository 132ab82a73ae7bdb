//! What the servers of the targets are set to: what was asked, what they made of it, and where
//! they differ.

mod csv;
mod differences;
mod json;
mod settings;

use std::collections::BTreeMap;

use prony_equality::{Difference, Setting, Subject, VariableTable};
use prony_model::{Engine, IntentValue, RenderedOption};
use prony_store::Store;

use crate::document::Block;
use crate::render::{Format, ReportError};
use crate::{markdown, text};

pub(crate) use json::{DifferenceEntry, EffectiveEntry, SettingEntry};

/// Targets that are shown as columns of a table; of more, the values are listed.
const COLUMNS_MAX: usize = 8;

/// One target with what its server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveTarget {
    /// The target's name.
    pub name: String,
    /// The engine of its tables.
    pub engine: Engine,
    /// Whether somebody else runs the server.
    pub external: bool,
    /// Intents that the experiment asks for, without those left at the baseline.
    pub intents: BTreeMap<String, IntentValue>,
    /// What the server was told. Empty for a server that Prony did not start.
    pub options: Vec<RenderedOption>,
    /// `SHOW GLOBAL VARIABLES`, and what Prony adds under names that begin with `prony.`.
    pub variables: BTreeMap<String, String>,
}

impl EffectiveTarget {
    fn subject(&self) -> Subject<'_> {
        Subject {
            name: &self.name,
            engine: self.engine,
            external: self.external,
            intents: &self.intents,
            options: &self.options,
            variables: &self.variables,
        }
    }
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What a reader must see: fits a screen.
    Brief,
    /// Everything.
    Full,
}

/// The comparison of the targets whose variables are known.
#[derive(Debug)]
pub(crate) struct Effective {
    /// Names of the targets, in the order of their columns.
    pub(crate) names: Vec<String>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) differences: Vec<Difference>,
}

impl Effective {
    /// Of the targets of a run with these indices, as far as their servers were ever asked.
    pub(crate) fn of_run(store: &Store, columns: &[usize]) -> Result<Self, ReportError> {
        let mut targets = Vec::new();
        for &index in columns {
            let variables = store.target_variables(index)?;
            if variables.is_empty() {
                continue;
            }
            let target = &store.plan().targets[index];
            targets.push(EffectiveTarget {
                name: target.name.clone(),
                engine: target.engine,
                external: target.external.is_some(),
                intents: target.config.intents.clone(),
                options: store.options(index)?,
                variables,
            });
        }
        Self::of(&targets, &store.plan().allow)
    }

    fn of(targets: &[EffectiveTarget], allow: &[String]) -> Result<Self, ReportError> {
        let table = VariableTable::embedded()?;
        let subjects: Vec<Subject<'_>> = targets.iter().map(EffectiveTarget::subject).collect();
        Ok(Self {
            names: targets.iter().map(|target| target.name.clone()).collect(),
            settings: table.settings(&subjects),
            differences: table.compare(&subjects, allow),
        })
    }

    /// The sections of a report.
    pub(crate) fn blocks(&self, detail: Detail) -> Vec<Block> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let mut blocks = settings::blocks(self, detail);
        if self.names.len() > 1 {
            blocks.extend(differences::blocks(self, detail));
        }
        blocks
    }

    /// Variables known to matter that differ because the experiment allows it.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = &str> {
        self.differences
            .iter()
            .filter(|difference| difference.allowed && difference.matters.is_some())
            .map(|difference| difference.variable.as_str())
    }
}

/// What the servers of `targets` are set to and where they differ, as a report of its own; ends
/// with a line feed. `allow` is the experiment's.
///
/// # Errors
/// When it can't be written as JSON.
pub fn effective_settings(
    targets: &[EffectiveTarget],
    allow: &[String],
    format: Format,
) -> Result<String, ReportError> {
    let effective = Effective::of(targets, allow)?;
    match format {
        Format::Text => Ok(text::write(&effective.blocks(Detail::Brief))),
        Format::Markdown => Ok(markdown::write(&effective.blocks(Detail::Full))),
        Format::Csv => Ok(csv::write(&effective)),
        Format::Json => serde_json::to_string_pretty(&EffectiveEntry::of(&effective))
            .map(|text| text + "\n")
            .map_err(|source| ReportError::Json { source }),
    }
}

/// A value as people read it: whole mebibytes as `128M` or `1G`, nothing longer than a column.
fn shown(value: Option<&str>) -> String {
    const LONGEST: usize = 32;
    let Some(value) = value else {
        return "-".into();
    };
    if value.is_empty() {
        return "empty".into();
    }
    match value.parse::<u64>() {
        Ok(number) if number > 0 && number.is_multiple_of(1 << 20) => {
            return IntentValue::Bytes(number).to_string();
        }
        _ => {}
    }
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    let start: String = value.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_people_read_them() {
        for (value, expected) in [
            (None, "-"),
            (Some(""), "empty"),
            (Some("134217728"), "128M"),
            (Some("0"), "0"),
            (Some("258048"), "258048"),
            (
                Some("TABLE_SCAN,INDEX_SCAN,HASH_SCAN,MORE"),
                "TABLE_SCAN,INDEX_SCAN,HASH_SCAN…",
            ),
        ] {
            assert_eq!(shown(value), expected);
        }
    }
}
