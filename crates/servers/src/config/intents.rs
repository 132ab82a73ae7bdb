//! The table of intents: what an experiment may ask of a configuration, and how each version is
//! told.

use std::collections::BTreeMap;
use std::path::Path;

use prony_model::{
    BuildFacts, Engine, Family, IntentFacts, IntentKind, IntentValue, Transport, Version,
};
use serde::Deserialize;

use crate::build::catalogue::error::CatalogueError;

const FILE: &str = "intents.toml";
const TEXT: &str = include_str!("../../../../catalog/intents.toml");

/// The table.
#[derive(Debug, Clone)]
pub(crate) struct Intents {
    /// Settings that are the same for every experiment.
    pub(crate) fixed: Vec<Fixed>,
    /// The settings that an experiment may ask for.
    pub(crate) intents: Vec<Intent>,
}

/// A setting that is the same for every experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixed {
    /// The reason, for the comment in the rendered file.
    pub(crate) why: String,
    rendering: Vec<Rendering>,
}

/// One thing that an experiment may ask for.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    /// The facts that experiments are checked against.
    pub(crate) facts: IntentFacts,
    /// Its value where the experiment asks for nothing; `None` leaves the server alone.
    pub(crate) baseline: Option<IntentValue>,
    /// The reason for that baseline; empty where there is none.
    pub(crate) because: String,
    /// The settings beside server options.
    pub(crate) sets: Option<Sets>,
    rendering: Vec<Rendering>,
}

/// A setting beside the options of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sets {
    /// Encryption that the server offers, or none.
    Tls,
    /// The memory allocator.
    Allocator,
    /// Transparent huge pages.
    HugePages,
    /// Processors of the server.
    ServerCpus,
    /// Processors of the load generator.
    ClientCpus,
}

/// The options for some servers. The first rendering that fits is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rendering {
    /// Only this family.
    family: Option<Family>,
    /// From this version on.
    since: Option<Version>,
    /// Up to this version, without it.
    until: Option<Version>,
    /// Only where the target's tables are of this engine.
    engine: Option<Engine>,
    /// Only where the load comes this way.
    transport: Option<Transport>,
    /// Only builds that lack the intent, and no row without it fits those.
    #[serde(default)]
    lacking: bool,
    /// Smallest number that it takes.
    min: Option<Amount>,
    /// Largest number that it takes.
    max: Option<Amount>,
    /// Server options, with holes for the value.
    #[serde(default)]
    options: Vec<String>,
    /// Server options for single values. Without `options` no other value can be honoured.
    #[serde(default)]
    values: BTreeMap<String, Vec<String>>,
}

/// A number, or a size such as `"64M"`.
#[derive(Debug, Clone, Copy)]
struct Amount(u64);

/// The facts that decide which row is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation<'a> {
    /// The build.
    pub(crate) build: &'a BuildFacts,
    /// The engine of the target's tables.
    pub(crate) engine: Engine,
    /// The transport of the load.
    pub(crate) transport: Transport,
    /// Intents that may be honoured as far as the version can.
    pub(crate) allow: &'a [String],
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
    baseline: Option<toml::Value>,
    #[serde(default)]
    because: String,
    sets: Option<Sets>,
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

    /// The facts that experiments are checked against.
    pub(crate) fn facts(&self) -> Vec<IntentFacts> {
        self.intents
            .iter()
            .map(|intent| intent.facts.clone())
            .collect()
    }
}

impl Intent {
    fn from_row(row: IntentRow) -> Option<Self> {
        let baseline = match row.baseline {
            Some(baseline) => Some(baseline_value(row.kind, baseline)?),
            None => None,
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
            because: row.because,
            sets: row.sets,
            rendering: row.rendering,
        })
    }

    /// The rendering for a server, if it has anything of the kind.
    pub(crate) fn rendering(&self, situation: Situation<'_>) -> Option<&Rendering> {
        let lacks = self.lacked_by(situation.build);
        let mut rows = self.rendering.iter();
        rows.find(|row| row.lacking == lacks && row.fits(situation))
    }

    /// True for a build that lacks what its version has.
    pub(crate) fn lacked_by(&self, build: &BuildFacts) -> bool {
        build.lacks.contains(&self.facts.name)
    }

    /// The engines that the rows ask for, if all of them ask for one.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        let engines = self.rendering.iter().map(|row| row.engine);
        engines.collect::<Option<_>>().unwrap_or_default()
    }
}

fn baseline_value(kind: IntentKind, value: toml::Value) -> Option<IntentValue> {
    Some(match (kind, value) {
        (IntentKind::Flag, toml::Value::Boolean(flag)) => IntentValue::Flag(flag),
        (IntentKind::Number, toml::Value::Integer(number)) => {
            IntentValue::Number(number.try_into().ok()?)
        }
        (IntentKind::Bytes, toml::Value::String(text)) => IntentValue::parse_bytes(&text).ok()?,
        (IntentKind::Text | IntentKind::Cpus, toml::Value::String(text)) => IntentValue::Text(text),
        _ => return None,
    })
}

impl Fixed {
    /// The options for a server; `None` says that there are none.
    pub(crate) fn rendering(&self, situation: Situation<'_>) -> Option<&Rendering> {
        self.rendering.iter().find(|row| row.fits(situation))
    }
}

impl Rendering {
    fn fits(&self, situation: Situation<'_>) -> bool {
        let build = situation.build;
        self.family.is_none_or(|wanted| wanted == build.family)
            && self.since.is_none_or(|since| since <= build.version)
            && self.until.is_none_or(|until| build.version < until)
            && self.engine.is_none_or(|engine| engine == situation.engine)
            && (self.transport).is_none_or(|transport| transport == situation.transport)
    }

    /// The options for a value; `None` if it can't be honoured.
    pub(crate) fn options(&self, value: &IntentValue) -> Option<&[String]> {
        if let Some(options) = self.values.get(&value_text(value)) {
            return Some(options);
        }
        let within = match value {
            IntentValue::Number(number) | IntentValue::Bytes(number) => {
                self.min().is_none_or(|min| min <= *number)
                    && self.max().is_none_or(|max| *number <= max)
            }
            _ => true,
        };
        (within && !self.is_choice()).then_some(&self.options)
    }

    /// True where only the values of a list can be honoured.
    pub(crate) fn is_choice(&self) -> bool {
        !self.values.is_empty() && self.options.is_empty()
    }

    /// The options of a fixed setting.
    pub(crate) fn fixed_options(&self) -> &[String] {
        &self.options
    }

    /// True where the server does one of the values by itself.
    pub(crate) fn does_by_itself(&self) -> bool {
        self.values.values().any(Vec::is_empty)
    }

    /// The values that have options of their own.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The number that can be honoured and is nearest to one that can't; `None` for what is no
    /// number.
    pub(crate) fn nearest(&self, value: &IntentValue) -> Option<IntentValue> {
        let nearest = |number: u64| {
            let least = number.max(self.min().unwrap_or(0));
            least.min(self.max().unwrap_or(u64::MAX))
        };
        match value {
            _ if self.is_choice() => None,
            IntentValue::Number(number) => Some(IntentValue::Number(nearest(*number))),
            IntentValue::Bytes(bytes) => Some(IntentValue::Bytes(nearest(*bytes))),
            IntentValue::Flag(_) | IntentValue::Text(_) => None,
        }
    }

    /// Smallest number that can be honoured.
    pub(crate) fn min(&self) -> Option<u64> {
        self.min.map(|amount| amount.0)
    }

    /// Largest number that can be honoured.
    pub(crate) fn max(&self) -> Option<u64> {
        self.max.map(|amount| amount.0)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let amount = match toml::Value::deserialize(deserializer)? {
            toml::Value::Integer(number) => number.try_into().ok(),
            toml::Value::String(text) => match IntentValue::parse_bytes(&text) {
                Ok(IntentValue::Bytes(number)) => Some(number),
                _ => None,
            },
            _ => None,
        };
        amount
            .map(Self)
            .ok_or_else(|| D::Error::custom("a limit is a whole number or a size such as \"64M\""))
    }
}

/// The text of a value in the table: `on`, `off`, a number, a word.
pub(crate) fn value_text(value: &IntentValue) -> String {
    match value {
        IntentValue::Flag(true) => "on".to_owned(),
        IntentValue::Flag(false) => "off".to_owned(),
        IntentValue::Number(number) | IntentValue::Bytes(number) => number.to_string(),
        IntentValue::Text(text) => text.clone(),
    }
}
