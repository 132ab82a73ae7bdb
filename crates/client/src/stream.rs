//! What carries a connection's bytes.

use std::io::{self, Read, Write};

use crate::{Socket, TlsStream};

/// A socket, or TLS on a socket. Load passes through here, hence the functions to be inlined.
#[derive(Debug)]
pub enum Stream {
    /// Bytes as they are.
    Plain(Socket),
    /// Bytes encrypted.
    Tls(Box<TlsStream>),
}

impl Stream {
    /// The socket.
    pub const fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.socket(),
        }
    }

    /// Whether encrypted bytes are still to be sent; [`Write::flush`] sends them.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_unsent(),
        }
    }
}

impl From<Socket> for Stream {
    fn from(socket: Socket) -> Self {
        Self::Plain(socket)
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
