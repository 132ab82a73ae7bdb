//! A server that runs.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use prony_client::{Address, ClientError, Connection, Login};
use prony_host::{At, Process, describe_exit, write_private};
use prony_model::{StopFlag, Tls};

use super::birth::{Birth, bear};
use super::{Instance, InstanceError, LOG_LINES, allocator, postgres, preload};
use crate::admin::accounts::{self, ADMIN_USER, LOAD_USER};
use crate::build::ServerBuild;
use crate::build::catalogue::Shutdown;
use crate::instance::certificates::Certificates;
use crate::instance::valgrind::Callgrind;

/// The time that a server may take until it answers. Redo logs are made and recovered in it.
const START_LIMIT: Duration = Duration::from_mins(3);
/// The factor by which everything may take longer in valgrind.
const SLOWDOWN: u32 = 5;
/// The time between two questions to a starting server.
const ASK: Duration = Duration::from_millis(20);
/// The time that one attempt to connect may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The time that each statement that makes the accounts may take.
const STATEMENT_LIMIT: Duration = Duration::from_mins(1);

/// SQL states of servers that refuse the administrator for good: wrong account or password, a database that is
/// not there. A server that starts or recovers refuses with others.
const FINAL_REFUSALS: [&str; 3] = ["28000", "28P01", "3D000"];

/// A server that answers. Dropping it kills the server and removes its folder.
#[derive(Debug)]
pub struct Running {
    // Dropped in this order: the folder is removed when it is no longer in use.
    process: Process,
    pub(super) instance: Instance,
    password: String,
    /// The counter of its instructions, where there is one.
    callgrind: Option<Callgrind>,
}

/// A server that ended without being asked to, or had to be killed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server {status}")]
pub struct ServerDied {
    /// Its end, in words that follow "the server".
    pub status: String,
    /// The end of its log.
    pub log_tail: String,
}

/// A server that did not stop cleanly. It is gone nevertheless.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StopError {
    /// It took too long and was killed: its data directory needs recovery.
    #[error(transparent)]
    TimedOut(ServerDied),
    /// It was gone already, it crashed while it stopped, or it did not take the request and was
    /// killed.
    #[error(transparent)]
    Died(#[from] ServerDied),
}

impl StopError {
    /// The end of the server's own log.
    pub fn log_tail(&self) -> &str {
        match self {
            Self::TimedOut(died) | Self::Died(died) => &died.log_tail,
        }
    }
}

/// See [`Instance::start`].
pub(super) fn start(
    mut instance: Instance,
    birth: Birth<'_>,
    stop: &StopFlag,
) -> Result<Running, InstanceError> {
    instance.take_port()?;
    let (process, callgrind) = bear(&instance, birth, stop)?;
    let mut server = Running::unasked(process, instance);
    server.callgrind = callgrind;
    let mut admin = server.wait_until_ready(stop)?;
    server.password = server.password(|limit, password| {
        admin.set_timeout(Some(limit))?;
        accounts::set_up(&mut admin, password)
    })?;
    drop(admin);
    allocator::check_running(&server.instance, server.pid())?;
    preload::check_running(&server.instance, server.pid())?;
    Ok(server)
}

impl Running {
    /// A server that was started and may or may not answer yet.
    pub(super) fn unasked(process: Process, instance: Instance) -> Self {
        Self {
            process,
            instance,
            password: String::new(),
            callgrind: None,
        }
    }

    /// Its unix socket.
    pub fn socket(&self) -> PathBuf {
        self.instance.socket()
    }

    /// The address for the administrator, whatever carries the load.
    pub fn admin_address(&self) -> Address {
        Address::Unix(self.instance.socket())
    }

    /// The address for the load.
    pub fn address(&self) -> Address {
        match self.instance.listens_on {
            Some(address) => Address::Tcp(address),
            None => self.admin_address(),
        }
    }

    /// Returns `true` if it listens on an address for another host.
    pub fn is_on_network(&self) -> bool {
        self.instance.network.is_some() && self.instance.listens_on.is_some()
    }

    /// Lets the load's account log in from another host, by its password, and encrypted where the server
    /// offers encryption.
    ///
    /// # Errors
    /// When the server refuses to make the account.
    pub fn admit(&self, client: IpAddr) -> Result<(), InstanceError> {
        let limit = self.limit(STATEMENT_LIMIT);
        let encrypted = self.instance.certificates.is_some();
        let refused = |source: ClientError| self.account_error(&source);
        let admin = Connection::connect(&self.admin_address(), &self.admin_login(), limit);
        let mut admin = admin.map_err(refused)?;
        if admin.is_postgresql() {
            return postgres::admit(self, &mut admin, client);
        }
        accounts::admit(&mut admin, client, &self.password, encrypted).map_err(refused)
    }

    /// The administrator.
    pub fn admin_login(&self) -> Login {
        Login {
            family: self.build().facts.family,
            user: ADMIN_USER.to_owned(),
            password: String::new(),
            database: None,
            tls: Tls::Off,
        }
    }

    /// The account of the load, with its database.
    pub fn load_login(&self) -> Login {
        Login {
            family: self.build().facts.family,
            user: LOAD_USER.to_owned(),
            password: self.password.clone(),
            database: Some(LOAD_USER.to_owned()),
            tls: self.load_tls(),
        }
    }

    /// The certificate of a server that encrypts is checked. A socket has no name that it could be
    /// compared with.
    fn load_tls(&self) -> Tls {
        let Instance {
            certificates,
            listens_on,
            ..
        } = &self.instance;
        match certificates.as_ref().map(Certificates::authority) {
            None => Tls::Off,
            Some(authority) if listens_on.is_some() => Tls::VerifyFull(authority),
            Some(authority) => Tls::VerifyCa(authority),
        }
    }

    /// The memory allocator that the server uses, as `/proc/PID/maps` shows it: `jemalloc`,
    /// `tcmalloc`, or `libc` for that of the C library. One that the program was linked with
    /// statically is not seen.
    ///
    /// # Errors
    /// When `/proc` can't be read, as of a server that is gone.
    pub fn allocator(&self) -> io::Result<String> {
        Ok(allocator::in_use(&self.instance.build, self.pid())?.to_owned())
    }

    /// The file with the password of the load's account, readable by its owner only.
    pub fn password_path(&self) -> PathBuf {
        self.instance.password_file()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The folder with its data.
    pub fn data_dir(&self) -> PathBuf {
        self.instance.data_dir()
    }

    /// The counter of its instructions, where its birth asked for one.
    pub fn callgrind(&self) -> Option<&Callgrind> {
        self.callgrind.as_ref()
    }

    /// A limit of time for this server.
    fn limit(&self, usual: Duration) -> Duration {
        match self.callgrind {
            Some(_) => usual * SLOWDOWN,
            None => usual,
        }
    }

    /// The build that runs.
    pub fn build(&self) -> &ServerBuild {
        self.instance.build()
    }

    /// Stops it where it is, with all of its threads, until it [goes on](Self::go_on): it needs no
    /// processor and answers nothing. For its clients it is slow, not gone.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Lets it go on after a [pause](Self::pause). Changes nothing where it was not paused.
    pub fn go_on(&mut self) {
        self.process.go_on();
    }

    /// Checks that it still runs.
    ///
    /// # Errors
    /// When it ended, with how it ended and the end of its log.
    pub fn check(&mut self) -> Result<(), ServerDied> {
        match self.process.try_wait() {
            Ok(Some(status)) => Err(self.died(describe_exit(status))),
            // What can't be asked is not known to be dead.
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// The last lines of its own log.
    pub fn log_tail(&self, lines: usize) -> String {
        self.instance.log_tail(lines)
    }

    /// Its own log.
    pub fn log_path(&self) -> PathBuf {
        self.instance.log_path()
    }

    /// Its configuration file.
    pub fn config_path(&self) -> PathBuf {
        self.instance.config_path()
    }

    /// Stops it cleanly, the way this build wants it; after `timeout` it is killed, which is an
    /// error.
    ///
    /// # Errors
    /// When it was killed, refused, or ended with an error, or was gone already.
    pub fn stop(mut self, timeout: Duration) -> Result<Instance, StopError> {
        self.check()?;
        self.go_on();
        match self.instance.build.shutdown {
            Shutdown::Signal => self.process.terminate(),
            Shutdown::Interrupt => self.process.interrupt(),
            Shutdown::Command => self.ask_to_stop()?,
        }
        match self.process.wait_timeout(timeout) {
            Ok(Some(status)) if status.success() => Ok(self.instance),
            Ok(Some(status)) => Err(self.died(describe_exit(status)).into()),
            Ok(None) | Err(_) => {
                self.process.kill();
                let seconds = timeout.as_secs();
                let status = format!("did not stop within {seconds} s and was killed");
                Err(StopError::TimedOut(self.died(status)))
            }
        }
    }

    fn ask_to_stop(&self) -> Result<(), ServerDied> {
        let limit = self.limit(STATEMENT_LIMIT);
        Connection::connect(&self.admin_address(), &self.admin_login(), limit)
            .and_then(Connection::shutdown)
            .map_err(|error| self.died(format!("can't be asked to stop and was killed: {error}")))
    }

    /// Kills it as a fault would. What it had written is there when the instance is started again.
    pub fn crash(mut self) -> Instance {
        self.process.kill();
        self.instance
    }

    /// Kills it. Its folder is removed.
    pub fn kill(self) {
        drop(self);
    }

    fn died(&self, status: String) -> ServerDied {
        ServerDied {
            status,
            log_tail: self.log_tail(LOG_LINES),
        }
    }

    /// Connects and asks until there is an answer.
    fn wait_until_ready(&mut self, stop: &StopFlag) -> Result<Connection, InstanceError> {
        let limit = self.limit(START_LIMIT);
        let end = Instant::now() + limit;
        let task = format!("start {}", self.build().id);
        loop {
            let error = match self.ask() {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            if let Err(died) = self.check() {
                return Err(self.instance.failure(task, died).into());
            }
            if stop.requested() {
                return Err(InstanceError::Stopped);
            }
            if matches!(&error, ClientError::Login { sqlstate, .. } if FINAL_REFUSALS.contains(&sqlstate.as_str()))
            {
                return Err(self.account_error(&error));
            }
            if Instant::now() >= end {
                let seconds = limit.as_secs();
                let reason = format!("it does not answer after {seconds} s: {error}");
                return Err(self.instance.failure(task, reason).into());
            }
            thread::sleep(ASK);
        }
    }

    fn ask(&self) -> Result<Connection, ClientError> {
        let limit = self.limit(CONNECT_LIMIT);
        let mut admin = Connection::connect(&self.admin_address(), &self.admin_login(), limit)?;
        admin.query("SELECT 1")?;
        Ok(admin)
    }

    /// The load account's password. If this data directory has none yet, `set_up` makes the accounts with a
    /// new one, in this time for each statement.
    fn password(
        &self,
        set_up: impl FnOnce(Duration, &str) -> Result<(), ClientError>,
    ) -> Result<String, InstanceError> {
        let path = self.instance.password_file();
        if path.exists() {
            return Ok(fs::read_to_string(&path).at("read", &path)?);
        }
        let password = accounts::new_password()?;
        set_up(self.limit(STATEMENT_LIMIT), &password)
            .map_err(|source| self.account_error(&source))?;
        write_private(&path, password.as_bytes())?;
        Ok(password)
    }

    pub(super) fn account_error(&self, source: &ClientError) -> InstanceError {
        let task = format!("set up the accounts of {}", self.build().id);
        self.instance.failure(task, source).into()
    }
}
