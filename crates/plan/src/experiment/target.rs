//! `[defaults]` and `[[target]]`.

use std::slice;

use prony_model::{Aspect, BuildFacts, Engine};

use super::expand::{Written, check_count, expand};
use super::optional::{self, Targets};
use super::setting::{self, Axis, Setting};
use super::{Knowledge, collect, config, external, matrix, name, placement, preload, refusal};
use crate::fields::{Fields, Located, Value, read_each};
use crate::invalid::{Document, Problem, Read};

/// Reads the targets, each with what it leaves to the defaults, and expands their matrices.
pub(super) fn read_all(
    root: &mut Fields<'_>,
    knowledge: &Knowledge<'_>,
    allow: &[String],
) -> Read<Targets> {
    let document = root.document();
    let misplaced = root.refuse("matrix", |span| {
        Problem::new("`matrix` does not stand at the top of the file")
            .at(span, "belongs to targets")
            .help("write it below [[target]], or below [defaults] to have it in every target")
    });
    let defaults = root.optional("defaults", |value| read_defaults(value, knowledge));
    let tables = root.tables("target", "a target")?;
    if tables.is_empty() {
        return Problem::new("an experiment needs at least one target")
            .at(&root.span(), "no [[target]] in this file")
            .help("write [[target]] with `build = \"…\"` below it, once for each server")
            .fail(document);
    }
    // Wrong defaults are reported; the targets are still read, for their own problems.
    let defaults = defaults.unwrap_or_default().unwrap_or_default();
    let written = read_each(tables, |fields| read_target(fields, &defaults, knowledge))?;
    misplaced?;
    check_count(document, &written)?;
    let drafts = written.iter().enumerate();
    let drafts: Vec<_> = drafts
        .flat_map(|(table, written)| expand(table, written, knowledge.intents))
        .collect();
    refusal::check(document, &drafts, knowledge, allow)?;
    placement::check_far(document, &drafts)?;
    Ok(Targets {
        optional: drafts.iter().map(|draft| draft.optional).collect(),
        all: name::name_all(document, drafts)?,
        left_out: optional::left_out(&written),
    })
}

fn read_defaults<'k>(value: Value<'_>, knowledge: &Knowledge<'k>) -> Read<Vec<Axis<'k>>> {
    let mut fields = value.table("the defaults")?;
    let document = fields.document();
    let axes = read_settings(&mut fields, knowledge, false);
    fields.finish()?;
    let axes = axes?;
    match axes.iter().find(|axis| axis.aspect == Aspect::Build) {
        None => Ok(axes.into_iter().map(Axis::of_defaults).collect()),
        Some(build) => Problem::new("`build` can't be in the matrix of the defaults")
            .at(&build.key, "belongs to a target")
            .help("write it in the `matrix` of a [[target]], in place of `build`")
            .fail(document),
    }
}

/// Reads what both `[defaults]` and a `[[target]]` can set, in the order in which targets expand.
fn read_settings<'k>(
    fields: &mut Fields<'_>,
    knowledge: &Knowledge<'k>,
    optional: bool,
) -> Read<Vec<Axis<'k>>> {
    let document = fields.document();
    let engine = read_one(fields, "engine", setting::read_engine);
    let protocol = read_one(fields, "protocol", setting::read_protocol);
    let transport = read_one(fields, "transport", setting::read_transport);
    let preload = read_one(fields, "preload", |value| preload::read(value, knowledge));
    let baseline = read_one(fields, "baseline", setting::read_baseline);
    let collect = read_one(fields, "collect", collect::read);
    let placement = read_one(fields, "placement", placement::read_setting);
    let intents = fields.optional("config", |value| {
        config::read_intents(value, knowledge.intents)
    });
    let options = fields.optional("options", config::read_options);
    let matrix = fields.optional("matrix", |value| matrix::read(value, knowledge, optional));

    let single = [
        engine?, protocol?, transport?, preload?, baseline?, collect?, placement?,
    ]
    .into_iter();
    let single = single.flatten();
    let many = [intents?, options?].into_iter().flatten().flatten();
    let plain: Vec<_> = single.chain(many).collect();
    let matrix = matrix?.unwrap_or_default();
    check_distinct(document, &plain, &matrix)?;
    Ok(plain.into_iter().chain(matrix).collect())
}

fn read_one<'a, 'k>(
    fields: &mut Fields<'a>,
    key: &'static str,
    read: impl FnOnce(Value<'a>) -> Read<Located<Setting<'k>>>,
) -> Read<Option<Axis<'k>>> {
    fields.optional(key, |value| {
        let key = Located {
            value: key,
            span: value.span(),
        };
        Ok(Axis::single(&key, read(value)?))
    })
}

/// Checks that nothing is set both plainly and by the matrix beside it.
fn check_distinct(document: &Document<'_>, plain: &[Axis<'_>], matrix: &[Axis<'_>]) -> Read<()> {
    let mut outcome = Ok(());
    for axis in matrix {
        if let Some(other) = plain.iter().find(|other| other.aspect == axis.aspect) {
            outcome = Problem::new(format!(
                "`{}` is set to one value and to those of the matrix",
                axis.aspect
            ))
            .at(&axis.key, "several values here")
            .at(&other.key, "one value here")
            .help("remove one of the two")
            .fail(document);
        }
    }
    outcome
}

fn read_target<'k>(
    mut fields: Fields<'_>,
    defaults: &[Axis<'k>],
    knowledge: &Knowledge<'k>,
) -> Read<Written<'k>> {
    if fields.has("external") {
        read_external(fields, defaults, knowledge)
    } else {
        read_started(fields, defaults, knowledge)
    }
}

/// Reads a target whose server Prony starts.
fn read_started<'k>(
    mut fields: Fields<'_>,
    defaults: &[Axis<'k>],
    knowledge: &Knowledge<'k>,
) -> Read<Written<'k>> {
    let document = fields.document();
    let optional = fields.optional("optional", Value::flag);
    let is_optional = matches!(optional, Ok(Some(true)));
    let build = read_one(&mut fields, "build", |value| {
        setting::read_build(value, knowledge.builds, is_optional)
    });
    let name = fields.optional("name", Value::name);
    let settings = read_settings(&mut fields, knowledge, is_optional);
    let build = match (build, &settings) {
        (Ok(None), Ok(own)) if setting::values(own, &Aspect::Build).is_empty() => {
            Err(fields.missing("build"))
        }
        (build, _) => build,
    };
    fields.finish()?;

    let (build, name, settings) = (build?, name?, settings?);
    optional?;
    if let Some(build) = &build {
        check_distinct(document, slice::from_ref(build), &settings)?;
    }
    let own = build.into_iter().chain(settings).collect();
    let axes = setting::overlaid(defaults, own);
    check_engines(document, &axes)?;
    let place = match (&name, setting::values(&axes, &Aspect::Build)) {
        (Some(name), _) => name.span.clone(),
        (None, builds) => builds.first().map_or(0..0, |build| build.span.clone()),
    };
    Ok(Written {
        name: name.map(|name| name.value.to_owned()),
        external: None,
        axes,
        optional: is_optional,
        place,
    })
}

/// Reads a target whose server runs already. Of the defaults, only what is not decided by whoever
/// starts the server is for it: engine, protocol, what is collected, and the placement.
fn read_external<'k>(
    mut fields: Fields<'_>,
    defaults: &[Axis<'k>],
    knowledge: &Knowledge<'k>,
) -> Read<Written<'k>> {
    let document = fields.document();
    let name = fields.required("name", Value::name);
    let server = fields.required("external", |value| external::read(value, knowledge.folder));
    let build = fields.refuse("build", |span| {
        Problem::new("a target has a `build` or is `external`, not both")
            .at(span, "a build is what Prony starts")
            .help("remove `build`, or make two targets of it")
    });
    let optional = fields.refuse("optional", |span| {
        Problem::new("an external server can't be `optional`")
            .at(span, "for builds that the catalogue may lack")
            .help("remove `optional`; the server must run when the run begins")
    });
    let settings = read_settings(&mut fields, knowledge, false);
    fields.finish()?;

    let (name, server, own) = (name?, server?, settings?);
    build?;
    optional?;
    let of_client = |axis: &Axis<'_>| {
        matches!(
            axis.aspect,
            Aspect::Engine | Aspect::Protocol | Aspect::Collect | Aspect::Placement
        )
    };
    let mut outcome = Ok(());
    for axis in own.iter().filter(|axis| !of_client(axis)) {
        outcome = Problem::new(format!(
            "`{}` can't be set: Prony does not start this server",
            axis.aspect
        ))
        .at(&axis.key, "decided by whoever starts the server")
        .help("an external target can set `engine`, `protocol`, `collect` and `placement`")
        .fail(document);
    }
    outcome?;
    collect::check_external(document, &own)?;
    let defaults: Vec<_> = defaults
        .iter()
        .filter(|axis| of_client(axis))
        .cloned()
        .map(collect::for_external)
        .collect();
    let axes = setting::overlaid(&defaults, own);
    check_external_engines(document, &server.build, &axes)?;
    placement::check_external(document, name.value, &axes)?;
    Ok(Written {
        name: Some(name.value.to_owned()),
        external: Some(server),
        axes,
        optional: false,
        place: name.span,
    })
}

/// Checks that every build has every engine that it is combined with.
fn check_engines(document: &Document<'_>, axes: &[Axis<'_>]) -> Read<()> {
    let builds = setting::values(axes, &Aspect::Build);
    let engines = setting::values(axes, &Aspect::Engine);
    let mut outcome = Ok(());
    for build in builds {
        let Setting::Build(facts) = build.value else {
            continue;
        };
        for engine in engines {
            if let Setting::Engine(wanted) = engine.value
                && !facts.engines.contains(&wanted)
            {
                let several = builds.len() > 1 || engines.len() > 1;
                outcome = lacks(facts, wanted, several)
                    .at(&engine.span, "asked for here")
                    .at(&build.span, "this build lacks it")
                    .fail(document);
            }
        }
        let usual = facts.family.usual_engine();
        if engines.is_empty() && !facts.engines.contains(&usual) {
            outcome = lacks(facts, usual, builds.len() > 1)
                .at(&build.span, format!("no `engine` is set, so it is {usual}"))
                .fail(document);
        }
    }
    outcome
}

/// Checks that an external server is of a family that has the engines.
fn check_external_engines(
    document: &Document<'_>,
    build: &BuildFacts,
    axes: &[Axis<'_>],
) -> Read<()> {
    let mut outcome = Ok(());
    for engine in setting::values(axes, &Aspect::Engine) {
        if let Setting::Engine(wanted) = engine.value
            && !build.engines.contains(&wanted)
        {
            let family = build.family;
            outcome = Problem::new(format!(
                "a server of {family} has no storage engine `{wanted}`"
            ))
            .at(&engine.span, "asked for here")
            .help(format!(
                "set `engine = \"{}\"` in this target",
                family.usual_engine()
            ))
            .fail(document);
        }
    }
    outcome
}

fn lacks(build: &BuildFacts, engine: Engine, several: bool) -> Problem {
    let known: Vec<_> = build.engines.iter().map(|engine| engine.name()).collect();
    let remedy = if several {
        "leave one of the two out of the matrix, or give the build a [[target]] of its own"
    } else {
        "set `engine` in this target, or leave the build out"
    };
    Problem::new(format!("{} has no storage engine `{engine}`", build.id)).help(format!(
        "{} has {}: {remedy}",
        build.id,
        known.join(", ")
    ))
}
