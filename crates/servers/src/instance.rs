//! A server's own folder: made, started, stopped, removed.

mod allocator;
mod birth;
mod bootstrap;
pub(crate) mod certificates;
pub(crate) mod port;
mod postgres;
pub(crate) mod preload;
mod running;
pub(crate) mod threads;
pub(crate) mod valgrind;
pub(crate) mod verify;

use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prony_host::{
    At, ChildSetup, IoError, Launcher, OwnedFolder, Process, Roots, create_private, tail,
    write_private,
};
use prony_model::{Family, PreloadedLibrary, ProcessSettings, StopFlag, Transport};

use crate::build::ServerBuild;
use crate::config::render::Rendered;
use crate::instance::certificates::Certificates;
use crate::instance::preload::PreloadError;

pub use birth::{Birth, OnBirth};
pub use running::{Running, ServerDied, StopError};

/// Lines of a server's log that come with an error.
const LOG_LINES: usize = 40;
/// Longest path of a unix socket in bytes: `sun_path` of unix(7) without its final zero.
const SOCKET_PATH_MAX: usize = 107;

/// A server that does not run: a folder of its own with a data directory, a configuration and a
/// log. Dropping it removes the folder.
#[derive(Debug)]
pub struct Instance {
    folder: OwnedFolder,
    launcher: Launcher,
    build: ServerBuild,
    rendered: Rendered,
    /// Certificates, where connections are encrypted.
    certificates: Option<Certificates>,
    /// Libraries that the server loads before all others when it starts, besides its allocator.
    preload: Vec<PathBuf>,
    /// The address of this host that it listens on, where the load comes from another host.
    network: Option<IpAddr>,
    /// The address and port, where the load comes over TCP; another port for each start.
    listens_on: Option<SocketAddr>,
}

/// The reason that an instance could not be made or started.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// A file can't be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// There is no port for it.
    #[error(
        "find a free port on {host}: {} in a row of {} to {} can't be listened on; end what listens \
         there, and make sure that {host} is an address of this host",
        port::ATTEMPTS,
        port::FIRST,
        port::FIRST + port::COUNT - 1
    )]
    Ports {
        /// The address.
        host: IpAddr,
    },
    /// The server can't be started, or does not do what it is started for.
    #[error(transparent)]
    Server(#[from] ServerFailure),
    /// The user wished to stop.
    #[error("stopped")]
    Stopped,
}

/// A server that does not do what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{task}: {reason}")]
pub struct ServerFailure {
    /// The task, such as `start mysql-8.0.31`.
    pub task: String,
    /// The reason.
    pub reason: String,
    /// The end of the server's log.
    pub log_tail: String,
}

impl InstanceError {
    /// The end of the server's own log, where there is one.
    pub fn log_tail(&self) -> Option<&str> {
        match self {
            Self::Server(failure) => Some(&failure.log_tail),
            _ => None,
        }
    }
}

impl Instance {
    /// Makes the folder and writes the configuration. There is no data directory yet: it comes
    /// from [`Self::bootstrap`] or from an image.
    ///
    /// # Errors
    /// When the folder can't be written, its path is too long for a unix socket, or another
    /// allocator is wanted than the build was got with.
    pub fn create(
        roots: &Roots,
        launcher: &Launcher,
        build: &ServerBuild,
        rendered: &Rendered,
    ) -> Result<Self, InstanceError> {
        allocator::check_build(build, rendered.process.allocator)?;
        let certificates = rendered.tls.then(|| Certificates::ensure(roots, None));
        let instance = Self {
            folder: OwnedFolder::create(&roots.instances(), "")?,
            launcher: launcher.clone(),
            build: build.clone(),
            rendered: rendered.clone(),
            certificates: certificates.transpose()?,
            preload: Vec::new(),
            network: None,
            listens_on: None,
        };
        if instance.is_postgresql() && rendered.tls && rendered.transport == Transport::Socket {
            let reason = "PostgreSQL encrypts no connections over unix sockets: set `transport = \"tcp\"`, or \
                          leave out `tls`";
            let task = format!("start {}", build.id);
            return Err(instance.failure(task, reason).into());
        }
        let socket = instance.socket();
        let length = socket.as_os_str().len();
        if length > SOCKET_PATH_MAX {
            let reason = format!(
                "the socket path {} has {length} bytes and the system takes {SOCKET_PATH_MAX}: \
                 set PRONY_CACHE to a folder with a shorter name",
                socket.display()
            );
            return Err(instance
                .failure(format!("start {}", build.id), reason)
                .into());
        }
        create_private(&instance.path("tmp"))?;
        instance.write_config()?;
        Ok(instance)
    }

    /// The same with libraries that the server loads before all others when it starts.
    ///
    /// # Errors
    /// If a file is missing or has another digest.
    pub fn preloading(mut self, libraries: &[PreloadedLibrary]) -> Result<Self, PreloadError> {
        self.preload = preload::find(libraries)?;
        Ok(self)
    }

    /// The same, listening on this address of this host as well when it starts, if its load comes over the
    /// network. Its certificate is made out to the address too.
    ///
    /// # Errors
    /// When certificates can't be made.
    pub fn listening_on(mut self, roots: &Roots, address: IpAddr) -> Result<Self, InstanceError> {
        if self.certificates.is_some() {
            self.certificates = Some(Certificates::ensure(roots, Some(address))?);
        }
        if self.rendered.transport == Transport::Network {
            self.network = Some(address);
        }
        self.write_config()?;
        Ok(self)
    }

    /// Makes a data directory, the way this version wants it.
    ///
    /// # Errors
    /// When the server does not bring it about (its log's tail is in the error), a file can't be
    /// read or written, or the user wishes to stop.
    pub fn bootstrap(&mut self, stop: &StopFlag) -> Result<(), InstanceError> {
        bootstrap::bootstrap(self, stop)
    }

    /// Starts the server and waits until it answers. The first start of a data directory makes
    /// the accounts: `root` without password over the socket, which lies in a folder that only
    /// its owner may enter, and `prony` with a random password and all rights on the database
    /// `prony`; all others are removed, but for those that the server keeps locked for itself.
    ///
    /// # Errors
    /// When the server ends or does not answer (its log's tail is in the error), or the user
    /// wishes to stop. The server is gone then, and the instance with it.
    pub fn start(self, stop: &StopFlag) -> Result<Running, InstanceError> {
        self.start_with(Birth::default(), stop)
    }

    /// The same with something done to the server's process before its first instruction.
    ///
    /// # Errors
    /// Those of [`Self::start`], and when what is to be done fails. The server program has not been
    /// executed then.
    pub fn start_with(self, birth: Birth<'_>, stop: &StopFlag) -> Result<Running, InstanceError> {
        running::start(self, birth, stop)
    }

    /// The build that it runs.
    pub fn build(&self) -> &ServerBuild {
        &self.build
    }

    /// The server's own log.
    pub fn log_path(&self) -> PathBuf {
        self.path("server.log")
    }

    /// The configuration file.
    pub fn config_path(&self) -> PathBuf {
        self.path(if self.is_postgresql() {
            "postgresql.conf"
        } else {
            "my.cnf"
        })
    }

    /// The last lines of the server's own log.
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log_path(), lines)
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.path("data")
    }

    /// Holds the password of the account `prony`. It lies beside the data directory and goes
    /// with it into images.
    pub(crate) fn password_file(&self) -> PathBuf {
        self.path(PASSWORD_FILE)
    }

    fn socket(&self) -> PathBuf {
        if self.is_postgresql() {
            self.path(&postgres::socket_name(self))
        } else {
            self.path("sock")
        }
    }

    fn is_postgresql(&self) -> bool {
        self.build.facts.family == Family::Postgresql
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_config(&self) -> Result<(), IoError> {
        if self.is_postgresql() {
            return postgres::write_config(self, &self.rendered);
        }
        let mut text = self.rendered.text();
        text.push_str("# places\n");
        let mut places = vec![
            ("datadir", self.data_dir()),
            ("tmpdir", self.path("tmp")),
            ("socket", self.socket()),
            ("pid-file", self.path("pid")),
            ("log-error", self.log_path()),
        ];
        let locations = self.build.locations.iter();
        places.extend(locations.map(|(option, path)| (option.as_str(), path.clone())));
        places.extend(self.certificates.iter().flat_map(Certificates::options));
        for (option, path) in places {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{option}={}", quoted(&path));
        }
        if let Some(address) = self.listens_on {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "port={}\nbind-address={}\nskip-name-resolve",
                address.port(),
                address.ip()
            );
        }
        if rustix::process::geteuid().is_root() {
            // Servers refuse to run as root unless they are told to.
            text.push_str("user=root\n");
        }
        write_private(&self.config_path(), text.as_bytes())
    }

    /// Takes a free port if the load comes over TCP, and says so in the configuration.
    fn take_port(&mut self) -> Result<(), InstanceError> {
        let host = match self.rendered.transport {
            Transport::Socket => None,
            Transport::Tcp => Some(port::HOST),
            // Where no address is named, as for making an image: servers without any would listen on all.
            Transport::Network => Some(self.network.unwrap_or(port::HOST)),
        };
        if let Some(host) = host {
            self.listens_on = Some(SocketAddr::from((host, port::free(host)?)));
            self.write_config()?;
        }
        Ok(())
    }

    /// A command for the server, placed as its settings say.
    fn server_command(&self) -> Command {
        self.command(setup(&self.rendered.process), &[])
    }

    /// A command for the server with the configuration; it must be the first argument.
    fn command(&self, setup: ChildSetup, wrapper: &[OsString]) -> Command {
        let (option, setup) = if self.is_postgresql() {
            let option = postgres::config_option(&self.config_path());
            (option.into(), postgres::setup(setup))
        } else {
            let mut option = OsString::from("--defaults-file=");
            option.push(self.config_path());
            (option, setup)
        };
        let mut command = self.build.command(&self.launcher, setup, wrapper);
        command.arg(option).current_dir(self.folder.path());
        if self.is_postgresql() {
            command.envs(postgres::encryption(self));
        }
        command
    }

    /// Starts a server; what it says before it has opened its log goes there too.
    fn spawn(&self, mut command: Command, input: Stdio) -> Result<Process, InstanceError> {
        let path = self.log_path();
        let log = || {
            let mut options = File::options();
            options.create(true).append(true).mode(0o600).open(&path)
        };
        command
            .stdin(input)
            .stdout(log().at("open", &path)?)
            .stderr(log().at("open", &path)?);
        let process = self.launcher.spawn(command);
        let process = process.map_err(|error| self.run_error(&error))?;
        Ok(if self.is_postgresql() {
            process.with_workers(self.data_dir())
        } else {
            process
        })
    }

    /// The failure of a task, with the end of the log.
    pub(crate) fn failure(&self, task: String, reason: impl Display) -> ServerFailure {
        ServerFailure {
            task,
            reason: reason.to_string(),
            log_tail: self.log_tail(LOG_LINES),
        }
    }

    /// The failure of starting or watching the server program.
    fn run_error(&self, error: &io::Error) -> InstanceError {
        self.failure(format!("run {}", self.build.id), error).into()
    }
}

/// The name of the file with the load account's password.
pub(crate) const PASSWORD_FILE: &str = "load-password";

/// The setup of a server with these settings.
fn setup(process: &ProcessSettings) -> ChildSetup {
    ChildSetup {
        huge_pages: process.huge_pages,
        ..ChildSetup::default()
    }
}

/// A path as the value of an option file: in quotes, because `#` begins a
/// comment, and with `\` as the escape.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests;
