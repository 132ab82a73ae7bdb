//! A socket of either kind.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, send,
};

use crate::Address;

/// A connected socket, unix or TCP; after connecting they are used alike. Writing to one whose
/// other side is gone is an error and no signal.
#[derive(Debug)]
pub struct Socket(OwnedFd);

impl Socket {
    /// Connects, waiting at most `timeout` for the other side.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> io::Result<Self> {
        match address {
            Address::Unix(path) => connect_unix(path, timeout),
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, timeout)?;
                // A request is complete when it is sent, so waiting for more to send with it would
                // be waiting for nothing.
                stream.set_nodelay(true)?;
                Ok(Self(stream.into()))
            }
        }
    }

    /// Limits how long reading and writing may wait; `None` waits forever.
    ///
    /// # Errors
    /// When the limit is zero.
    pub fn set_timeouts(&self, timeout: Option<Duration>) -> io::Result<()> {
        set_socket_timeout(&self.0, Timeout::Recv, timeout)?;
        set_socket_timeout(&self.0, Timeout::Send, timeout)?;
        Ok(())
    }

    /// Makes reading and writing return at once where they would wait.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        Ok(rustix::io::ioctl_fionbio(&self.0, true)?)
    }
}

fn connect_unix(path: &Path, timeout: Duration) -> io::Result<Socket> {
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // Connecting waits for a place in the server's queue as long as sending may take.
    set_socket_timeout(&socket, Timeout::Send, Some(timeout))?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(Socket(socket))
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (_, count) = recv(&self.0, buffer, RecvFlags::empty())?;
        Ok(count)
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
