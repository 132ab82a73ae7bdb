//! From intents to the option file of one version.

mod error;
mod names;
mod value;

use std::fmt::Write as _;

use prony_model::{
    Allocator, Baseline, BuildFacts, Config, Engine, Family, HugePages, IntentKind, IntentValue,
    OptionOrigin, ProcessSettings, RenderedOption, Transport,
};
use serde::{Deserialize, Serialize};

use crate::build::catalogue::Catalogue;
use crate::config::intents::{Intent, Rendering, Sets, Wanted};
use crate::digest::hex_of;

pub use error::{Refusal, RenderError};
use names::{bare_name, is_reserved, normal_name};
use value::{fill, fits, shown};

/// Connections beside those of the load: for control, readiness and a look by hand.
const CONTROL_CONNECTIONS: u32 = 16;
/// Connections are rounded up to a multiple of this, so that a few clients more or less do not
/// make another configuration.
const CONNECTION_STEP: u32 = 64;
/// Connections that versions of MySQL since 5.1, and of MariaDB, allow by default. Servers derive sizes of
/// other things from this number, so that the shipped baseline never has less.
const CONNECTIONS_SHIPPED: u32 = 151;
/// The same of PostgreSQL.
const CONNECTIONS_SHIPPED_POSTGRESQL: u32 = 100;
/// Open tables that there is always room for, as current servers have it.
const OPEN_TABLES_MIN: u32 = 2_000;
/// Maximum number of open tables that every version accepts.
const OPEN_TABLES_MAX: u32 = 500_000;
/// Open tables are rounded up to a multiple of this.
const OPEN_TABLES_STEP: u32 = 1_000;
/// Files of InnoDB beside those of the dataset's tables: system tables, logs, undo.
const FILES_BESIDE_TABLES: u32 = 100;

/// Begin of an option that is for `initdb`, and not for the server.
const INITDB: &str = "initdb:";

/// A configuration as one version takes it. It holds no path, so that equal configurations are
/// equal texts wherever they run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The options, in the order of the file.
    pub options: Vec<RenderedOption>,
    /// The transport of the load; the instance adds address and port.
    pub transport: Transport,
    /// True for a server that offers encryption; the instance adds the certificates.
    pub tls: bool,
    /// The set-up of the process.
    pub process: ProcessSettings,
}

impl Catalogue {
    /// Says `config` in the options of one version, on top of its baseline.
    ///
    /// # Errors
    /// When the build lacks the engine, an intent is unknown or of another kind, the version
    /// can't honour it, or a raw option is not for experiments to set, or sets what an intent sets.
    pub fn render(&self, build: &BuildFacts, wanted: Wanted<'_>) -> Result<Rendered, RenderError> {
        let Wanted { engine, config, .. } = wanted;
        if !build.engines.contains(&engine) {
            return Err(RenderError::Engine {
                build: build.id.clone(),
                engine,
                engines: build.engines.clone(),
            });
        }
        let mut asked = config.intents.keys();
        if let Some(unknown) = asked.find(|name| self.intents.get(name).is_none()) {
            return Err(RenderError::UnknownIntent {
                intent: unknown.clone(),
                intents: self.intents.names(),
            });
        }
        let mut rendered = Rendered {
            options: engine_options(build, engine),
            transport: wanted.transport,
            tls: false,
            process: ProcessSettings::default(),
        };
        rendered.options.extend(self.fixed_options(build, wanted));
        for intent in &self.intents.intents {
            let asked = config.intents.get(&intent.name);
            rendered.add_intent(build, wanted, intent, asked)?;
        }
        for (name, value) in &config.raw {
            let intents = self.met_by(&rendered, name, config, build.family);
            if !intents.is_empty() {
                let option = name.clone();
                return Err(RenderError::RawMeetsIntents { option, intents });
            }
            rendered.add_raw(name, value, build.family)?;
        }
        Ok(rendered)
    }

    /// The intents whose settings a raw option would replace: the one that the experiment asks for,
    /// or, for an option that several intents share, all of these. A raw option may replace a
    /// setting of the baseline that is an option of its own.
    fn met_by(
        &self,
        rendered: &Rendered,
        raw: &str,
        config: &Config,
        family: Family,
    ) -> Vec<String> {
        let bare = bare_name(raw);
        let mut options = rendered.options.iter();
        let Some(option) = options.find(|option| bare_name(&option.name) == bare) else {
            return Vec::new();
        };
        let sharing = |intent: &&Intent| {
            let asked = config.intents.contains_key(&intent.name);
            let is_set = asked || intent.value_in(config.baseline, family).is_some();
            is_set && intent.adds_to(&option.name)
        };
        let shared = self.intents.intents.iter().filter(sharing);
        let shared: Vec<String> = shared.map(|intent| intent.name.clone()).collect();
        match option.origin {
            OptionOrigin::Raw => Vec::new(),
            OptionOrigin::Intent if shared.is_empty() => option.intent.iter().cloned().collect(),
            OptionOrigin::Intent | OptionOrigin::Baseline => shared,
        }
    }

    fn fixed_options(&self, build: &BuildFacts, wanted: Wanted<'_>) -> Vec<RenderedOption> {
        let connections = wanted
            .clients_max
            .saturating_add(CONTROL_CONNECTIONS)
            .div_ceil(CONNECTION_STEP)
            .saturating_mul(CONNECTION_STEP);
        let tables = connections
            .saturating_mul(wanted.tables)
            .clamp(OPEN_TABLES_MIN, OPEN_TABLES_MAX)
            .next_multiple_of(OPEN_TABLES_STEP)
            .to_string();
        // InnoDB opens the file of a table once for all clients. Where the limit of files makes the
        // cache of tables smaller, some versions would lower a greater number with it, and others not.
        let files = wanted.tables.saturating_add(FILES_BESIDE_TABLES);
        let files = files
            .clamp(OPEN_TABLES_MIN, OPEN_TABLES_MAX)
            .next_multiple_of(OPEN_TABLES_STEP)
            .to_string();
        let shipped = wanted.config.baseline == Baseline::Shipped;
        let least = match build.family {
            _ if !shipped => 0,
            Family::Postgresql => CONNECTIONS_SHIPPED_POSTGRESQL,
            Family::Mysql | Family::Mariadb => CONNECTIONS_SHIPPED,
        };
        let connections = connections.max(least).to_string();
        let mut options = Vec::new();
        let fixed = self.intents.fixed.iter();
        for fixed in fixed.filter(|fixed| fixed.always || !shipped) {
            options.extend(fixed.options(build, wanted).iter().map(|text| {
                let text = text
                    .replace("{connections}", &connections)
                    .replace("{tables}", &tables)
                    .replace("{files}", &files)
                    .replace("{engine}", wanted.engine.sql_name());
                RenderedOption::new(&text, OptionOrigin::Baseline, None, &fixed.why)
            }));
        }
        options
    }
}

/// Options that load an engine that is not built in. They come first, because options of a plugin
/// are unknown without it.
fn engine_options(build: &BuildFacts, engine: Engine) -> Vec<RenderedOption> {
    let options = build.engine_options.get(&engine).into_iter().flatten();
    let why = format!("brings the engine {engine}");
    options
        .map(|text| RenderedOption::new(text, OptionOrigin::Baseline, None, &why))
        .collect()
}

/// The reason that a row, or no row, does not take a value.
fn refusal(
    build: &BuildFacts,
    engine: Engine,
    intent: &Intent,
    row: Option<&Rendering>,
) -> Refusal {
    let kind = intent.kind;
    let choices = row.into_iter().flat_map(|row| row.values.keys());
    let choices = choices.map(|text| shown(kind, text)).collect();
    let engines = intent.engines();
    match row {
        _ if intent.lacked_by(build) => Refusal::Lacking { choices },
        None if !engines.is_empty() && !engines.contains(&engine) => {
            Refusal::Engine { engine, engines }
        }
        None => Refusal::Nothing,
        Some(row) if row.is_choice() => Refusal::Choices(choices),
        Some(row) => Refusal::Limits {
            min: row.min,
            max: row.max,
            bytes: kind == IntentKind::Bytes,
        },
    }
}

impl Rendered {
    /// Adds an intent, at the asked value or at that of the baseline. Where a version can't be told
    /// the latter, it is left to what it does by itself.
    fn add_intent(
        &mut self,
        build: &BuildFacts,
        wanted: Wanted<'_>,
        intent: &Intent,
        asked: Option<&IntentValue>,
    ) -> Result<(), RenderError> {
        let Intent { name, kind, .. } = intent;
        let of_baseline = || intent.value_in(wanted.config.baseline, build.family);
        let Some(value) = &asked.cloned().or_else(of_baseline) else {
            return Ok(());
        };
        let wrong_kind = || RenderError::Kind {
            intent: name.clone(),
            kind: *kind,
        };
        if !fits(*kind, value) {
            return Err(wrong_kind());
        }
        let text = value.to_string();
        let row = intent.rendering(build, wanted);
        let Some(options) = row.and_then(|row| row.options(value)) else {
            let left_alone = row.is_none_or(Rendering::does_by_itself);
            if asked.is_none() && left_alone {
                return Ok(());
            }
            if asked.is_some() && wanted.allow.contains(name) {
                let nearest = row.and_then(|row| row.nearest(value));
                return self.add_intent(build, wanted, intent, nearest.as_ref());
            }
            return Err(RenderError::NotHonoured {
                build: build.id.clone(),
                version: build.version,
                intent: name.clone(),
                value: text,
                refusal: refusal(build, wanted.engine, intent, row),
            });
        };
        let (mut origin, mut why) = (OptionOrigin::Intent, format!("{name} = {text}"));
        if asked.is_none() {
            origin = OptionOrigin::Baseline;
            let description = intent.description(build.family);
            why = format!("{why}, {description}: {}", intent.because(build.family));
        }
        for option in options {
            let text = fill(option, value);
            self.put(RenderedOption::new(&text, origin, Some(name), &why));
        }
        match intent.sets {
            Some(sets) => self.set(sets, value).ok_or_else(wrong_kind),
            None => Ok(()),
        }
    }

    /// Adds an option. It replaces the one of the same name, or, where the table writes `name+=`,
    /// is put at its end: some options hold what several intents say.
    fn put(&mut self, mut option: RenderedOption) {
        if option.name.ends_with('+') {
            option.name.pop();
            let mut options = self.options.iter();
            if let Some(earlier) = options.find(|one| one.name == option.name) {
                option = joined(earlier, &option);
            }
        }
        let normal = normal_name(&option.name);
        self.options.retain(|one| normal_name(&one.name) != normal);
        self.options.push(option);
    }

    /// Sets what is not an option of the server; `None` if the value is not of its kind.
    fn set(&mut self, sets: Sets, value: &IntentValue) -> Option<()> {
        match (sets, value) {
            (Sets::Tls, IntentValue::Flag(flag)) => self.tls = *flag,
            (Sets::Allocator, IntentValue::Text(word)) => {
                let all = [Allocator::Built, Allocator::Jemalloc, Allocator::Tcmalloc];
                self.process.allocator = all.into_iter().find(|one| one.name() == word)?;
            }
            (Sets::HugePages, IntentValue::Text(word)) => {
                let all = [("system", HugePages::System), ("never", HugePages::Never)];
                self.process.huge_pages = all.into_iter().find(|(name, _)| name == word)?.1;
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds an option word for word; it replaces what was there of the same name.
    fn add_raw(&mut self, name: &str, value: &str, family: Family) -> Result<(), RenderError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let broken = name.is_empty() || !name.chars().all(plain) || value.contains(['\n', '\r']);
        if broken {
            return Err(RenderError::RawText(name.to_owned()));
        }
        if is_reserved(name, family) {
            return Err(RenderError::RawReserved(name.to_owned()));
        }
        self.put(RenderedOption {
            name: name.to_owned(),
            // A name alone is a flag of MySQL's. PostgreSQL has none, and settings whose value may be empty.
            value: (family == Family::Postgresql || !value.is_empty()).then(|| value.to_owned()),
            origin: OptionOrigin::Raw,
            intent: None,
            why: "raw option of the experiment".to_owned(),
        });
        Ok(())
    }

    /// The option file of MySQL and MariaDB, from `[mysqld]` on.
    pub fn text(&self) -> String {
        format!("[mysqld]\n{}", self.lines(str::to_owned))
    }

    /// The lines of an option file, with values as `quote` writes them; every group of lines is under a
    /// comment with its origin. What the data directory was made with is a comment too.
    pub(crate) fn lines(&self, quote: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
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
            let value = option.value.as_ref();
            let of_initdb = option.name.starts_with(INITDB);
            let quote = |value: &String| format!("={}", quote(value));
            let value = value.map(quote).unwrap_or_default();
            let mark = if of_initdb { "# " } else { "" };
            let _ = writeln!(text, "{mark}{}{value}", option.name);
        }
        text
    }

    /// The words for the program that makes a data directory.
    pub(crate) fn initdb_words(&self) -> impl Iterator<Item = String> {
        self.options.iter().filter_map(|option| {
            let name = option.name.strip_prefix(INITDB)?;
            let value = option.value.iter();
            let value = value.map(|value| format!("={value}"));
            Some(format!("{name}{}", value.collect::<String>()))
        })
    }

    /// A hash of what the server is told, without the comments and without how its process is set
    /// up: data directories do not depend on that.
    pub fn hash(&self) -> String {
        let told = self.options.iter();
        let told: Vec<_> = told.map(|option| (&option.name, &option.value)).collect();
        hex_of(format!("{told:?}").as_bytes())
    }
}

/// One option that says what both say. Where one was asked for and the other not, it counts as
/// asked for.
fn joined(earlier: &RenderedOption, later: &RenderedOption) -> RenderedOption {
    let value = |option: &RenderedOption| option.value.clone().unwrap_or_default();
    let of = match (earlier.origin, later.origin) {
        (OptionOrigin::Intent, OptionOrigin::Baseline) => earlier,
        _ => later,
    };
    RenderedOption {
        name: later.name.clone(),
        value: Some(format!("{};{}", value(earlier), value(later))),
        origin: of.origin,
        intent: of.intent.clone(),
        why: format!("{}; {}", earlier.why, later.why),
    }
}

#[cfg(test)]
mod tests;
