//! Addresses and databases of servers that run already: what Prony goes to and what it does not.

use std::net::SocketAddr;
use std::path::PathBuf;

use prony_model::Address;

/// Longest path of a socket, in bytes: the kernel's `sun_path` has 108, the last one 0.
const SOCKET_PATH_MAX: usize = 107;

/// Longest name of a database, in characters, in every version.
const DATABASE_MAX: usize = 64;

/// Databases of the servers themselves.
const SYSTEM_DATABASES: [&str; 6] = [
    "mysql",
    "information_schema",
    "performance_schema",
    "sys",
    "template0",
    "template1",
];

/// The reason why a text can't be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// Description of the problem.
    pub(crate) message: String,
    /// A few words for the place where it stands.
    pub(crate) label: String,
    /// The remedy.
    pub(crate) help: String,
}

impl Rejected {
    fn new(
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Rejected {
        Self {
            message: message.into(),
            label: label.into(),
            help: help.into(),
        }
    }
}

/// Reads the whole path of a socket, or an address of this machine with its port.
pub(crate) fn address(text: &str) -> Result<Address, Rejected> {
    if text.starts_with('/') {
        return socket(text);
    }
    Err(match text.parse::<SocketAddr>() {
        Ok(address) if address.port() == 0 => Rejected::new(
            "no server listens on port 0",
            "which port?",
            "SHOW VARIABLES LIKE 'port' shows it",
        ),
        Ok(address) if address.ip().is_loopback() => return Ok(Address::Tcp(address)),
        Ok(address) => Rejected::new(
            format!("`{}` is not on this machine", address.ip()),
            "another machine",
            format!(
                "Prony connects to this machine only. Through a tunnel, another one is here:\n\
                 ssh -N -L 3307:127.0.0.1:{} {}\nmakes it the address 127.0.0.1:3307",
                address.port(),
                address.ip()
            ),
        ),
        Err(_) => Rejected::new(
            format!("`{text}` is not an address of a server"),
            "neither an address and port nor the path of a socket",
            "write \"127.0.0.1:3306\" or \"[::1]:3306\",\n\
             or the absolute path of a socket such as \"/run/mysqld/mysqld.sock\"\n\
             host names are not resolved; a server elsewhere is reached through a tunnel \
             (ssh -L)",
        ),
    })
}

fn socket(path: &str) -> Result<Address, Rejected> {
    if path.len() > SOCKET_PATH_MAX {
        return Err(Rejected::new(
            format!("a socket's path has at most {SOCKET_PATH_MAX} bytes"),
            format!("this one has {}", path.len()),
            "make a shorter link to it",
        ));
    }
    Ok(Address::Unix(PathBuf::from(path)))
}

/// Checks the name of a database whose tables may be dropped.
pub(crate) fn check_database(name: &str) -> Result<(), Rejected> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let well_formed = (1..=DATABASE_MAX).contains(&name.len()) && name.chars().all(plain);
    let lower = name.to_ascii_lowercase();
    if !well_formed {
        return Err(Rejected::new(
            format!("`{name}` can't be a database"),
            "not a name",
            format!("a database has letters, digits, `_` and `$`, at most {DATABASE_MAX} of them"),
        ));
    }
    if SYSTEM_DATABASES.contains(&lower.as_str()) {
        return Err(Rejected::new(
            format!("`{lower}` is the server's own database"),
            "not for tables of a measurement",
            "use a database for this purpose alone, such as \"prony\"",
        ));
    }
    Ok(())
}
