//! The check of a build against what the catalogue promises.

use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{Launcher, Roots};
use prony_model::{Config, Engine, StopFlag};

use crate::build::ServerBuild;
use crate::build::catalogue::Catalogue;
use crate::config::render::{RenderError, Wanted};
use crate::instance::{Instance, InstanceError, Running, StopError};

/// The time that one statement may take.
const STATEMENT: Duration = Duration::from_mins(1);
/// The time that the server may take to stop.
const STOP: Duration = Duration::from_mins(1);
/// Lines of the server's log that come with an error.
const LOG_LINES: usize = 40;

/// The facts of a build that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The answer to `SELECT VERSION()`.
    pub version: String,
    /// The engines that a table was made, filled and read in.
    pub engines: Vec<Engine>,
}

/// The reason that a build is not what the catalogue promises.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It can't be told the baseline.
    #[error("configure the server: {0}")]
    Render(#[from] RenderError),
    /// It does not start.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// It answers with another version.
    #[error("verify {build}: it answers version `{answered}`, the catalogue expects `{expected}`")]
    Version {
        /// The build's id.
        build: String,
        /// The answer.
        answered: String,
        /// The catalogue's text.
        expected: String,
    },
    /// It does not say its version.
    #[error("ask {build} for its version: {source}")]
    Ask {
        /// The build's id.
        build: String,
        /// The client's error.
        source: ClientError,
        /// The end of the server's log.
        log_tail: String,
    },
    /// A statement fails.
    #[error("verify {build} with engine {engine}: {source}")]
    Statement {
        /// The build's id.
        build: String,
        /// The engine of the table.
        engine: Engine,
        /// The client's error.
        source: ClientError,
        /// The end of the server's log.
        log_tail: String,
    },
    /// A table is made in another engine than was asked for, as versions do that lack it.
    #[error(
        "verify {build} with engine {engine}: the server makes its table in `{found}`; take {engine} out of the `engines` of its catalogue entry, or correct its `engine_options`"
    )]
    OtherEngine {
        /// The build's id.
        build: String,
        /// The engine that was asked for.
        engine: Engine,
        /// The engine that the server names.
        found: String,
        /// The end of the server's log.
        log_tail: String,
    },
    /// A table gives back something else than what was put in.
    #[error("verify {build} with engine {engine}: a row reads `{found}`, expected `{expected}`")]
    Row {
        /// The build's id.
        build: String,
        /// The engine of the table.
        engine: Engine,
        /// The row that was read.
        found: String,
        /// The row that was written.
        expected: &'static str,
        /// The end of the server's log.
        log_tail: String,
    },
    /// It does not stop as it should.
    #[error("verify {build}: {source}")]
    Stop {
        /// The build's id.
        build: String,
        /// The failure.
        source: StopError,
    },
}

impl VerifyError {
    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Instance(error) => error.log_tail(),
            Self::Stop { source, .. } => Some(source.log_tail()),
            Self::Ask { log_tail, .. }
            | Self::Statement { log_tail, .. }
            | Self::OtherEngine { log_tail, .. }
            | Self::Row { log_tail, .. } => Some(log_tail),
            Self::Render(_) | Self::Version { .. } => None,
        }
    }
}

/// Starts a throw-away instance with the baseline configuration, compares its version, makes,
/// fills and reads a table in every engine as the load account, and stops it. Engines that come
/// with options of their own get a start of their own.
///
/// # Errors
/// When any of that does not go as the catalogue promises, or the user wishes to stop.
pub fn verify(
    roots: &Roots,
    catalogue: &Catalogue,
    launcher: &Launcher,
    build: &ServerBuild,
    stop: &StopFlag,
) -> Result<Verified, VerifyError> {
    let facts = &build.facts;
    let plugin = |engine: &Engine| facts.engine_options.contains_key(engine);
    let (plugins, built_in): (Vec<Engine>, Vec<Engine>) =
        facts.engines.iter().copied().partition(plugin);
    let starts = [built_in]
        .into_iter()
        .chain(plugins.into_iter().map(|engine| vec![engine]))
        .filter(|engines| !engines.is_empty());
    let mut version = String::new();
    for engines in starts {
        let config = Config::default();
        // The engine only decides the default for tables that do not name one, and its options.
        let wanted = Wanted::over_socket(engines[0], &config, 1);
        let rendered = catalogue.render(facts, wanted)?;
        let mut instance = Instance::create(roots, launcher, build, &rendered)?;
        instance.bootstrap(stop)?;
        version = try_start(instance, &engines, stop)?;
    }
    Ok(Verified {
        version,
        engines: facts.engines.clone(),
    })
}

/// One start: version, engines, stop.
fn try_start(
    instance: Instance,
    engines: &[Engine],
    stop: &StopFlag,
) -> Result<String, VerifyError> {
    let build = instance.build().id.clone();
    let server = instance.start(stop)?;
    let version = version(&server)?;
    for engine in engines {
        if stop.requested() {
            return Err(InstanceError::Stopped.into());
        }
        try_engine(&server, *engine)?;
    }
    server
        .stop(STOP)
        .map_err(|source| VerifyError::Stop { build, source })?;
    Ok(version)
}

fn version(server: &Running) -> Result<String, VerifyError> {
    let build = server.build();
    let answer = Connection::connect(&server.admin_address(), &server.admin_login(), STATEMENT)
        .and_then(|mut admin| admin.query("SELECT VERSION()"))
        .map_err(|source| VerifyError::Ask {
            build: build.id.clone(),
            source,
            log_tail: server.log_tail(LOG_LINES),
        })?;
    let answered = answer.single().unwrap_or_default().to_owned();
    if build.answers_with(&answered) {
        return Ok(answered);
    }
    Err(VerifyError::Version {
        build: build.id.clone(),
        answered,
        expected: build.version_text.clone(),
    })
}

/// The contents of a table as they were read back.
struct Tried {
    /// The engine that it is in.
    engine: String,
    rows: String,
}

fn try_engine(server: &Running, engine: Engine) -> Result<(), VerifyError> {
    const EXPECTED: &str = "1:one,2:zwei";
    let build = || server.build().id.clone();
    let log_tail = || server.log_tail(LOG_LINES);
    let tried = use_table(server, engine).map_err(|source| VerifyError::Statement {
        build: build(),
        engine,
        source,
        log_tail: log_tail(),
    })?;
    if !is_called(engine, &tried.engine) {
        return Err(VerifyError::OtherEngine {
            build: build(),
            engine,
            found: tried.engine,
            log_tail: log_tail(),
        });
    }
    if tried.rows != EXPECTED {
        return Err(VerifyError::Row {
            build: build(),
            engine,
            found: tried.rows,
            expected: EXPECTED,
            log_tail: log_tail(),
        });
    }
    Ok(())
}

/// Makes, fills, changes and reads a table as the load account.
fn use_table(server: &Running, engine: Engine) -> Result<Tried, ClientError> {
    let mut load = Connection::connect(&server.address(), &server.load_login(), STATEMENT)?;
    let name = engine.sql_name();
    load.query(format!(
        "CREATE TABLE check_{engine} (id INT NOT NULL PRIMARY KEY, word CHAR(10) NOT NULL) ENGINE = {name}"
    ))?;
    // Its second column is the engine; 4.1 calls it first Type and then Engine.
    let status = load.query(format!("SHOW TABLE STATUS LIKE 'check_{engine}'"))?;
    let found = status.rows.into_iter().next().unwrap_or_default();
    load.query(format!(
        "INSERT INTO check_{engine} VALUES (2, 'two'), (1, 'one')"
    ))?;
    load.query(format!(
        "UPDATE check_{engine} SET word = 'zwei' WHERE id = 2"
    ))?;
    let rows = load.query(format!("SELECT id, word FROM check_{engine} ORDER BY id"))?;
    let rows: Vec<String> = rows
        .rows
        .into_iter()
        .map(|row| {
            let cells: Vec<_> = row.into_iter().map(Option::unwrap_or_default).collect();
            cells.join(":")
        })
        .collect();
    Ok(Tried {
        engine: found.into_iter().nth(1).flatten().unwrap_or_default(),
        rows: rows.join(","),
    })
}

/// True where `name` is what servers call the engine: MEMORY was called HEAP before 4.1.
fn is_called(engine: Engine, name: &str) -> bool {
    let name = if name.eq_ignore_ascii_case("HEAP") {
        Engine::Memory.sql_name()
    } else {
        name
    };
    name.eq_ignore_ascii_case(engine.sql_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_known_by_their_names() {
        for (engine, name) in [
            (Engine::Innodb, "InnoDB"),
            (Engine::Memory, "HEAP"),
            (Engine::Memory, "MEMORY"),
            (Engine::Rocksdb, "ROCKSDB"),
        ] {
            assert!(is_called(engine, name), "{name}");
        }
        assert!(!is_called(Engine::Innodb, "MyISAM"));
        assert!(!is_called(Engine::Innodb, ""));
    }
}
