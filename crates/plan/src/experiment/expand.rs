//! From a written target to the targets that it stands for.

use prony_model::{Collect, Config, IntentFacts, IntentValue, Protocol, Target, Transport};

use super::config;
use super::external::ExternalServer;
use super::setting::{self, Axis, Setting};
use crate::fields::Located;
use crate::invalid::{Document, Problem, Read, Span};

/// Most targets of an experiment, those of its matrices counted one by one.
const TARGETS_MAX: usize = 200;

/// One `[[target]]`, not yet expanded.
#[derive(Debug)]
pub(super) struct Written<'k> {
    pub(super) name: Option<String>,
    pub(super) external: Option<ExternalServer>,
    /// With a build, unless the server is external.
    pub(super) axes: Vec<Axis<'k>>,
    /// Left out where the catalogue does not have the build.
    pub(super) optional: bool,
    pub(super) place: Span,
}

/// A target whose name is not decided yet.
#[derive(Debug)]
pub(super) struct Draft<'k> {
    /// Its name is empty.
    pub(super) target: Target,
    /// The target's settings, with the places of the values.
    pub(super) settings: Vec<Located<Setting<'k>>>,
    /// The name of its `[[target]]`, where that has one.
    pub(super) written: Option<String>,
    pub(super) optional: bool,
    /// Index of its `[[target]]`, counted from 0.
    pub(super) table: usize,
    /// Place of its name, or else of its build.
    pub(super) place: Span,
}

/// Checks the number of targets before any is made.
pub(super) fn check_count(document: &Document<'_>, written: &[Written<'_>]) -> Read<()> {
    let mut total: usize = 0;
    for target in written {
        let count = setting::count(&target.axes);
        total = total.saturating_add(count);
        if total > TARGETS_MAX {
            let label = if count > 1 {
                format!("its matrix expands to {count} targets")
            } else {
                "one too many".to_owned()
            };
            return Problem::new(format!("an experiment has at most {TARGETS_MAX} targets"))
                .at(&target.place, label)
                .help(
                    "every target is started and measured in every block: vary less at a \
                         time, or split the experiment",
                )
                .fail(document);
        }
    }
    Ok(())
}

/// The targets of one `[[target]]`, without those whose build is left out. Of the defaults, a target has no
/// intent that its family has nothing of the kind for; what is then twice the same is one target.
pub(super) fn expand<'k>(
    table: usize,
    written: &Written<'k>,
    intents: &[IntentFacts],
) -> Vec<Draft<'k>> {
    let mut known: Vec<Target> = Vec::new();
    setting::combinations(&written.axes)
        .into_iter()
        .filter_map(|mut settings| {
            drop_foreign(&mut settings, &written.axes, intents);
            let target = build_target(written.external.as_ref(), &settings)?;
            if known.contains(&target) {
                return None;
            }
            known.push(target.clone());
            Some(Draft {
                target,
                settings,
                written: written.name.clone(),
                optional: written.optional,
                table,
                place: written.place.clone(),
            })
        })
        .collect()
}

/// Takes out the intents of the defaults that the family of the build has nothing of the kind for. The
/// settings are one of each axis, in the order of the axes.
fn drop_foreign(
    settings: &mut Vec<Located<Setting<'_>>>,
    axes: &[Axis<'_>],
    intents: &[IntentFacts],
) {
    let family = settings.iter().find_map(|setting| match &setting.value {
        Setting::Build(facts) => Some(facts.family),
        _ => None,
    });
    let is_foreign = |setting: &Setting<'_>| match (setting, family) {
        (Setting::Intent(name, _), Some(family)) => {
            config::find(name, intents).is_some_and(|facts| !facts.baselines.contains_key(&family))
        }
        _ => false,
    };
    let mut axes = axes.iter();
    settings.retain(|setting| {
        let of_defaults = axes.next().is_some_and(|axis| axis.of_defaults);
        !(of_defaults && is_foreign(&setting.value))
    });
}

fn build_target(
    external: Option<&ExternalServer>,
    settings: &[Located<Setting<'_>>],
) -> Option<Target> {
    let mut build = external.map(|external| external.build.clone());
    let mut engine = None;
    let mut protocol = Protocol::Prepared;
    let mut transport = external.map_or(Transport::Socket, ExternalServer::transport);
    let mut config = Config::default();
    let mut preload = Vec::new();
    let mut collect = Collect::default();
    let mut placement = None;
    for setting in settings {
        match &setting.value {
            Setting::LeftOut(_) => return None,
            Setting::Build(facts) => build = Some((*facts).clone()),
            Setting::Engine(value) => engine = Some(*value),
            Setting::Protocol(value) => protocol = *value,
            Setting::Transport(value) => transport = *value,
            Setting::Preload(value) => preload.clone_from(value),
            Setting::Baseline(value) => config.baseline = *value,
            Setting::Intent(name, value) => {
                config.intents.insert(name.clone(), value.clone());
            }
            Setting::Option(name, value) => {
                // Servers take `-` and `_` for each other.
                config.raw.insert(name.replace('-', "_"), value.clone());
            }
            Setting::Collect(value) => collect = *value,
            Setting::Placement(value) => placement = Some(value.clone()),
        }
    }
    if transport == Transport::Network {
        // Nobody's rows cross a network in clear unless the experiment says so.
        let tls = config.intents.entry("tls".to_owned());
        tls.or_insert(IntentValue::Flag(true));
    }
    let build = build?;
    Some(Target {
        name: String::new(),
        engine: engine.unwrap_or_else(|| build.family.usual_engine()),
        build,
        config,
        protocol,
        transport,
        preload,
        external: external.map(|external| external.login.clone()),
        collect,
        placement,
    })
}
