//! From intents to the option file of one version.

use std::fmt::Write as _;

use prony_model::{
    BuildFacts, Config, Engine, IntentKind, IntentValue, OptionOrigin, ProcessSettings,
    RenderedOption, Transport, Version,
};
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::digest::hex_of;
use crate::intents::{Intent, Rendering, value_text};

/// Connections beside those of the load: for control, readiness and a look by hand.
const CONTROL_CONNECTIONS: u32 = 16;
/// Connections are rounded up to a multiple of this, so that a few clients more or less do not
/// make another configuration.
const CONNECTION_STEP: u32 = 64;

/// Options that an instance sets itself, in the form of [`normal_name`].
const RESERVED: [&str; 16] = [
    "basedir",
    "bind_address",
    "bootstrap",
    "character_sets_dir",
    "datadir",
    "defaults_file",
    "initialize",
    "initialize_insecure",
    "language",
    "lc_messages_dir",
    "log_error",
    "pid_file",
    "port",
    "socket",
    "tmpdir",
    "user",
];

/// A configuration as one version takes it. It holds no path, so that equal configurations are
/// equal texts wherever they run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The options, in the order of the file.
    pub options: Vec<RenderedOption>,
    /// What carries the load; the instance adds address and port.
    pub transport: Transport,
    /// Whether the server offers encryption; the instance adds the certificates.
    pub tls: bool,
    /// How the process is set up.
    pub process: ProcessSettings,
}

/// What a target wants of its server.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The engine of its tables.
    pub engine: Engine,
    /// Intents and raw options.
    pub config: &'a Config,
    /// What carries the load.
    pub transport: Transport,
    /// The largest number of load connections at a time.
    pub clients_max: u32,
}

/// Why a configuration can't be said to a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The build has no such engine.
    #[error("{build} has no engine {engine}; it has {}", list(engines))]
    Engine {
        /// The build's id.
        build: String,
        /// What was asked for.
        engine: Engine,
        /// What it has.
        engines: Vec<Engine>,
    },
    /// The intent is not in the table.
    #[error("there is no intent `{intent}`; there are {}", intents.join(", "))]
    UnknownIntent {
        /// What was asked for.
        intent: String,
        /// Every intent there is.
        intents: Vec<String>,
    },
    /// The value is of another kind than the intent's.
    #[error("the intent `{intent}` takes {}", kind_name(*kind))]
    Kind {
        /// The intent.
        intent: String,
        /// What it takes.
        kind: IntentKind,
    },
    /// The version can't be told so.
    #[error(
        "{build} ({version}) can't honour {intent} = {value}: {}",
        honourable(choices)
    )]
    NotHonoured {
        /// The build's id.
        build: String,
        /// Its version.
        version: Version,
        /// The intent.
        intent: String,
        /// What was asked for.
        value: String,
        /// What can be asked of this version; empty if nothing can.
        choices: Vec<String>,
    },
    /// A raw option would break out of its line.
    #[error("the raw option `{0}` must be a name and a value of one line each")]
    RawText(String),
    /// A raw option that is Prony's own business.
    #[error("the raw option `{0}` is set by Prony itself: leave it out")]
    RawReserved(String),
}

fn list(engines: &[Engine]) -> String {
    let names: Vec<_> = engines.iter().map(|engine| engine.name()).collect();
    names.join(", ")
}

fn kind_name(kind: IntentKind) -> &'static str {
    match kind {
        IntentKind::Flag => "true or false",
        IntentKind::Number => "a whole number",
        IntentKind::Bytes => "a size",
        IntentKind::Text => "a word",
        IntentKind::Cpus => "a set of processors",
    }
}

fn honourable(choices: &[String]) -> String {
    match choices {
        [] => "it has nothing of the kind; leave the intent out for it".to_owned(),
        some => format!("it can be {}", some.join(" or ")),
    }
}

impl<'a> Wanted<'a> {
    /// Over the unix socket.
    pub const fn over_socket(engine: Engine, config: &'a Config, clients_max: u32) -> Self {
        Self {
            engine,
            config,
            transport: Transport::Socket,
            clients_max,
        }
    }
}

impl Catalogue {
    /// Says `config` in the options of one version, on top of the baseline that every server
    /// gets.
    ///
    /// # Errors
    /// When the build lacks the engine, an intent is unknown or of another kind, the version
    /// can't honour it, or a raw option is not for experiments to set.
    pub fn render(&self, build: &BuildFacts, wanted: Wanted<'_>) -> Result<Rendered, RenderError> {
        let Wanted {
            engine,
            config,
            transport,
            clients_max,
        } = wanted;
        if !build.engines.contains(&engine) {
            return Err(RenderError::Engine {
                build: build.id.clone(),
                engine,
                engines: build.engines.clone(),
            });
        }
        self.check_names(config)?;
        let mut rendered = Rendered {
            options: self.fixed_options(build, engine, clients_max),
            transport,
            tls: false,
            process: ProcessSettings::default(),
        };
        for intent in &self.intents.intents {
            let asked = config.intents.get(&intent.facts.name);
            rendered
                .options
                .extend(intent_options(build, intent, asked)?);
        }
        for (name, value) in &config.raw {
            rendered.add_raw(name, value)?;
        }
        Ok(rendered)
    }

    fn check_names(&self, config: &Config) -> Result<(), RenderError> {
        let known = |name: &String| {
            let mut intents = self.intents.intents.iter();
            intents.any(|intent| intent.facts.name == *name)
        };
        match config.intents.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(unknown) => Err(RenderError::UnknownIntent {
                intent: unknown.clone(),
                intents: self.intents.facts().into_iter().map(|f| f.name).collect(),
            }),
        }
    }

    fn fixed_options(
        &self,
        build: &BuildFacts,
        engine: Engine,
        clients_max: u32,
    ) -> Vec<RenderedOption> {
        let connections = clients_max
            .saturating_add(CONTROL_CONNECTIONS)
            .div_ceil(CONNECTION_STEP)
            .saturating_mul(CONNECTION_STEP)
            .to_string();
        let mut options = Vec::new();
        for fixed in &self.intents.fixed {
            let row = fixed.rendering(build.family, build.version);
            let texts = row.and_then(|row| row.options("")).unwrap_or_default();
            options.extend(texts.iter().map(|text| {
                let text = text
                    .replace("{connections}", &connections)
                    .replace("{engine}", engine.sql_name());
                RenderedOption::new(&text, OptionOrigin::Baseline, None, &fixed.why)
            }));
        }
        options
    }
}

/// The options of one intent, at the asked value or at the baseline.
fn intent_options(
    build: &BuildFacts,
    intent: &Intent,
    asked: Option<&IntentValue>,
) -> Result<Vec<RenderedOption>, RenderError> {
    let facts = &intent.facts;
    let value = asked.unwrap_or(&intent.baseline);
    if !fits(facts.kind, value) {
        return Err(RenderError::Kind {
            intent: facts.name.clone(),
            kind: facts.kind,
        });
    }
    let text = value_text(value);
    let row = intent.rendering(build.family, build.version);
    let Some(options) = row.and_then(|row| row.options(&text)) else {
        let choices = row.into_iter().flat_map(Rendering::choices);
        return Err(RenderError::NotHonoured {
            build: build.id.clone(),
            version: build.version,
            intent: facts.name.clone(),
            value: text,
            choices: choices.map(str::to_owned).collect(),
        });
    };
    let (origin, why) = match asked {
        Some(_) => (OptionOrigin::Intent, format!("{} = {text}", facts.name)),
        None => (
            OptionOrigin::Baseline,
            format!("{} = {text}: {}", facts.name, facts.description),
        ),
    };
    Ok(options
        .iter()
        .map(|option| RenderedOption::new(&fill(option, value), origin, Some(&facts.name), &why))
        .collect())
}

fn fits(kind: IntentKind, value: &IntentValue) -> bool {
    matches!(
        (kind, value),
        (IntentKind::Flag, IntentValue::Flag(_))
            | (
                IntentKind::Number | IntentKind::Bytes,
                IntentValue::Number(_)
            )
            | (IntentKind::Bytes, IntentValue::Bytes(_))
            | (IntentKind::Text | IntentKind::Cpus, IntentValue::Text(_))
    )
}

/// Fills `{value}` and `{value/2}`.
fn fill(option: &str, value: &IntentValue) -> String {
    let filled = option.replace("{value}", &value_text(value));
    match value {
        IntentValue::Number(number) | IntentValue::Bytes(number) => {
            filled.replace("{value/2}", &(number / 2).to_string())
        }
        _ => filled,
    }
}

impl Rendered {
    /// Adds an option word for word; it replaces what was there of the same name.
    fn add_raw(&mut self, name: &str, value: &str) -> Result<(), RenderError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let broken = name.is_empty() || !name.chars().all(plain) || value.contains(['\n', '\r']);
        if broken {
            return Err(RenderError::RawText(name.to_owned()));
        }
        let normal = normal_name(name);
        if RESERVED.contains(&normal.as_str()) {
            return Err(RenderError::RawReserved(name.to_owned()));
        }
        self.options
            .retain(|option| normal_name(&option.name) != normal);
        self.options.push(RenderedOption {
            name: name.to_owned(),
            value: (!value.is_empty()).then(|| value.to_owned()),
            origin: OptionOrigin::Raw,
            intent: None,
            why: "raw option of the experiment".to_owned(),
        });
        Ok(())
    }

    /// The option file, from `[mysqld]` on; every group of lines under a comment with its origin.
    pub fn text(&self) -> String {
        let mut text = String::from("[mysqld]\n");
        let mut last = "";
        for option in &self.options {
            if option.why != last {
                let tag = match &option.origin {
                    OptionOrigin::Baseline => "baseline",
                    OptionOrigin::Intent => "intent",
                    OptionOrigin::Raw => "raw",
                };
                // Writing to a String cannot fail.
                let _ = writeln!(text, "# {tag}: {}", option.why);
                last = &option.why;
            }
            match &option.value {
                Some(value) => {
                    let _ = writeln!(text, "{}={value}", option.name);
                }
                None => {
                    let _ = writeln!(text, "{}", option.name);
                }
            }
        }
        text
    }

    /// A hash of what the server is told, without the comments.
    pub fn hash(&self) -> String {
        let told: Vec<_> = self
            .options
            .iter()
            .map(|option| (&option.name, &option.value))
            .collect();
        hex_of(format!("{told:?}").as_bytes())
    }
}

/// Servers take `-` and `_` for each other, ignore the case, and put up with a `loose-` in front.
fn normal_name(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('-', "_");
    name.strip_prefix("loose_").unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests;
