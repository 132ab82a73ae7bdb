//! TLS over a socket.
//!
//! Every connection shakes hands in full: nothing is resumed, so that connections cost alike and
//! share nothing. Versions 1.2 and 1.3, with what rustls takes for secure; older servers can't be
//! talked to.

mod error;
#[cfg(test)]
mod tests;
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

/// A socket with TLS on it.
#[derive(Debug)]
pub struct TlsStream {
    socket: Socket,
    tls: ClientConnection,
}

impl TlsStream {
    /// Shakes hands.
    pub(crate) fn connect(socket: Socket, address: &Address, mode: &Tls) -> Result<Self, TlsError> {
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
        let mut tls = ClientConnection::new(Arc::new(config), name)?;
        // Requests are encrypted whole, however long they are.
        tls.set_buffer_limit(None);
        let mut stream = Self { socket, tls };
        stream.shake_hands()?;
        Ok(stream)
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
            if self.tls.read_tls(&mut self.socket).map_err(lost)? == 0 {
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

    /// Whether encrypted bytes are still to be sent; [`Write::flush`] sends them.
    pub fn has_unsent(&self) -> bool {
        self.tls.wants_write()
    }
}

impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            self.tls.read_tls(&mut self.socket)?;
            self.tls
                .process_new_packets()
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }
}

/// Writing encrypts and keeps everything, flushing sends. A flush of a socket that does not block
/// fails with `WouldBlock` where it could not send all; it goes on when called again.
impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tls.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => result.map(drop)?,
            }
        }
        Ok(())
    }
}

fn server_name(address: &Address) -> Result<ServerName<'static>, InvalidDnsNameError> {
    match address {
        Address::Unix(_) => ServerName::try_from(LOCAL_NAME),
        Address::Tcp(address) => Ok(ServerName::from(address.ip())),
    }
}
