//! The listening socket.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with,
};

/// Clients that may wait to be let in.
const BACKLOG: i32 = 4096;

/// Address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A unix socket, whose file is made, and removed in the end.
    Unix(PathBuf),
    /// A port of an address of this machine.
    Tcp(SocketAddr),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}

/// A socket that listens and never waits.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    place: Place,
}

impl Listener {
    pub(crate) fn bind(place: &Place) -> Result<Self, Errno> {
        Ok(Self {
            socket: open(place)?,
            place: place.clone(),
        })
    }

    /// The next client, or `None` if none waits.
    pub(crate) fn accept(&self) -> Result<Option<OwnedFd>, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            match accept_with(&self.socket, flags) {
                Ok(socket) => {
                    if let Place::Tcp(_) = self.place {
                        // An answer is complete when it is sent.
                        set_tcp_nodelay(&socket, true)?;
                    }
                    return Ok(Some(socket));
                }
                Err(Errno::AGAIN) => return Ok(None),
                // The client has gone, or a signal came.
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

fn open(place: &Place) -> Result<OwnedFd, Errno> {
    let family = match place {
        Place::Unix(_) => AddressFamily::UNIX,
        Place::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Place::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match place {
        Place::Unix(path) => bind(&socket, &SocketAddrUnix::new(path)?)?,
        Place::Tcp(address) => {
            // Connections of an earlier server that are being closed are no hindrance.
            set_socket_reuseaddr(&socket, true)?;
            bind(&socket, address)?;
        }
    }
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Place::Unix(path) = &self.place {
            // Whoever made the folder removes what is left.
            let _ = fs::remove_file(path);
        }
    }
}
