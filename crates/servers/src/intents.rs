//! The table of intents: what an experiment may ask of a configuration, and how each version is
//! told.

use std::collections::BTreeMap;
use std::path::Path;

use prony_model::{Family, IntentFacts, IntentKind, IntentValue, Version};
use serde::Deserialize;

use crate::catalogue::CatalogueError;

const FILE: &str = "intents.toml";
const TEXT: &str = include_str!("../../../catalog/intents.toml");

/// The table.
#[derive(Debug, Clone)]
pub(crate) struct Intents {
    /// Settings that are the same for every experiment.
    pub(crate) fixed: Vec<Fixed>,
    /// What an experiment may ask for.
    pub(crate) intents: Vec<Intent>,
}

/// A setting that is the same for every experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixed {
    /// Why it is set, for the comment in the rendered file.
    pub(crate) why: String,
    rendering: Vec<Rendering>,
}

/// One thing that an experiment may ask for.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    /// What experiments are checked against.
    pub(crate) facts: IntentFacts,
    /// Its value where the experiment asks for nothing.
    pub(crate) baseline: IntentValue,
    rendering: Vec<Rendering>,
}

/// How some versions are told. The first rendering that fits is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rendering {
    /// Only this family.
    family: Option<Family>,
    /// From this version on.
    since: Option<Version>,
    /// Up to this version, without it.
    until: Option<Version>,
    /// Server options, with holes for the value.
    #[serde(default)]
    options: Vec<String>,
    /// Server options for each value that can be honoured. Empty means every value, by `options`.
    #[serde(default)]
    values: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    fixed: Vec<Fixed>,
    intent: Vec<IntentRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentRow {
    name: String,
    kind: IntentKind,
    description: String,
    baseline: toml::Value,
    rendering: Vec<Rendering>,
}

impl Intents {
    /// The table that Prony brings along.
    pub(crate) fn embedded() -> Result<Self, CatalogueError> {
        let invalid = |line: usize, reason: String| CatalogueError::Invalid {
            file: Path::new(FILE).to_owned(),
            line,
            reason,
        };
        let document: Document = toml::from_str(TEXT).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let line = TEXT[..offset].lines().count().max(1);
            invalid(line, error.message().to_owned())
        })?;
        let intents = document
            .intent
            .into_iter()
            .map(|row| {
                let name = row.name.clone();
                Intent::from_row(row)
                    .ok_or_else(|| invalid(1, format!("the baseline of `{name}` is no {name}")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            fixed: document.fixed,
            intents,
        })
    }

    /// What experiments are checked against.
    pub(crate) fn facts(&self) -> Vec<IntentFacts> {
        self.intents
            .iter()
            .map(|intent| intent.facts.clone())
            .collect()
    }
}

impl Intent {
    fn from_row(row: IntentRow) -> Option<Self> {
        let baseline = match (row.kind, row.baseline) {
            (IntentKind::Flag, toml::Value::Boolean(flag)) => IntentValue::Flag(flag),
            (IntentKind::Number, toml::Value::Integer(number)) => {
                IntentValue::Number(number.try_into().ok()?)
            }
            (IntentKind::Bytes, toml::Value::String(text)) => {
                IntentValue::parse_bytes(&text).ok()?
            }
            (IntentKind::Text | IntentKind::Cpus, toml::Value::String(text)) => {
                IntentValue::Text(text)
            }
            _ => return None,
        };
        let mut choices = Vec::new();
        if row.kind == IntentKind::Text {
            for value in row.rendering.iter().flat_map(|row| row.values.keys()) {
                if !choices.contains(value) {
                    choices.push(value.clone());
                }
            }
        }
        Some(Self {
            facts: IntentFacts {
                name: row.name,
                kind: row.kind,
                choices,
                description: row.description,
            },
            baseline,
            rendering: row.rendering,
        })
    }

    /// How `family` at `version` is told, if it can be.
    pub(crate) fn rendering(&self, family: Family, version: Version) -> Option<&Rendering> {
        Rendering::first(&self.rendering, family, version)
    }
}

impl Fixed {
    /// How `family` at `version` is told; `None` says that there is nothing to tell.
    pub(crate) fn rendering(&self, family: Family, version: Version) -> Option<&Rendering> {
        Rendering::first(&self.rendering, family, version)
    }
}

impl Rendering {
    fn first(rows: &[Self], family: Family, version: Version) -> Option<&Self> {
        rows.iter().find(|row| {
            row.family.is_none_or(|wanted| wanted == family)
                && row.since.is_none_or(|since| since <= version)
                && row.until.is_none_or(|until| version < until)
        })
    }

    /// The options for a value as [`value_text`] writes it; `None` if it can't be honoured.
    pub(crate) fn options(&self, value: &str) -> Option<&[String]> {
        if self.values.is_empty() {
            return Some(&self.options);
        }
        self.values.get(value).map(Vec::as_slice)
    }

    /// The values that can be honoured, if not every one can.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// How a value is written in the table: `on`, `off`, a number, a word.
pub(crate) fn value_text(value: &IntentValue) -> String {
    match value {
        IntentValue::Flag(true) => "on".to_owned(),
        IntentValue::Flag(false) => "off".to_owned(),
        IntentValue::Number(number) | IntentValue::Bytes(number) => number.to_string(),
        IntentValue::Text(text) => text.clone(),
    }
}
