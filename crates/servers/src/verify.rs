//! Whether a build is what the catalogue promises.

use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_model::{Config, Engine, StopFlag};

use crate::build::ServerBuild;
use crate::catalogue::Catalogue;
use crate::instance::{Instance, InstanceError, Running, StopError};
use crate::launcher::Launcher;
use crate::render::{RenderError, Wanted};
use crate::roots::Roots;

/// How long one statement may take.
const STATEMENT: Duration = Duration::from_mins(1);
/// How long the server may take to stop.
const STOP: Duration = Duration::from_mins(1);

/// What was seen of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The answer to `SELECT VERSION()`.
    pub version: String,
    /// The engines that a table was made, filled and read in.
    pub engines: Vec<Engine>,
}

/// Why a build is not what the catalogue promises.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It can't be told the baseline.
    #[error(transparent)]
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
    /// A statement fails.
    #[error("verify {build} with engine {engine}: {source}")]
    Statement {
        /// The build's id.
        build: String,
        /// The engine of the table.
        engine: Engine,
        /// The client's error.
        source: ClientError,
    },
    /// A table gives back something else than what was put in.
    #[error("verify {build} with engine {engine}: a row reads `{found}`, expected `{expected}`")]
    Row {
        /// The build's id.
        build: String,
        /// The engine of the table.
        engine: Engine,
        /// What was read.
        found: String,
        /// What was written.
        expected: &'static str,
    },
    /// It does not stop as it should.
    #[error("verify {build}: {source}")]
    Stop {
        /// The build's id.
        build: String,
        /// How it failed to.
        source: StopError,
    },
}

impl VerifyError {
    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Instance(error) => error.log_tail(),
            Self::Stop { source, .. } => Some(source.log_tail()),
            _ => None,
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
        .map_err(|source| InstanceError::Accounts {
            build: build.id.clone(),
            source,
            log_tail: String::new(),
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

fn try_engine(server: &Running, engine: Engine) -> Result<(), VerifyError> {
    const EXPECTED: &str = "1:one,2:zwei";
    let build = || server.build().id.clone();
    let attempt = || -> Result<String, ClientError> {
        let mut load = Connection::connect(&server.address(), &server.load_login(), STATEMENT)?;
        let name = engine.sql_name();
        load.query(format!(
            "CREATE TABLE trial_{engine} (id INT NOT NULL PRIMARY KEY, word CHAR(10) NOT NULL) ENGINE = {name}"
        ))?;
        load.query(format!(
            "INSERT INTO trial_{engine} VALUES (2, 'two'), (1, 'one')"
        ))?;
        load.query(format!(
            "UPDATE trial_{engine} SET word = 'zwei' WHERE id = 2"
        ))?;
        let rows = load.query(format!("SELECT id, word FROM trial_{engine} ORDER BY id"))?;
        let rows: Vec<String> = rows
            .rows
            .into_iter()
            .map(|row| {
                let cells: Vec<_> = row.into_iter().map(Option::unwrap_or_default).collect();
                cells.join(":")
            })
            .collect();
        Ok(rows.join(","))
    };
    let found = attempt().map_err(|source| VerifyError::Statement {
        build: build(),
        engine,
        source,
    })?;
    if found == EXPECTED {
        return Ok(());
    }
    Err(VerifyError::Row {
        build: build(),
        engine,
        found,
        expected: EXPECTED,
    })
}
