//! What every server says of its configuration, before anything is loaded.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use prony_client::Answer;
use prony_equality::Subject;
use prony_model::{Plan, RenderedOption, Target};
use prony_servers::Instance;
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::event::{Activity, Event, Events};
use crate::fault::{Failure, Fault};
use crate::lab::Lab;
use crate::prepare::{Fetched, Supply, bootstrapped, start, supply_all};
use crate::run::kept;
use crate::server::Server;

/// Effective variables by name, and what else is compared between servers under names that
/// begin with `prony.`.
pub(crate) type Variables = BTreeMap<String, String>;

const SHOW_VARIABLES: &str = "SHOW GLOBAL VARIABLES";

/// The memory allocator that the server's process has mapped.
const ALLOCATOR: &str = "prony.allocator";

/// What the server was linked with, in versions of MariaDB that tell.
const LINKED_ALLOCATOR: &str = "version_malloc_library";

/// What was learnt of one target.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) variables: Variables,
    /// A bootstrapped instance, if one was made for the occasion.
    pub(crate) empty: Option<Instance>,
}

/// What a server with this build and configuration said on this machine since it was started
/// last. Kept, because asking takes a bootstrap.
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
    let mut say = |activity| {
        events(Event::Prepare {
            target: &target.name,
            activity,
        });
    };
    let fetched = match supply {
        Supply::External(access) => {
            let answer = access
                .connect()
                .and_then(|mut connection| connection.query(SHOW_VARIABLES))
                .map_err(|error| access.refused(&error))?;
            return Ok(Surveyed {
                variables: named(answer),
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
    let variables = variables(&server)?;
    let empty = server.stop()?;
    remember(&path, key, &variables);
    Ok(Surveyed { variables, empty })
}

/// Reads the effective variables of a running server.
pub(crate) fn variables(server: &Server) -> Result<Variables, Fault> {
    let mut variables = named(server.control(SHOW_VARIABLES)?);
    if let Server::Own(running) = server {
        let allocator = running
            .allocator()
            .map_err(|error| Fault::failed(format!("failed to read the server's maps: {error}")))?;
        // One that is linked statically shows in no map; servers that can be built so say it.
        let linked = variables.get(LINKED_ALLOCATOR).map(String::as_str);
        let allocator = match linked {
            Some("bundled jemalloc") => "jemalloc".to_owned(),
            _ => allocator,
        };
        variables.insert(ALLOCATOR.to_owned(), allocator);
    }
    Ok(variables)
}

fn named(answer: Answer) -> Variables {
    let rows = answer.rows.into_iter();
    rows.filter_map(|row| {
        let mut cells = row.into_iter();
        Some((cells.next()??, cells.next()?.unwrap_or_default()))
    })
    .collect()
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

/// What can't be kept is asked again the next time.
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

/// Surveys every target in turn; `None` when the user stopped it. Empty instances are large, so
/// only those that `keeps_empty` names by target outlive the survey.
pub(crate) fn survey_all(
    lab: &Lab<'_>,
    plan: &Plan,
    supplies: &[Supply],
    keeps_empty: &dyn Fn(usize) -> bool,
    events: &mut Events<'_>,
) -> Result<Option<Vec<Result<Surveyed, Failure>>>, LabError> {
    let mut all = Vec::new();
    for (index, (target, supply)) in plan.targets.iter().zip(supplies).enumerate() {
        let surveyed = survey(lab, target, supply, events);
        if let (Some(_), Err(Fault::Failed(failure))) = (&target.external, &surveyed) {
            return Err(LabError::External {
                target: target.name.clone(),
                reason: failure.reason.clone(),
            });
        }
        let surveyed = surveyed.map(|surveyed| Surveyed {
            empty: surveyed.empty.filter(|_| keeps_empty(index)),
            ..surveyed
        });
        let Some(surveyed) = kept(target, surveyed, events)? else {
            return Ok(None);
        };
        all.push(surveyed);
    }
    Ok(Some(all))
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
        intents: &target.config.intents,
        options,
        variables,
    }
}

/// What one target's server is told and what it says.
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
    let supplies = match supply_all(lab, plan, events) {
        Err(_) if lab.stop.requested() => return Ok(None),
        other => other?,
    };
    let Some(surveyed) = survey_all(lab, plan, &supplies, &|_| false, events)? else {
        return Ok(None);
    };
    let effective = supplies.iter().zip(surveyed).map(|(supply, surveyed)| {
        let options = supply.own().map(|own| own.rendered.options.clone());
        surveyed
            .map(|surveyed| Effective {
                options: options.unwrap_or_default(),
                variables: surveyed.variables,
            })
            .map_err(|failure| match failure.log_tail.as_str() {
                "" => failure.reason,
                log => format!("{}\nits log ends:\n{log}", failure.reason),
            })
    });
    Ok(Some(effective.collect()))
}
