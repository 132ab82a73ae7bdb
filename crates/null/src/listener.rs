//! The listening socket.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use prony_model::Address;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with,
};

/// Clients that may wait to be let in.
const BACKLOG: i32 = 4096;

/// A socket that listens and never waits.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    address: Address,
}

impl Listener {
    pub(crate) fn bind(address: &Address) -> Result<Self, Errno> {
        Ok(Self {
            socket: open(address)?,
            address: address.clone(),
        })
    }

    /// The next client, or `None` if none waits.
    pub(crate) fn accept(&self) -> Result<Option<OwnedFd>, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            match accept_with(&self.socket, flags) {
                Ok(socket) => {
                    if let Address::Tcp(_) = self.address {
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

fn open(address: &Address) -> Result<OwnedFd, Errno> {
    let family = match address {
        Address::Unix(_) => AddressFamily::UNIX,
        Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match address {
        Address::Unix(path) => bind(&socket, &SocketAddrUnix::new(path)?)?,
        Address::Tcp(address) => {
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
        if let Address::Unix(path) = &self.address {
            // Whoever made the folder removes what is left.
            let _ = fs::remove_file(path);
        }
    }
}
