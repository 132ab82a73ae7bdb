//! A server under work: one that Prony started, or one that runs already.

mod explain;
mod facts;
mod scheduling;
mod settle;

use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use prony_client::{Address, ClientError, Connection, Login};
use prony_model::{External, Family, PasswordSource, Target};
use prony_servers::admin::{self, StatementError};
use prony_servers::{Instance, InstanceError, Running, ServerDied};

pub(crate) use self::explain::explain_all;
pub(crate) use self::facts::Variables;
pub(crate) use self::settle::{AFTER_LOAD, debt, empty_binlog, settle};
use crate::error::LabError;
use crate::fault::Fault;

/// Limit for a control statement. Refreshing statistics reads whole tables.
const CONTROL_TIMEOUT: Duration = Duration::from_mins(10);
/// Limit for a server to stop: it writes back dirty pages.
const STOP_TIMEOUT: Duration = Duration::from_mins(5);
/// Limit for a server whose connections broke to show that it died.
const DYING: Duration = Duration::from_secs(1);
/// Time between two looks at a server that may be dying.
const POLL: Duration = Duration::from_millis(100);
/// Lines of the server's log that explain a failure.
const LOG_LINES: usize = 40;
/// The database that datasets live in on servers that Prony starts.
const DATABASE: &str = "prony";

/// The state of errors of PostgreSQL about a database that is not there (`errcodes.txt`:
/// `invalid_catalog_name`).
const NO_DATABASE: &str = "3D000";

/// A server that answers.
#[derive(Debug)]
pub(crate) enum Server {
    /// Started by Prony; it ends with this value.
    Own(Box<Running>),
    /// External.
    External(ExternalAccess),
}

/// The access to a server that runs already.
#[derive(Clone)]
pub(crate) struct ExternalAccess {
    family: Family,
    external: External,
    password: String,
}

impl fmt::Debug for ExternalAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.external.fmt(f)
    }
}

impl ExternalAccess {
    /// Finds the password that the experiment refers to.
    pub(crate) fn find(target: &Target, external: &External) -> Result<Self, LabError> {
        let missing = |reason: String| LabError::Password {
            target: target.name.clone(),
            reason,
        };
        let password = match &external.password {
            PasswordSource::None => String::new(),
            PasswordSource::Env(name) => {
                env::var(name).map_err(|_| missing(format!("set the variable {name}")))?
            }
            PasswordSource::File(path) => fs::read_to_string(path)
                .map_err(|error| missing(format!("read {}: {error}", path.display())))?
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        };
        Ok(Self {
            family: target.build.family,
            external: external.clone(),
            password,
        })
    }

    /// A connection without a default database: the dataset's may not be there yet. Every session of PostgreSQL
    /// is in a database, and an account may have the dataset's alone, so that it is in that one if it is there.
    pub(crate) fn connect(&self) -> Result<Connection, ClientError> {
        if self.family == Family::Postgresql {
            match Connection::connect(&self.external.address, &self.login(), CONTROL_TIMEOUT) {
                Err(ClientError::Login { sqlstate, .. }) if sqlstate == NO_DATABASE => {}
                outcome => return outcome,
            }
        }
        let login = Login {
            database: None,
            ..self.login()
        };
        Connection::connect(&self.external.address, &login, CONTROL_TIMEOUT)
    }

    /// Makes sure that the database for the dataset exists.
    pub(crate) fn enter(&self) -> Result<Server, Fault> {
        let database = &self.external.database;
        self.connect()
            .map_err(|error| self.refused(&error))
            .and_then(|mut connection| {
                admin::create_database(&mut connection, database)
                    .map_err(|error| self.refused(&error))
            })?;
        Ok(Server::External(self.clone()))
    }

    /// The server with its database as they are.
    pub(crate) fn as_found(&self) -> Result<Server, Fault> {
        let server = Server::External(self.clone());
        match server.connect() {
            Ok(_) => Ok(server),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// The failure of a server that can't be entered.
    fn refused(&self, error: &impl fmt::Display) -> Fault {
        let address = &self.external.address;
        Fault::failed(format!(
            "failed to log in to the external server at {address}: {error}"
        ))
    }

    fn login(&self) -> Login {
        Login {
            family: self.family,
            user: self.external.user.clone(),
            password: self.password.clone(),
            database: Some(self.external.database.clone()),
            tls: self.external.tls.clone(),
        }
    }
}

impl Server {
    /// The address for the load.
    pub(crate) fn address(&self) -> Address {
        match self {
            Self::Own(server) => server.address(),
            Self::External(access) => access.external.address.clone(),
        }
    }

    /// The account of the load.
    pub(crate) fn login(&self) -> Login {
        match self {
            Self::Own(server) => server.load_login(),
            Self::External(access) => access.login(),
        }
    }

    /// The database that holds the dataset.
    pub(crate) fn database(&self) -> &str {
        match self {
            Self::Own(_) => DATABASE,
            Self::External(access) => &access.external.database,
        }
    }

    /// Its process id, where it is Prony's own.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Own(server) => Some(server.pid()),
            Self::External(_) => None,
        }
    }

    /// Returns `true` if it listens for the client host, whose load generators load it.
    pub(crate) fn is_far(&self) -> bool {
        matches!(self, Self::Own(server) if server.is_on_network())
    }

    /// Its data directory, where it is Prony's own.
    pub(crate) fn data_dir(&self) -> Option<PathBuf> {
        match self {
            Self::Own(server) => Some(server.data_dir()),
            Self::External(_) => None,
        }
    }

    /// Checks that it still runs; of an external server only its connections tell.
    pub(crate) fn check(&mut self) -> Result<(), ServerDied> {
        match self {
            Self::Own(server) => server.check(),
            Self::External(_) => Ok(()),
        }
    }

    /// Stops it where it is until it [goes on](Self::go_on), if it is Prony's own.
    pub(crate) fn pause(&mut self) {
        if let Self::Own(server) = self {
            server.pause();
        }
    }

    /// Lets it go on after a [pause](Self::pause).
    pub(crate) fn go_on(&mut self) {
        if let Self::Own(server) = self {
            server.go_on();
        }
    }

    /// The last lines of its own log; empty where Prony can't read it.
    pub(crate) fn log_tail(&self) -> String {
        match self {
            Self::Own(server) => server.log_tail(LOG_LINES),
            Self::External(_) => String::new(),
        }
    }

    /// The failure in which it was lost, led by its death where that is the cause: broken
    /// connections are noticed before the process is.
    pub(crate) fn lost(&mut self, reason: &str) -> Fault {
        let begin = Instant::now();
        while begin.elapsed() < DYING {
            if let Err(died) = self.check() {
                return Fault::failed_with_log(format!("{died}; {reason}"), died.log_tail);
            }
            thread::sleep(POLL);
        }
        Fault::failed_with_log(reason, self.log_tail())
    }

    /// Runs control statements as administrator, or as the only account there is, in the dataset's
    /// database.
    pub(crate) fn control<T>(
        &self,
        statements: impl FnOnce(&mut Connection) -> Result<T, StatementError>,
    ) -> Result<T, Fault> {
        let failed = |error: &dyn fmt::Display| {
            Fault::failed_with_log(format!("failed to {error}"), self.log_tail())
        };
        let mut connection = self.connect().map_err(|error| failed(&error))?;
        statements(&mut connection).map_err(|error| failed(&error))
    }

    /// A control connection whose default database is the dataset's.
    pub(crate) fn connect(&self) -> Result<Connection, ClientError> {
        self.connect_within(CONTROL_TIMEOUT)
    }

    /// The same with less patience, for connecting and for each answer.
    pub(crate) fn connect_within(&self, limit: Duration) -> Result<Connection, ClientError> {
        let (address, login) = self.admin();
        let login = Login {
            database: Some(self.database().to_owned()),
            ..login
        };
        Connection::connect(&address, &login, limit)
    }

    /// Address and account of the administrator, or the only account there is.
    pub(crate) fn admin(&self) -> (Address, Login) {
        match self {
            Self::Own(server) => (server.admin_address(), server.admin_login()),
            Self::External(access) => (access.external.address.clone(), access.login()),
        }
    }

    /// Address and account that fill the dataset: the administrator's, who may change more. In
    /// PostgreSQL tables belong to the account that makes them, which is the one that uses them; it
    /// fills them the administrator's way.
    pub(crate) fn filler(&self) -> (Address, Login) {
        let (address, login) = self.admin();
        let login = match login.family {
            Family::Postgresql => Login {
                tls: login.tls,
                ..self.login()
            },
            Family::Mysql | Family::Mariadb => login,
        };
        (address, login)
    }

    /// Stops it cleanly, if it is Prony's own; gives back its folder.
    pub(crate) fn stop(self) -> Result<Option<Instance>, Fault> {
        match self {
            Self::Own(server) => server.stop(STOP_TIMEOUT).map(Some).map_err(|error| {
                Fault::failed_with_log(error.to_string(), error.log_tail().to_owned())
            }),
            Self::External(_) => Ok(None),
        }
    }
}

/// The failure of a server that can't be made or started.
pub(crate) fn server_fault(error: &InstanceError) -> Fault {
    Fault::failed_with_log(
        format!("failed to {error}"),
        error.log_tail().unwrap_or_default().to_owned(),
    )
}
