//! Settings of a target: one aspect at a time, with one value or with several.

use std::fmt;

use prony_model::{
    Aspect, Baseline, BuildFacts, Collect, Engine, IntentValue, PreloadedLibrary, Protocol,
    Transport, WantedPlacement,
};

use crate::fields::{Located, Value, is_name, unknown};
use crate::invalid::{Read, Span};

/// One aspect of a target set to one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting<'k> {
    Build(&'k BuildFacts),
    /// Id of a build that the catalogue does not have, of an optional target.
    LeftOut(String),
    Engine(Engine),
    Protocol(Protocol),
    Transport(Transport),
    Preload(Vec<PreloadedLibrary>),
    Baseline(Baseline),
    /// Name and value.
    Intent(String, IntentValue),
    /// Name as written, and value.
    Option(String, String),
    Collect(Collect),
    Placement(WantedPlacement),
}

/// One aspect with what a target takes for it: one value, or all those of its matrix in turn.
#[derive(Debug, Clone)]
pub(super) struct Axis<'k> {
    /// Of every value.
    pub(super) aspect: Aspect,
    /// Place of its key.
    pub(super) key: Span,
    /// At least one, no two alike.
    pub(super) values: Vec<Located<Setting<'k>>>,
    /// Written for all targets, and not for this one.
    pub(super) of_defaults: bool,
}

impl Setting<'_> {
    /// Aspect that it sets. Options of one name have one aspect however the name is written:
    /// servers take `-` and `_` for each other.
    pub(super) fn aspect(&self) -> Aspect {
        match self {
            Self::Build(_) | Self::LeftOut(_) => Aspect::Build,
            Self::Engine(_) => Aspect::Engine,
            Self::Protocol(_) => Aspect::Protocol,
            Self::Transport(_) => Aspect::Transport,
            Self::Preload(_) => Aspect::Preload,
            Self::Baseline(_) => Aspect::Baseline,
            Self::Intent(name, _) => Aspect::Intent(name.clone()),
            Self::Option(name, _) => Aspect::Option(name.to_ascii_lowercase().replace('-', "_")),
            Self::Collect(_) => Aspect::Collect,
            Self::Placement(_) => Aspect::Placement,
        }
    }
}

/// The value, without what it is of.
impl fmt::Display for Setting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(build) => f.write_str(&build.id),
            Self::LeftOut(id) => f.write_str(id),
            Self::Engine(engine) => f.write_str(engine.name()),
            Self::Protocol(protocol) => f.write_str(protocol.name()),
            Self::Transport(transport) => f.write_str(transport.name()),
            Self::Preload(libraries) => {
                let shown: Vec<_> = libraries.iter().map(ToString::to_string).collect();
                f.write_str(&shown.join(", "))
            }
            Self::Baseline(baseline) => baseline.fmt(f),
            Self::Intent(_, value) => value.fmt(f),
            Self::Option(_, value) => f.write_str(value),
            Self::Collect(collect) => collect.fmt(f),
            Self::Placement(wanted) => wanted.fmt(f),
        }
    }
}

impl<'k> Axis<'k> {
    /// The same, written for all targets.
    pub(super) fn of_defaults(self) -> Self {
        Self {
            of_defaults: true,
            ..self
        }
    }

    /// One value, set at `key`.
    pub(super) fn single(key: &Located<&str>, value: Located<Setting<'k>>) -> Self {
        Self {
            aspect: value.value.aspect(),
            key: key.span.clone(),
            values: vec![value],
            of_defaults: false,
        }
    }
}

/// Reads a build of the catalogue. With `optional`, a build that it does not have is left out.
pub(super) fn read_build<'k>(
    value: Value<'_>,
    builds: &'k [BuildFacts],
    optional: bool,
) -> Read<Located<Setting<'k>>> {
    let document = value.document();
    let id = value.text()?;
    if let Some(build) = builds.iter().find(|build| build.id == id.value) {
        return Ok(id.map(|_| Setting::Build(build)));
    }
    if optional && is_name(id.value) {
        return Ok(id.map(|id| Setting::LeftOut(id.to_owned())));
    }
    let known: Vec<_> = builds.iter().map(|build| build.id.as_str()).collect();
    unknown("build", &id, &known).fail(document)
}

pub(super) fn read_engine<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    Ok(value.choice(&Engine::NAMED)?.map(Setting::Engine))
}

pub(super) fn read_protocol<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    Ok(value.choice(&Protocol::NAMED)?.map(Setting::Protocol))
}

pub(super) fn read_transport<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    Ok(value.choice(&Transport::NAMED)?.map(Setting::Transport))
}

pub(super) fn read_baseline<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    Ok(value.choice(&Baseline::NAMED)?.map(Setting::Baseline))
}

/// `own` over `defaults`: what is left of the defaults comes first.
pub(super) fn overlaid<'k>(defaults: &[Axis<'k>], own: Vec<Axis<'k>>) -> Vec<Axis<'k>> {
    let left = |axis: &&Axis<'k>| own.iter().all(|other| other.aspect != axis.aspect);
    let mut axes: Vec<_> = defaults.iter().filter(left).cloned().collect();
    axes.extend(own);
    axes
}

/// The values of the axis of `aspect`, if there is one.
pub(super) fn values<'a, 'k>(axes: &'a [Axis<'k>], aspect: &Aspect) -> &'a [Located<Setting<'k>>] {
    axes.iter()
        .find(|axis| axis.aspect == *aspect)
        .map_or(&[], |axis| axis.values.as_slice())
}

/// Number of combinations, or `usize::MAX` if it can't be counted.
pub(super) fn count(axes: &[Axis<'_>]) -> usize {
    axes.iter().fold(1, |count: usize, axis| {
        count.saturating_mul(axis.values.len())
    })
}

/// Every combination of one value from each axis; those of the last axis change fastest.
pub(super) fn combinations<'k>(axes: &[Axis<'k>]) -> Vec<Vec<Located<Setting<'k>>>> {
    axes.iter().fold(vec![Vec::new()], |combinations, axis| {
        let with = |value: &Located<Setting<'k>>, start: &Vec<Located<Setting<'k>>>| {
            let mut longer = start.clone();
            longer.push(value.clone());
            longer
        };
        combinations
            .iter()
            .flat_map(|start| axis.values.iter().map(move |value| with(value, start)))
            .collect()
    })
}
