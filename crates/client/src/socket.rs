//! A socket of either kind.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, set_tcp_nodelay};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, socket_with,
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

    /// Begins to connect, and returns a socket that never blocks. Over TCP the connection may still
    /// be under way: a failure of it is then the error of the first read.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when the queue of a server on a unix socket is
    /// full, so that this is to be tried again later; otherwise when nobody listens there.
    pub fn begin_connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => {
                let socket = Self::open(AddressFamily::UNIX, SocketFlags::NONBLOCK)?;
                connect(&socket.0, &SocketAddrUnix::new(path)?)?;
                Ok(socket)
            }
            Address::Tcp(address) => {
                let family = match address {
                    SocketAddr::V4(_) => AddressFamily::INET,
                    SocketAddr::V6(_) => AddressFamily::INET6,
                };
                let socket = Self::open(family, SocketFlags::NONBLOCK)?;
                set_tcp_nodelay(&socket.0, true)?;
                match connect(&socket.0, address) {
                    Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    fn open(family: AddressFamily, flags: SocketFlags) -> io::Result<Self> {
        let flags = flags | SocketFlags::CLOEXEC;
        Ok(Self(socket_with(family, SocketType::STREAM, flags, None)?))
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
    let socket = Socket::open(AddressFamily::UNIX, SocketFlags::empty())?;
    // Connecting waits for a place in the server's queue as long as sending may take.
    set_socket_timeout(&socket.0, Timeout::Send, Some(timeout))?;
    connect(&socket.0, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

#[cfg(test)]
impl From<OwnedFd> for Socket {
    fn from(socket: OwnedFd) -> Self {
        Self(socket)
    }
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

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    fn wait_readable(socket: &Socket) {
        poll(&mut [PollFd::new(socket, PollFlags::IN)], None).unwrap();
    }

    #[test]
    fn begins_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let unix = UnixListener::bind(folder.path().join("s")).unwrap();
        let mut socket =
            Socket::begin_connect(&Address::Unix(folder.path().join("s"))).expect("connected");
        let error = socket.read(&mut [0; 9]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        unix.accept().unwrap().0.write_all(b"abc").unwrap();
        wait_readable(&socket);
        assert_eq!(socket.read(&mut [0; 9]).unwrap(), 3);

        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(tcp.local_addr().unwrap());
        let mut socket = Socket::begin_connect(&address).unwrap();
        assert!(rustix::net::sockopt::tcp_nodelay(&socket).unwrap());
        tcp.accept().unwrap().0.write_all(b"abc").unwrap();
        wait_readable(&socket);
        assert_eq!(socket.read(&mut [0; 9]).unwrap(), 3);
    }

    #[test]
    fn a_full_queue_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = Socket::open(AddressFamily::UNIX, SocketFlags::empty()).unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let address = Address::Unix(path);
        let mut waiting = Vec::new();
        let error = loop {
            match Socket::begin_connect(&address) {
                Ok(socket) => waiting.push(socket),
                Err(error) => break error,
            }
            assert!(waiting.len() < 10, "a queue of 1 has an end");
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        rustix::net::accept(&listener).unwrap();
        Socket::begin_connect(&address).expect("there is room again");
    }

    #[test]
    fn nobody_listens() {
        let nowhere = Address::Unix("/nowhere/at/all.sock".into());
        assert!(Socket::begin_connect(&nowhere).is_err());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap());
        drop(listener);
        let refused = Socket::begin_connect(&address).and_then(|mut socket| {
            wait_readable(&socket);
            socket.read(&mut [0; 9])
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
