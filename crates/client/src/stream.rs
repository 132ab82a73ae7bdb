//! What carries a connection's bytes.

use std::io::{self, Read, Write};

use crate::{Socket, TlsStream};

/// A socket, or TLS on a socket.
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
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_unsent(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
