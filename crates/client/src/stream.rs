//! Transport of a connection's bytes.

use std::io::{self, ErrorKind, Read, Write};

use crate::{Encryption, Socket, TlsError, TlsStream};

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

    /// Over a fresh socket, to be encrypted when the server was asked for it, or never.
    ///
    /// # Errors
    /// When the handshake can't be prepared.
    pub fn new(socket: Socket, encryption: Option<&Encryption>) -> Result<Self, TlsError> {
        Ok(match encryption {
            Some(encryption) => Self::Tls(Box::new(TlsStream::new(socket, encryption)?)),
            None => Self::Plain(socket),
        })
    }

    /// From here on bytes are encrypted; what was written and not sent goes in clear before.
    ///
    /// # Errors
    /// When it was made without encryption.
    pub fn encrypt(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Err(io::Error::new(
                ErrorKind::Unsupported,
                "it was made without encryption",
            )),
            Self::Tls(tls) => {
                tls.encrypt();
                Ok(())
            }
        }
    }

    /// Returns `true` if bytes that were written are still to be sent; [`Write::flush`] sends them.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_unsent(),
        }
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
