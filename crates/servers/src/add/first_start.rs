//! The first start of a server that is to be added.

use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_model::{Config, Engine};

use super::{AddError, Adder};
use crate::admin::statement::pairs;
use crate::build::ServerBuild;
use crate::build::catalogue::Shutdown;
use crate::config::render::Wanted;
use crate::instance::{Instance, Running, StopError};

/// The time that one statement may take.
const STATEMENT: Duration = Duration::from_mins(1);
/// A server with nothing in it that has not stopped after this time does not listen.
const STOP: Duration = Duration::from_secs(20);

/// Facts that the first start shows.
pub(super) struct ServerFacts {
    pub(super) version_text: String,
    pub(super) comment: String,
    pub(super) engines: Vec<Engine>,
    pub(super) shutdown: Shutdown,
}

/// Starts the server with the baseline and asks for its version and engines.
pub(super) fn first_start(adder: &Adder<'_>, build: &ServerBuild) -> Result<ServerFacts, AddError> {
    let config = Config::default();
    let wanted = Wanted::over_socket(Engine::Myisam, &config, 1);
    let rendered = adder.catalogue.render(&build.facts, wanted)?;
    let mut instance = Instance::create(adder.roots, adder.launcher, build, &rendered)?;
    instance.bootstrap(adder.stop)?;
    let server = instance.start(adder.stop)?;
    let (mut seen, found) = ask(&server).map_err(AddError::Ask)?;
    if seen.engines.is_empty() {
        return Err(AddError::NoEngines(found));
    }
    match server.stop(STOP) {
        Ok(_) => {}
        Err(StopError::TimedOut { .. }) => seen.shutdown = Shutdown::Command,
        Err(error) => return Err(AddError::Stop(error)),
    }
    Ok(seen)
}

/// The server's facts, and the names of all its engines.
fn ask(server: &Running) -> Result<(ServerFacts, Vec<String>), ClientError> {
    let (address, login) = (server.admin_address(), server.admin_login());
    let mut admin = Connection::connect(&address, &login, STATEMENT)?;
    let version = admin.query("SELECT VERSION()")?;
    let version = version.single().unwrap_or_default();
    // 4.1 has no such variable.
    let comment = admin.query("SHOW VARIABLES LIKE 'version_comment'")?;
    let comment = pairs(comment).next().map(|(_, comment)| comment);
    // Some builds beg in it for attention.
    let comment = comment.filter(|comment| !comment.starts_with("--"));
    let engines = pairs(admin.query("SHOW STORAGE ENGINES")?);
    let usable = engines.filter(|(_, support)| matches!(support.as_str(), "YES" | "DEFAULT"));
    let found: Vec<_> = usable.map(|(name, _)| name).collect();
    let has = |engine: &Engine| {
        let mut names = found.iter();
        names.any(|name| name.eq_ignore_ascii_case(engine.sql_name()))
    };
    let seen = ServerFacts {
        version_text: version.strip_suffix("-log").unwrap_or(version).to_owned(),
        comment: comment.unwrap_or_default(),
        engines: Engine::ALL.into_iter().filter(has).collect(),
        shutdown: Shutdown::Signal,
    };
    Ok((seen, found))
}
