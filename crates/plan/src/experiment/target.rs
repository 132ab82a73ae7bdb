//! `[defaults]` and `[[target]]`.

use std::collections::BTreeSet;

use prony_model::{BuildFacts, Config, Engine, IntentFacts, Protocol, Target, Transport};

use super::{Knowledge, config};
use crate::fields::{Fields, Located, NAME_RULE, Value, is_name, unknown};
use crate::invalid::{Document, Problem, Read, Span};

const PROTOCOLS: [(&str, Protocol); 2] =
    [("prepared", Protocol::Prepared), ("text", Protocol::Text)];

/// What both `[defaults]` and a `[[target]]` can set.
#[derive(Debug, Default)]
struct Settings {
    engine: Option<Located<Engine>>,
    protocol: Option<Protocol>,
    config: Config,
}

/// A target whose default name is not decided yet.
#[derive(Debug)]
struct Draft {
    /// As written, or empty.
    target: Target,
    named: bool,
    /// Where its name stands, or else its build.
    place: Span,
}

/// Reads the targets, each with what it leaves to the defaults.
pub(super) fn read_all(root: &mut Fields<'_>, knowledge: &Knowledge<'_>) -> Read<Vec<Target>> {
    let document = root.document();
    let defaults = root.optional("defaults", |value| {
        let mut fields = value.table("the defaults")?;
        let settings = read_settings(&mut fields, knowledge.intents);
        fields.finish()?;
        settings
    });
    let tables = root.tables("target", "a target")?;
    if tables.is_empty() {
        return Err(document.report(
            Problem::new("an experiment needs at least one target")
                .at(&root.span(), "no [[target]] in this file")
                .help("write [[target]] with `build = \"…\"` below it, once for each server"),
        ));
    }
    // Wrong defaults are reported; the targets are read all the same, for their own problems.
    let defaults = defaults.unwrap_or_default().unwrap_or_default();
    let drafts: Vec<_> = tables
        .into_iter()
        .map(|fields| read_target(fields, &defaults, knowledge))
        .collect();
    name_all(document, drafts.into_iter().collect::<Read<_>>()?)
}

fn read_settings(fields: &mut Fields<'_>, intents: &[IntentFacts]) -> Read<Settings> {
    let engines = Engine::ALL.map(|engine| (engine.name(), engine));
    let engine = fields.optional("engine", |value| value.choice(&engines));
    let protocol = fields.optional("protocol", |value| value.choice(&PROTOCOLS));
    let written = fields.optional("config", |value| config::read_intents(value, intents));
    let options = fields.optional("options", config::read_options);
    Ok(Settings {
        engine: engine?,
        protocol: protocol?.map(|protocol| protocol.value),
        config: Config {
            intents: written?.unwrap_or_default(),
            raw: options?.unwrap_or_default(),
        },
    })
}

fn read_target(
    mut fields: Fields<'_>,
    defaults: &Settings,
    knowledge: &Knowledge<'_>,
) -> Read<Draft> {
    let document = fields.document();
    let build = fields.required("build", |value| find_build(value, knowledge.builds));
    let name = fields.optional("name", Value::name);
    let settings = read_settings(&mut fields, knowledge.intents);
    fields.finish()?;

    let (build, name, settings) = (build?, name?, settings?);
    let engine = settings.engine.as_ref().or(defaults.engine.as_ref());
    check_engine(document, &build, engine)?;
    let mut config = defaults.config.clone();
    config.intents.extend(settings.config.intents);
    config.raw.extend(settings.config.raw);
    let place = name.as_ref().map_or(&build.span, |name| &name.span).clone();
    Ok(Draft {
        named: name.is_some(),
        target: Target {
            name: name.map_or_else(String::new, |name| name.value.to_owned()),
            build: build.value.clone(),
            engine: engine.map_or(Engine::Innodb, |engine| engine.value),
            config,
            protocol: settings
                .protocol
                .or(defaults.protocol)
                .unwrap_or(Protocol::Prepared),
            transport: Transport::Socket,
            external: None,
        },
        place,
    })
}

fn find_build<'b>(value: Value<'_>, builds: &'b [BuildFacts]) -> Read<Located<&'b BuildFacts>> {
    let document = value.document();
    let id = value.text()?;
    if let Some(build) = builds.iter().find(|build| build.id == id.value) {
        return Ok(id.map(|_| build));
    }
    let known: Vec<_> = builds.iter().map(|build| build.id.as_str()).collect();
    Err(document.report(unknown("build", &id, &known)))
}

fn check_engine(
    document: &Document<'_>,
    build: &Located<&BuildFacts>,
    engine: Option<&Located<Engine>>,
) -> Read<()> {
    let wanted = engine.map_or(Engine::Innodb, |engine| engine.value);
    let facts = build.value;
    if facts.engines.contains(&wanted) {
        return Ok(());
    }
    let problem = Problem::new(format!("{} has no storage engine `{wanted}`", facts.id));
    let problem = match engine {
        Some(engine) => problem
            .at(&engine.span, "asked for here")
            .at(&build.span, "this build lacks it"),
        None => problem.at(&build.span, "no `engine` is set, so it is innodb"),
    };
    let known: Vec<_> = facts.engines.iter().map(|engine| engine.name()).collect();
    Err(document.report(problem.help(format!(
        "{} has {}: set `engine` in this target, or leave the build out",
        facts.id,
        known.join(", ")
    ))))
}

/// Gives the unnamed targets their names and checks that all names differ.
fn name_all(document: &Document<'_>, mut drafts: Vec<Draft>) -> Read<Vec<Target>> {
    for index in 0..drafts.len() {
        if !drafts[index].named {
            let name = default_name(&drafts[index].target, &drafts);
            if !is_name(&name) {
                return Err(document.report(
                    Problem::new(format!("`{name}` can't be the name of a target"))
                        .at(&drafts[index].place, "needs a `name`")
                        .help(NAME_RULE),
                ));
            }
            drafts[index].target.name = name;
        }
    }
    for (index, draft) in drafts.iter().enumerate() {
        let name = &draft.target.name;
        if let Some(first) = drafts[..index]
            .iter()
            .find(|first| first.target.name == *name)
        {
            return Err(document.report(
                Problem::new(format!("two targets are named `{name}`"))
                    .at(&draft.place, "here again")
                    .at(&first.place, "first here")
                    .help("set `name` in one of them"),
            ));
        }
    }
    Ok(drafts.into_iter().map(|draft| draft.target).collect())
}

/// The build's id; and where other targets share the build, everything after it in which they
/// differ: engine, protocol, intents.
fn default_name(target: &Target, drafts: &[Draft]) -> String {
    let same_build: Vec<_> = drafts
        .iter()
        .map(|draft| &draft.target)
        .filter(|other| other.build.id == target.build.id)
        .collect();
    let differs = |differ: &dyn Fn(&Target) -> bool| same_build.iter().any(|other| differ(other));

    let mut name = target.build.id.clone();
    let mut append = |part: &str| {
        name.push('-');
        name.push_str(part);
    };
    if differs(&|other| other.engine != target.engine) {
        append(target.engine.name());
    }
    if differs(&|other| other.protocol != target.protocol) {
        append(target.protocol.name());
    }
    let intents: BTreeSet<_> = same_build
        .iter()
        .flat_map(|other| other.config.intents.keys())
        .collect();
    for intent in intents {
        let value = target.config.intents.get(intent);
        if let Some(value) = value
            && differs(&|other| other.config.intents.get(intent) != Some(value))
        {
            append(&format!("{intent}-{value}"));
        }
    }
    name
}
