//! The client host: another host whose load generators load the servers here.
//!
//! One program runs there for a run, the far end: Prony itself, started by words such as `ssh HOST`. It
//! starts load generators, reads its host, and ends when its input does or falls silent. Both sides are
//! one build of Prony. What goes back and forth is JSON, a line each.

mod network;
mod serve;
mod session;
mod words;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prony_host::Launcher;
use prony_load::Hello;
use prony_model::{ClientHostFacts, CpuSet};
use prony_probe::HostFacts;

pub use self::serve::serve_far;
pub(crate) use self::session::{FarGenerator, Session};
use crate::error::ClientHostError;

/// Time from one sign of life to the next, of both sides.
const BEAT: Duration = Duration::from_secs(1);
/// Silence after which the other side is lost.
const SILENCE: Duration = Duration::from_secs(4);

/// The client host of a run, with the connection to it while there is one.
pub struct ClientHost {
    setup: ClientHostSetup,
    launcher: Launcher,
    session: Mutex<Option<Arc<Session>>>,
}

/// The way to a client host.
#[derive(Debug, Clone)]
pub struct ClientHostSetup {
    /// Its name in the user's file of hosts.
    pub name: String,
    /// The words that start the far end there.
    pub command: Vec<String>,
    /// The address of this host that servers listen on.
    pub listen: IpAddr,
    /// Processors of load generators there; all that Prony may use where `None`.
    pub cpus: Option<CpuSet>,
    /// Hash of this program; the one there has to be the same.
    pub build: String,
}

impl ClientHost {
    /// The client host of a run. Nothing is started yet.
    ///
    /// # Errors
    /// If the address means every address of this host, or none that another host reaches.
    pub fn new(setup: ClientHostSetup, launcher: &Launcher) -> Result<Self, ClientHostError> {
        if setup.listen.is_unspecified() || setup.listen.is_loopback() {
            return Err(ClientHostError::WrongAddress {
                client: setup.name,
                listen: setup.listen,
            });
        }
        Ok(Self {
            setup,
            launcher: launcher.clone(),
            session: Mutex::default(),
        })
    }

    /// The way to it.
    pub fn setup(&self) -> &ClientHostSetup {
        &self.setup
    }

    /// Connects, compares both sides, and measures the network between them.
    ///
    /// # Errors
    /// When the far end does not start, is of another build, or can't connect to this host.
    pub fn survey(&self) -> Result<ClientHostFacts, ClientHostError> {
        let session = self.session()?;
        let network = network::measure(&session, &self.setup)?;
        let host = session.host();
        Ok(ClientHostFacts {
            name: self.setup.name.clone(),
            listen: self.setup.listen,
            address: host.address,
            host: serde_json::to_value(&host.facts).unwrap_or_default(),
            interface: serde_json::to_value(&host.interface).unwrap_or_default(),
            network,
        })
    }

    /// The living connection; made, or made again, if there is none.
    pub(crate) fn session(&self) -> Result<Arc<Session>, ClientHostError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(living) = session.as_ref().filter(|session| session.lost().is_none()) {
            return Ok(Arc::clone(living));
        }
        // The old one goes first: what it started there ends.
        *session = None;
        let opened = Arc::new(Session::open(&self.setup, &self.launcher)?);
        *session = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// What the load generator there offers, on the processors that it may use.
    pub(crate) fn generator(&self) -> Result<Hello, ClientHostError> {
        let mut hello = self.session()?.host().generator.clone();
        if let Some(cpus) = &self.setup.cpus {
            hello.processors = hello.processors.min(cpus.cpus().len());
        }
        Ok(hello)
    }

    /// The address that connections from there have here.
    pub(crate) fn address(&self) -> Result<IpAddr, ClientHostError> {
        Ok(self.session()?.host().address)
    }
}

/// Tells whether an address can be reached from the whole Internet, as far as its number says: it is in
/// none of the ranges for private networks (RFC 1918, RFC 6598, RFC 4193), links and hosts.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(v4.is_private() || v4.is_loopback() || v4.is_link_local() || is_shared)
        }
        IpAddr::V6(v6) => {
            let is_local = v6.is_unique_local() || v6.is_unicast_link_local();
            !(is_local || v6 == Ipv6Addr::LOCALHOST)
        }
    }
}

/// What the far end says of its host.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct FarHost {
    /// The address from which it connects to the server's.
    pub(crate) address: IpAddr,
    pub(crate) facts: HostFacts,
    pub(crate) interface: Option<prony_probe::InterfaceFacts>,
    pub(crate) generator: Hello,
}

#[cfg(test)]
mod tests;
