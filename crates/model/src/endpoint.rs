//! Addresses of servers and the ways to reach them.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::words::words;

/// The address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// An address and port.
    Tcp(SocketAddr),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}

words! {
    /// The transport of the load to a server that Prony starts.
    #[derive(Default)]
    pub enum Transport {
        /// A unix socket in a private folder; the server listens on nothing else.
        #[default]
        Socket = "socket",
        /// TCP over the loopback interface.
        Tcp = "tcp",
        /// TCP from another host, to an address that the user names.
        Network = "network",
    }
}

/// Encryption of a connection, and the proof that the server must give.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tls {
    /// Never encrypted.
    #[default]
    Off,
    /// Encrypted, with any certificate of the server.
    Required,
    /// The server's certificate is signed by one of the authorities in this PEM file.
    VerifyCa(PathBuf),
    /// As [`Tls::VerifyCa`], and it is made out to the name or address that was connected to.
    VerifyFull(PathBuf),
    /// As [`Tls::VerifyFull`], with the authorities' certificates themselves, as PEM: for a client
    /// on a host that does not have the file.
    VerifyFullBy(String),
}

/// A server that runs already and that Prony neither starts nor stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    /// The address that it listens on; a unix socket or an address of this machine.
    pub address: Address,
    /// The account.
    pub user: String,
    /// The source of the account's password, read when it is needed. It is never stored.
    pub password: PasswordSource,
    /// The database whose tables are dropped, made and filled.
    pub database: String,
    /// Encryption.
    pub tls: Tls,
}

/// The source of a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PasswordSource {
    /// The account has none.
    None,
    /// In this environment variable.
    Env(String),
    /// In the first line of this file.
    File(PathBuf),
}
