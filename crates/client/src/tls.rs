//! TLS over a socket.
//!
//! Every connection shakes hands in full: nothing is resumed, so that connections cost alike and
//! share nothing. Versions 1.2 and 1.3, with what rustls takes for secure; older servers can't be
//! talked to.

mod error;
#[cfg(test)]
pub(crate) mod tests;
mod verifier;

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use prony_model::Tls;
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, ClientConnection};

pub use error::TlsError;

use crate::tls::verifier::Verifier;
use crate::{Address, Socket};

/// The name that a server on a unix socket must prove to have, if any.
const LOCAL_NAME: &str = "localhost";

/// Encryption of connections to a server. It can be used for any number of them, and reads the
/// files of authorities once.
#[derive(Debug, Clone)]
pub struct Encryption {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// A socket with TLS on it, from the first byte or from one in the middle.
#[derive(Debug)]
pub struct TlsStream {
    socket: Socket,
    tls: ClientConnection,
    /// `true` if bytes pass as they are, until [`encrypt`](Self::encrypt).
    in_clear: bool,
    /// Written in clear and not sent yet.
    clear: Vec<u8>,
}

impl Encryption {
    /// As `mode` wants the server at `address` to prove who it is; by nothing where it is off.
    ///
    /// # Errors
    /// When the mode's authorities can't be read.
    pub fn new(address: &Address, mode: &Tls) -> Result<Self, TlsError> {
        let name = server_name(address).map_err(|error| TlsError::Handshake {
            reason: error.to_string(),
        })?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier::new(mode, provider.signature_verification_algorithms)?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let config = Arc::new(config);
        Ok(Self { config, name })
    }
}

impl TlsStream {
    /// Shakes hands.
    pub(crate) fn connect(socket: Socket, encryption: &Encryption) -> Result<Self, TlsError> {
        let mut stream = Self::new(socket, encryption)?;
        stream.in_clear = false;
        stream.shake_hands()?;
        Ok(stream)
    }

    /// Over a socket on which the server speaks in clear first. Nothing is encrypted until
    /// [`encrypt`](Self::encrypt).
    ///
    /// # Errors
    /// When the handshake can't be prepared.
    pub(crate) fn new(socket: Socket, encryption: &Encryption) -> Result<Self, TlsError> {
        let config = Arc::clone(&encryption.config);
        let mut tls = ClientConnection::new(config, encryption.name.clone())?;
        // Requests are encrypted whole, however long they are.
        tls.set_buffer_limit(None);
        Ok(Self {
            socket,
            tls,
            in_clear: true,
            clear: Vec::new(),
        })
    }

    /// From here on bytes are encrypted; what was written before and not sent still goes in clear.
    /// The handshake is part of reading and flushing, and what is written meanwhile is sent when it
    /// is over: nothing waits that the socket does not wait for.
    pub(crate) const fn encrypt(&mut self) {
        self.in_clear = false;
    }

    fn shake_hands(&mut self) -> Result<(), TlsError> {
        let lost = |source: io::Error| match source.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => TlsError::Closed,
            ErrorKind::WouldBlock | ErrorKind::TimedOut => TlsError::Silent,
            _ => TlsError::Io { source },
        };
        loop {
            self.flush().map_err(lost)?;
            if !self.tls.is_handshaking() {
                return Ok(());
            }
            if receive(&mut self.tls, &mut self.socket).map_err(lost)? == 0 {
                return Err(TlsError::Closed);
            }
            if let Err(error) = self.tls.process_new_packets() {
                // An alert tells the server why; it may be deaf.
                let _ = self.flush();
                return Err(error.into());
            }
        }
    }

    /// The socket below.
    pub const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Returns `true` if bytes that were written are still to be sent; [`Write::flush`] sends them.
    pub fn has_unsent(&self) -> bool {
        !self.clear.is_empty() || !self.in_clear && self.tls.wants_write()
    }

    /// Sends the next part of the handshake, as far as the socket takes it. What it does not take
    /// is [unsent](Self::has_unsent).
    fn answer_handshake(&mut self) -> io::Result<()> {
        match self.flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }
}

impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.in_clear {
            return self.socket.read(buffer);
        }
        loop {
            match self.tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            receive(&mut self.tls, &mut self.socket)?;
            let processed = self.tls.process_new_packets();
            if self.tls.wants_write() {
                // An alert among it tells the server why it failed; it may be deaf.
                let answered = self.answer_handshake();
                if processed.is_ok() {
                    answered?;
                }
            }
            processed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }
}

/// Writing encrypts and keeps everything, flushing sends. A flush of a socket that does not block
/// fails with `WouldBlock` where it could not send all; it goes on when called again.
impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.in_clear {
            return self.clear.write(bytes);
        }
        self.tls.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.clear.is_empty() {
            match self.socket.write(&self.clear) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => drop(self.clear.drain(..result?)),
            }
        }
        while !self.in_clear && self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => result.map(drop)?,
            }
        }
        Ok(())
    }
}

/// Reads what came, encrypted. A socket with a timeout breaks a read off when the process is stopped
/// and goes on, as it is between the turns of a trial: it is read again.
fn receive(tls: &mut ClientConnection, socket: &mut impl Read) -> io::Result<usize> {
    loop {
        match tls.read_tls(socket) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn server_name(address: &Address) -> Result<ServerName<'static>, InvalidDnsNameError> {
    match address {
        Address::Unix(_) => ServerName::try_from(LOCAL_NAME),
        Address::Tcp(address) => Ok(ServerName::from(address.ip())),
    }
}
