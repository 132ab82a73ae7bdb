//! The check of a build against what the catalogue promises.

use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{Launcher, Roots};
use prony_model::{Config, Engine, StopFlag};

use crate::admin::statement::pairs;
use crate::build::ServerBuild;
use crate::build::catalogue::Catalogue;
use crate::config::intents::Wanted;
use crate::config::render::RenderError;
use crate::instance::postgres;
use crate::instance::{Instance, InstanceError, Running, ServerFailure};

/// The time that one statement may take.
const STATEMENT: Duration = Duration::from_mins(1);
/// The time that the server may take to stop.
const STOP: Duration = Duration::from_mins(1);

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
    /// The server does not do what the catalogue promises.
    #[error(transparent)]
    Server(#[from] ServerFailure),
}

impl VerifyError {
    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Render(_) => None,
            Self::Instance(error) => error.log_tail(),
            Self::Server(failure) => Some(&failure.log_tail),
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
    let starts = plugins.into_iter().map(|engine| vec![engine]);
    let starts = [built_in].into_iter().chain(starts);
    let mut version = String::new();
    for engines in starts.filter(|engines| !engines.is_empty()) {
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
    let task = format!("verify {}", instance.build().id);
    let server = instance.start(stop)?;
    let version = version(&server, &task)?;
    for engine in engines {
        if stop.requested() {
            return Err(InstanceError::Stopped.into());
        }
        try_engine(&server, *engine).map_err(|reason| {
            server
                .instance
                .failure(format!("{task} with engine {engine}"), reason)
        })?;
    }
    server.stop(STOP).map_err(|error| ServerFailure {
        task,
        reason: error.to_string(),
        log_tail: error.log_tail().to_owned(),
    })?;
    Ok(version)
}

fn version(server: &Running, task: &str) -> Result<String, ServerFailure> {
    let build = server.build();
    let answered = Connection::connect(&server.admin_address(), &server.admin_login(), STATEMENT)
        .and_then(|mut admin| admin.query("SELECT VERSION()"))
        .map(|answer| answer.single().unwrap_or_default().to_owned());
    let answered = answered.map_err(|error| {
        let task = format!("ask {} for its version", build.id);
        server.instance.failure(task, error)
    })?;
    if build.answers_with(&answered) {
        return Ok(answered);
    }
    let expected = &build.version_text;
    Err(server.instance.failure(
        task.to_owned(),
        format!("it answers version `{answered}`, the catalogue expects `{expected}`"),
    ))
}

/// Uses a table of the engine. An error is the reason that it can't be used.
fn try_engine(server: &Running, engine: Engine) -> Result<(), String> {
    const EXPECTED: &str = "1:one,2:zwei";
    let used = match engine {
        Engine::Heap => postgres::use_table(server, STATEMENT),
        _ => use_table(server, engine),
    };
    let (found, rows) = used.map_err(|error| error.to_string())?;
    if !is_called(engine, &found) {
        return Err(other_engine(engine, &found));
    }
    if rows != EXPECTED {
        return Err(format!("a row reads `{rows}`, expected `{EXPECTED}`"));
    }
    Ok(())
}

/// Versions that lack an engine make a table in another one than was asked for.
fn other_engine(engine: Engine, found: &str) -> String {
    format!(
        "the server makes its table in `{found}`; take {engine} out of the `engines` of its \
         catalogue entry, or correct its `engine_options`"
    )
}

/// Makes, fills, changes and reads a table as the load account. Returns its engine as the server
/// names it, and its rows.
fn use_table(server: &Running, engine: Engine) -> Result<(String, String), ClientError> {
    let mut load = Connection::connect(&server.address(), &server.load_login(), STATEMENT)?;
    let table = format!("check_{engine}");
    load.query(format!(
        "CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, word CHAR(10) NOT NULL) ENGINE = {}",
        engine.sql_name()
    ))?;
    // Its second column is the engine; 4.1 calls it first Type and then Engine.
    let status = load.query(format!("SHOW TABLE STATUS LIKE '{table}'"))?;
    let found = pairs(status).next().unwrap_or_default().1;
    load.query(format!("INSERT INTO {table} VALUES (2, 'two'), (1, 'one')"))?;
    load.query(format!("UPDATE {table} SET word = 'zwei' WHERE id = 2"))?;
    let rows = load.query(format!("SELECT id, word FROM {table} ORDER BY id"))?;
    let rows: Vec<_> = pairs(rows)
        .map(|(id, word)| format!("{id}:{word}"))
        .collect();
    Ok((found, rows.join(",")))
}

/// True where `name` is what servers call the engine: MEMORY was called HEAP before 4.1.
fn is_called(engine: Engine, name: &str) -> bool {
    let heap = engine == Engine::Memory && name.eq_ignore_ascii_case("HEAP");
    heap || name.eq_ignore_ascii_case(engine.sql_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_another_engine_is_explained() {
        assert_eq!(
            other_engine(Engine::Innodb, "MyISAM"),
            "the server makes its table in `MyISAM`; take innodb out of the `engines` of its \
             catalogue entry, or correct its `engine_options`"
        );
    }

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
