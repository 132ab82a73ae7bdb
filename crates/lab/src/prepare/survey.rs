//! The configuration that every server reports, before anything is loaded.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use prony_equality::Subject;
use prony_model::{Plan, RenderedOption, Target};
use prony_servers::Instance;
use serde::{Deserialize, Serialize};

use super::start::{bootstrapped, start};
use super::supply::{Fetched, Supply, supply_all};
use crate::error::LabError;
use crate::event::{Activity, Event, Events, activities};
use crate::fault::{Failure, Fault, Stop, contain, unless_interrupted};
use crate::lab::Lab;
use crate::server::Variables;

/// The survey of one target.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) variables: Variables,
    /// A bootstrapped instance, if one was made for the occasion.
    pub(crate) empty: Option<Instance>,
}

/// The variables of a server with this build and configuration on this machine, since the machine
/// was started last. Kept in the cache, because asking takes a bootstrap.
#[derive(Serialize, Deserialize)]
struct Known {
    key: String,
    variables: Variables,
}

/// Reads the variables of one target's server: of an empty server with the target's
/// configuration, or of the external one.
pub(crate) fn survey(
    lab: &Lab<'_>,
    target: &Target,
    supply: &Supply,
    events: &mut Events<'_>,
) -> Result<Surveyed, Fault> {
    let mut say = activities(target, events);
    let fetched = match supply {
        Supply::External(access) => {
            return Ok(Surveyed {
                variables: access.variables()?,
                empty: None,
            });
        }
        Supply::Own(fetched) => fetched,
    };
    let key = key(lab, fetched);
    let path = path(lab, fetched, &key);
    if let Some(variables) = recall(&path, &key) {
        return Ok(Surveyed {
            variables,
            empty: None,
        });
    }
    let instance = bootstrapped(lab, fetched, &mut say)?;
    say(Activity::Survey);
    let server = start(lab, instance)?;
    let variables = server.variables()?;
    let empty = server.stop()?;
    remember(&path, key, &variables);
    Ok(Surveyed { variables, empty })
}

/// Everything that the variables depend on, in words: also the limit of open files, for which
/// servers lower what they can't have, and the machine's last start, for all that can't change
/// without one. Every trial reads its variables again.
fn key(lab: &Lab<'_>, fetched: &Fetched) -> String {
    let Fetched { build, rendered } = fetched;
    format!(
        "{} {} {:?} {:?} {:?} {:?}",
        build.content_hash,
        rendered.hash(),
        rendered.process,
        rustix::process::getrlimit(rustix::process::Resource::Nofile),
        lab.proc.boot_id(),
        env!("CARGO_PKG_VERSION"),
    )
}

fn path(lab: &Lab<'_>, fetched: &Fetched, key: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let file = format!("{}-{:016x}.json", fetched.build.id, hasher.finish());
    lab.roots.variables().join(file)
}

fn recall(path: &PathBuf, key: &str) -> Option<Variables> {
    let known: Known = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (known.key == key).then_some(known.variables)
}

/// Writes the variables to the cache. Where that fails, they are read again the next time.
fn remember(path: &PathBuf, key: String, variables: &Variables) {
    let known = Known {
        key,
        variables: variables.clone(),
    };
    let write = || -> Option<()> {
        fs::create_dir_all(path.parent()?).ok()?;
        fs::write(path, serde_json::to_vec(&known).ok()?).ok()
    };
    let _ = write();
}

/// Surveys every target in turn. Empty instances are large, so only those that `keeps_empty` names
/// by target outlive the survey.
pub(crate) fn survey_all(
    lab: &Lab<'_>,
    plan: &Plan,
    supplies: &[Supply],
    keeps_empty: &dyn Fn(usize) -> bool,
    events: &mut Events<'_>,
) -> Result<Vec<Result<Surveyed, Failure>>, Stop> {
    let mut all = Vec::new();
    for (index, (target, supply)) in plan.targets.iter().zip(supplies).enumerate() {
        let surveyed = contain(lab.stop, survey(lab, target, supply, events))?;
        match &surveyed {
            Err(failure) if target.external.is_some() => {
                return Err(Stop::Error(LabError::External {
                    target: target.name.clone(),
                    reason: failure.reason.clone(),
                }));
            }
            Err(failure) => prepare_failed(target, failure, events),
            Ok(_) => {}
        }
        all.push(surveyed.map(|surveyed| Surveyed {
            empty: surveyed.empty.filter(|_| keeps_empty(index)),
            ..surveyed
        }));
    }
    Ok(all)
}

/// Shows that a target can't be made ready.
pub(super) fn prepare_failed(target: &Target, failure: &Failure, events: &mut Events<'_>) {
    events(Event::PrepareFailed {
        target: &target.name,
        reason: &failure.reason,
    });
}

/// A target as it is compared with others.
pub(crate) fn subject<'a>(
    target: &'a Target,
    options: &'a [RenderedOption],
    variables: &'a Variables,
) -> Subject<'a> {
    Subject {
        name: &target.name,
        engine: target.engine,
        external: target.external.is_some(),
        baseline: target.config.baseline,
        intents: &target.config.intents,
        options,
        variables,
    }
}

/// The options that one target's server is given, and the variables that it reports.
#[derive(Debug, Clone)]
pub struct Effective {
    /// The options of its configuration file; empty for an external server.
    pub options: Vec<RenderedOption>,
    /// Its effective variables.
    pub variables: BTreeMap<String, String>,
}

/// Fetches every build, starts every target's server once without data, and reads its variables;
/// nothing is loaded. A target whose server can't be asked gives the reason in place of them.
/// `None` when the user stopped it.
///
/// # Errors
/// When a build can't be fetched, a configuration can't be rendered, a password is missing, or an
/// external server can't be entered.
pub fn effective(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Option<Vec<Result<Effective, String>>>, LabError> {
    let mut survey = || {
        let supplies = supply_all(lab, plan, events)?;
        let surveyed = survey_all(lab, plan, &supplies, &|_| false, events)?;
        let effective = supplies
            .into_iter()
            .zip(surveyed)
            .map(|(supply, surveyed)| {
                let options = supply.own().map(|own| own.rendered.options.clone());
                surveyed
                    .map(|surveyed| Effective {
                        options: options.unwrap_or_default(),
                        variables: surveyed.variables,
                    })
                    .map_err(Failure::with_log)
            });
        Ok(effective.collect())
    };
    unless_interrupted(survey())
}
