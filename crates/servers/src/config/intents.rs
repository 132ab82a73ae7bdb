//! The table of intents: what an experiment may ask of a configuration, and how each version is
//! told.

use std::collections::BTreeMap;
use std::path::Path;

use prony_model::{
    Baseline, BuildFacts, Config, Engine, Family, IntentFacts, IntentKind, IntentValue, Transport,
    Version,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Value;

use crate::build::catalogue::error::{CatalogueError, read_toml};

const TEXT: &str = include_str!("../../../../catalog/intents.toml");

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intents {
    /// Settings that are the same for every experiment.
    pub(crate) fixed: Vec<Fixed>,
    /// The settings that an experiment may ask for.
    #[serde(rename = "intent")]
    pub(crate) intents: Vec<Intent>,
}

/// A setting that is the same for every experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixed {
    /// The reason, for the comment in the rendered file.
    pub(crate) why: String,
    /// `true` if it holds for the shipped baseline too.
    #[serde(default)]
    pub(crate) always: bool,
    rendering: Vec<Rendering>,
}

/// One thing that an experiment may ask for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intent {
    /// Its name in experiments.
    pub(crate) name: String,
    /// The kind of its values.
    pub(crate) kind: IntentKind,
    /// One sentence for people.
    description: String,
    baseline: Option<Value>,
    /// `true` if its baseline holds for the shipped baseline too.
    #[serde(default)]
    always: bool,
    /// `true` if its value is memory that a server has for itself, however much it uses of it.
    #[serde(default)]
    memory: bool,
    /// Engines whose plans show its value even if no target asks for one.
    #[serde(default)]
    summary: Vec<Engine>,
    /// The reason for that baseline; empty where there is none.
    #[serde(default)]
    because: String,
    /// Differences of single families.
    #[serde(default)]
    own: BTreeMap<Family, Own>,
    /// The settings beside server options.
    pub(crate) sets: Option<Sets>,
    rendering: Vec<Rendering>,
}

/// The meaning of an intent in one family, as far as it is another than in the others.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    description: Option<String>,
    baseline: Option<Value>,
    because: Option<String>,
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
}

/// The options for some servers. The first rendering that fits is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rendering {
    /// Only this family; without one, MySQL and MariaDB, whose options have the same names.
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
    #[serde(default, deserialize_with = "limit")]
    pub(crate) min: Option<u64>,
    /// Largest number that it takes.
    #[serde(default, deserialize_with = "limit")]
    pub(crate) max: Option<u64>,
    /// Server options, with holes for the value.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Server options for single values. Without `options` no other value can be honoured.
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Vec<String>>,
}

/// The wishes of a target for its server.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The engine of its tables.
    pub engine: Engine,
    /// Intents and raw options.
    pub config: &'a Config,
    /// The transport of the load.
    pub transport: Transport,
    /// The largest number of load connections at a time.
    pub clients_max: u32,
    /// Tables of the dataset.
    pub tables: u32,
    /// Intents, among other names, that versions may honour as far as they can: at the nearest
    /// number that they take, or else at the baseline, or where they can't be told that either, at
    /// what they do by themselves.
    pub allow: &'a [String],
}

impl<'a> Wanted<'a> {
    /// Over the unix socket.
    pub const fn over_socket(engine: Engine, config: &'a Config, clients_max: u32) -> Self {
        Self {
            engine,
            config,
            transport: Transport::Socket,
            clients_max,
            tables: 1,
            allow: &[],
        }
    }
}

impl Intents {
    /// The table that Prony brings along.
    pub(crate) fn embedded() -> Result<Self, CatalogueError> {
        let file = Path::new("intents.toml");
        let table: Self = read_toml(file, TEXT)?;
        let wrong = |intent: &&Intent| {
            let mut families = Family::ALL.into_iter();
            families.any(|family| {
                intent.written_baseline(family).is_some() && intent.baseline(family).is_none()
            })
        };
        if let Some(Intent { name, .. }) = table.intents.iter().find(wrong) {
            let reason = format!("the baseline of `{name}` is no {name}");
            return Err(CatalogueError::at(file, 1, reason));
        }
        Ok(table)
    }

    /// The intent of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Intent> {
        self.intents.iter().find(|intent| intent.name == name)
    }

    /// The names of all intents.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.intents.iter().map(|intent| intent.name.clone());
        names.collect()
    }

    /// Bytes of memory that a configuration gives to a server of a family, as far as intents say so: what is
    /// asked for, else the common baseline, which is near what servers take by themselves.
    pub(crate) fn memory(&self, family: Family, config: &Config) -> u64 {
        let of = |intent: &Intent| {
            let asked = config.intents.get(&intent.name).cloned();
            match asked.or_else(|| intent.baseline(family)) {
                Some(IntentValue::Bytes(bytes)) => bytes,
                _ => 0,
            }
        };
        let intents = self.intents.iter();
        let intents = intents.filter(|intent| intent.memory && intent.is_of(family));
        intents.map(of).fold(0, u64::saturating_add)
    }

    /// The facts that experiments are checked against.
    pub(crate) fn facts(&self) -> Vec<IntentFacts> {
        self.intents.iter().map(Intent::facts).collect()
    }
}

impl Intent {
    /// Its value where the experiment asks for nothing; `None` leaves the server alone.
    pub(crate) fn value_in(&self, baseline: Baseline, family: Family) -> Option<IntentValue> {
        let applies = baseline == Baseline::Common || self.always;
        applies.then(|| self.baseline(family)).flatten()
    }

    /// Its value in the common baseline of a family.
    pub(crate) fn baseline(&self, family: Family) -> Option<IntentValue> {
        match (self.kind, self.written_baseline(family)?) {
            (IntentKind::Flag, Value::Boolean(flag)) => Some(IntentValue::Flag(*flag)),
            (IntentKind::Number, Value::Integer(number)) => {
                Some(IntentValue::Number((*number).try_into().ok()?))
            }
            (IntentKind::Bytes, Value::String(text)) => IntentValue::parse_bytes(text).ok(),
            (IntentKind::Text, Value::String(text)) => Some(IntentValue::Text(text.clone())),
            _ => None,
        }
    }

    fn written_baseline(&self, family: Family) -> Option<&Value> {
        let own = self.own.get(&family);
        own.and_then(|own| own.baseline.as_ref())
            .or(self.baseline.as_ref())
    }

    /// One sentence about what it is in a family.
    pub(crate) fn description(&self, family: Family) -> &str {
        let own = self.own.get(&family);
        let own = own.and_then(|own| own.description.as_ref());
        own.unwrap_or(&self.description)
    }

    /// The reason for the baseline of a family.
    pub(crate) fn because(&self, family: Family) -> &str {
        let own = self.own.get(&family);
        own.and_then(|own| own.because.as_ref())
            .unwrap_or(&self.because)
    }

    /// True for a family whose servers have such a thing, some of them at least.
    fn is_of(&self, family: Family) -> bool {
        self.rendering.iter().any(|row| row.is_for(family))
    }

    fn facts(&self) -> IntentFacts {
        let mut choices = Vec::new();
        let any_text = self.rendering.iter().any(|row| !row.is_choice());
        if self.kind == IntentKind::Text && !any_text {
            for value in self.rendering.iter().flat_map(|row| row.values.keys()) {
                if !choices.contains(value) {
                    choices.push(value.clone());
                }
            }
        }
        IntentFacts {
            name: self.name.clone(),
            kind: self.kind,
            choices,
            description: self.description.clone(),
            baselines: Family::ALL
                .into_iter()
                .filter(|family| self.is_of(*family))
                .map(|family| (family, self.baseline(family)))
                .collect(),
            summary: self.summary.clone(),
        }
    }

    /// `true` if a rendering adds to an option of this name, which other intents share.
    pub(crate) fn adds_to(&self, option: &str) -> bool {
        let values = |row: &Rendering| {
            row.values
                .values()
                .flatten()
                .chain(&row.options)
                .any(|text| {
                    text.split_once("+=")
                        .is_some_and(|(name, _)| name == option)
                })
        };
        self.rendering.iter().any(values)
    }

    /// The rendering for a server, if it has anything of the kind.
    pub(crate) fn rendering(&self, build: &BuildFacts, wanted: Wanted<'_>) -> Option<&Rendering> {
        let lacks = self.lacked_by(build);
        let mut rows = self.rendering.iter();
        rows.find(|row| row.lacking == lacks && row.fits(build, wanted))
    }

    /// True for a build that lacks what its version has.
    pub(crate) fn lacked_by(&self, build: &BuildFacts) -> bool {
        build.lacks.contains(&self.name)
    }

    /// The engines that the rows ask for, if all of them ask for one.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        let engines = self.rendering.iter().map(|row| row.engine);
        engines.collect::<Option<_>>().unwrap_or_default()
    }
}

impl Fixed {
    /// The options for a server.
    pub(crate) fn options(&self, build: &BuildFacts, wanted: Wanted<'_>) -> &[String] {
        let row = self.rendering.iter().find(|row| row.fits(build, wanted));
        row.map_or(&[], |row| &row.options)
    }
}

impl Rendering {
    fn is_for(&self, family: Family) -> bool {
        match self.family {
            None => family != Family::Postgresql,
            Some(wanted) => wanted == family,
        }
    }

    fn fits(&self, build: &BuildFacts, target: Wanted<'_>) -> bool {
        self.is_for(build.family)
            && self.since.is_none_or(|since| since <= build.version)
            && self.until.is_none_or(|until| build.version < until)
            && self.engine.is_none_or(|engine| engine == target.engine)
            && (self.transport).is_none_or(|transport| transport == target.transport)
    }

    /// The options for a value; `None` if it can't be honoured.
    pub(crate) fn options(&self, value: &IntentValue) -> Option<&[String]> {
        if let Some(options) = self.values.get(&value_text(value)) {
            return Some(options);
        }
        let within = match value {
            IntentValue::Number(number) | IntentValue::Bytes(number) => {
                self.nearest_number(*number) == *number
            }
            _ => true,
        };
        (within && !self.is_choice()).then_some(&self.options)
    }

    /// True where only the values of a list can be honoured.
    pub(crate) fn is_choice(&self) -> bool {
        !self.values.is_empty() && self.options.is_empty()
    }

    /// True where the server does one of the values by itself.
    pub(crate) fn does_by_itself(&self) -> bool {
        self.values.values().any(Vec::is_empty)
    }

    /// The number that can be honoured and is nearest to one that can't; `None` for what is no
    /// number.
    pub(crate) fn nearest(&self, value: &IntentValue) -> Option<IntentValue> {
        match value {
            _ if self.is_choice() => None,
            IntentValue::Number(number) => Some(IntentValue::Number(self.nearest_number(*number))),
            IntentValue::Bytes(bytes) => Some(IntentValue::Bytes(self.nearest_number(*bytes))),
            IntentValue::Flag(_) | IntentValue::Text(_) => None,
        }
    }

    fn nearest_number(&self, number: u64) -> u64 {
        let least = number.max(self.min.unwrap_or(0));
        least.min(self.max.unwrap_or(u64::MAX))
    }
}

/// Reads a number, or a size such as `"64M"`.
fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let limit = match Value::deserialize(deserializer)? {
        Value::Integer(number) => number.try_into().ok(),
        Value::String(text) => match IntentValue::parse_bytes(&text) {
            Ok(IntentValue::Bytes(number)) => Some(number),
            _ => None,
        },
        _ => None,
    };
    let wrong = || D::Error::custom("a limit is a whole number or a size such as \"64M\"");
    limit.map(Some).ok_or_else(wrong)
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
