//! The errors that end a whole run.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use prony_client::ClientError;
use prony_equality::{UnequalTargets, VariableTableError};
use prony_host::IoError;
use prony_load::{BackendError, ProtocolMismatch};
use prony_model::Backend;
use prony_servers::{FetchError, PreloadError, RenderError, RoomError};
use prony_store::StoreError;

/// The reason why a run can't begin or go on. The failure of a trial is not among these: it is a
/// result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The plan names a build that the catalogue no longer has.
    #[error("find the server build `{build}` of target `{target}` in the catalogue")]
    UnknownBuild {
        /// The target.
        target: String,
        /// The build's id.
        build: String,
    },
    /// A version can't honour what is asked of it.
    #[error("configure target `{target}`: {source}")]
    Render {
        /// The target.
        target: String,
        /// The setting that it can't honour.
        source: RenderError,
    },
    /// A library that its server preloads is not the planned one.
    #[error("prepare target `{target}`: {source}")]
    Preload {
        /// The target.
        target: String,
        /// The reason.
        source: PreloadError,
    },
    /// The password of an external server is not where the experiment says.
    #[error("find the password of target `{target}`: {reason}")]
    Password {
        /// The target.
        target: String,
        /// The remedy.
        reason: String,
    },
    /// An external server can't be entered.
    #[error("prepare target `{target}`: {reason}")]
    External {
        /// The target.
        target: String,
        /// The reason, in words that can stand alone.
        reason: String,
    },
    /// The tables of an external server are not there.
    #[error("read the table {table} of {database}: {source}")]
    Tables {
        /// The table's name.
        table: String,
        /// The database that should have it.
        database: String,
        /// The answer of the server.
        source: ClientError,
    },
    /// The backend that the experiment wants is unavailable.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The backend with which a run began is no longer available.
    #[error(
        "continue with {backend}, the backend of this run: {source}; or start a new run, because \
         figures of two backends can't be compared"
    )]
    BackendLost {
        /// The backend on record.
        backend: Backend,
        /// The reason.
        source: BackendError,
    },
    /// The processors of this process are unknown.
    #[error("list the processors that Prony may use: {source}")]
    Processors {
        /// The answer of the system.
        source: io::Error,
    },
    /// The experiment names a processor that is not there.
    #[error(
        "place the {role} of target `{target}` in step `{step}`: Prony may not use processor {cpu}, \
         or the machine has fewer; name some of {usable} in `placement`"
    )]
    Processor {
        /// The target.
        target: String,
        /// The step.
        step: String,
        /// The key in the experiment.
        role: &'static str,
        /// The processor.
        cpu: u16,
        /// Those that can be named.
        usable: String,
    },
    /// The counters with which a run began are no longer available.
    #[error(
        "count with the processor's counters, as this run has done so far: {reason}; resume the \
         run on a host where they can be read, or start a new run"
    )]
    Counting {
        /// The reason.
        reason: String,
    },
    /// The table of variables can't be read: a defect of this program.
    #[error(transparent)]
    Variables(#[from] VariableTableError),
    /// The targets differ in what is known to matter for speed.
    #[error(transparent)]
    Unequal(#[from] UnequalTargets),
    /// A target is loaded from another host, and none is named.
    #[error(
        "load target `{target}` over the network: name the host of the load generator, with \
         --client NAME; `prony client` explains it"
    )]
    NoClientHost {
        /// The target.
        target: String,
    },
    /// The host of the load generator is not to be had.
    #[error(transparent)]
    ClientHost(#[from] ClientHostError),
    /// There is no load generator.
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    /// A server build is unavailable.
    #[error("fetch {build}: {source}")]
    Fetch {
        /// The build's id.
        build: String,
        /// The reason.
        source: FetchError,
    },
    /// The servers of a block have no room in memory together.
    #[error(
        "start all servers of a block together: their buffers take {needed} by the experiment, and \
         this machine has {present} of memory; remove `turn`, so that one server runs at a time, or \
         give them less"
    )]
    Memory {
        /// Sum of the buffers, in words.
        needed: String,
        /// Memory of the host, in words.
        present: String,
    },
    /// The data images have no room.
    #[error(transparent)]
    Room(#[from] RoomError),
    /// Data images that are not needed can't be removed.
    #[error("make room for the data images: {source}")]
    Images {
        /// The reason.
        source: IoError,
    },
    /// The result file can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An artefact can't be written beside the result file.
    #[error("write {path}: {source}")]
    Artefact {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
}

impl LabError {
    /// Tells whether it shows before anything is loaded, and only a changed experiment or
    /// surrounding helps: a run that has not begun then has no reason to go on.
    pub fn is_before_loading(&self) -> bool {
        match self {
            Self::UnknownBuild { .. }
            | Self::Render { .. }
            | Self::Preload { .. }
            | Self::Password { .. }
            | Self::External { .. }
            | Self::Tables { .. }
            | Self::Processors { .. }
            | Self::Processor { .. }
            | Self::Backend(_)
            | Self::NoClientHost { .. }
            | Self::Generator(_)
            | Self::Counting { .. }
            | Self::Memory { .. }
            | Self::Variables(_)
            | Self::Unequal(_)
            | Self::Room(_) => true,
            Self::BackendLost { .. }
            // In the middle of a run as well.
            | Self::ClientHost(_)
            | Self::Images { .. }
            | Self::Fetch { .. }
            | Self::Store(_)
            | Self::Artefact { .. } => false,
        }
    }
}

/// The reason why there is no load generator.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    /// It does not start, or does not say what it has to say at first.
    #[error("start the load generator: {reason}")]
    Start {
        /// The reason.
        reason: String,
    },
    /// It is of another version.
    #[error(transparent)]
    Protocol(#[from] ProtocolMismatch),
}

impl GeneratorError {
    pub(crate) fn start(reason: &impl fmt::Display) -> Self {
        Self::Start {
            reason: reason.to_string(),
        }
    }
}

/// The reason why no load can come from the client host.
#[derive(Debug, thiserror::Error)]
pub enum ClientHostError {
    /// Servers would listen on all addresses, or on one that no other host reaches.
    #[error(
        "listen for client {client}: {listen} means {} this host; name the address of this host that \
         the client reaches",
        if listen.is_loopback() { "nothing but" } else { "every address of" }
    )]
    WrongAddress {
        /// Its name.
        client: String,
        /// The address.
        listen: IpAddr,
    },
    /// Prony does not start there.
    #[error(
        "start Prony on client {client}: {reason}; if it is not there yet, copy it with: \
         prony client install {client}"
    )]
    Start {
        /// Its name.
        client: String,
        /// The reason.
        reason: String,
    },
    /// Prony there is another one.
    #[error(
        "work with client {client}: Prony {version} there is not the same build as this one; copy \
         this one with: prony client install {client}"
    )]
    OtherBuild {
        /// Its name.
        client: String,
        /// The version there.
        version: String,
    },
    /// This host can't be listened on.
    #[error("listen on {listen}: {source}; name an address that this host has")]
    Listen {
        /// The address.
        listen: IpAddr,
        /// The answer of the system.
        source: io::Error,
    },
    /// It can't reach this host.
    #[error(
        "reach {listen} from client {client}: {reason}; let it connect to ports 20000 to 31999 here"
    )]
    Network {
        /// Its name.
        client: String,
        /// The address.
        listen: IpAddr,
        /// The reason.
        reason: String,
    },
}
