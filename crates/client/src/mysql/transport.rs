//! Packets over a socket, in order, with a limit on silence.

use std::io::{self, BufReader, Read, Write};
use std::time::Duration;

use prony_model::Tls;
use prony_wire::{HEADER_SIZE, PAYLOAD_MAX, WireError, append_packet, append_quit, read_header};

use crate::{Address, ClientError, Encryption, Socket, Stream, TlsError, TlsStream};

/// Room that is made for a packet before it came.
const RESERVE_MAX: usize = 1 << 16;

/// One side of a conversation. Nothing is read ahead of the packet asked for but what the system
/// had ready.
pub(crate) struct Transport {
    stream: BufReader<Stream>,
    timeout: Option<Duration>,
    /// Number of the packet that comes next, from either side.
    sequence: u8,
}

impl Transport {
    /// Connects, waiting at most `timeout` where the server's queue is full.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> Result<Self, ClientError> {
        let socket = Socket::connect(address, timeout).map_err(|source| ClientError::Connect {
            address: address.clone(),
            source,
        })?;
        let mut transport = Self::new(socket);
        transport.set_timeout(Some(timeout))?;
        Ok(transport)
    }

    /// Over a socket on which nothing was said yet.
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            stream: BufReader::new(Stream::Plain(socket)),
            timeout: None,
            sequence: 0,
        }
    }

    /// The socket.
    pub(crate) fn socket(&self) -> &Socket {
        self.stream.get_ref().socket()
    }

    /// Limits how long the other side may be silent, or deaf. `None` waits forever.
    pub(crate) fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), ClientError> {
        self.stream
            .get_ref()
            .socket()
            .set_timeouts(timeout)
            .map_err(|source| ClientError::Io { source })?;
        self.timeout = timeout;
        Ok(())
    }

    /// Sends framed bytes; the answer begins with packet `sequence`.
    pub(crate) fn send(&mut self, bytes: &[u8], sequence: u8) -> Result<(), ClientError> {
        self.sequence = sequence;
        self.stream
            .get_mut()
            .write_all(bytes)
            .and_then(|()| self.stream.get_mut().flush())
            .map_err(|source| self.explain(source))
    }

    /// Sends what `append` frames; it returns the number of the packet that the answer begins with.
    pub(crate) fn request(
        &mut self,
        append: impl FnOnce(&mut Vec<u8>) -> u8,
    ) -> Result<(), ClientError> {
        let mut bytes = Vec::new();
        let sequence = append(&mut bytes);
        self.send(&bytes, sequence)
    }

    /// Sends a payload as the next packet of the conversation.
    pub(crate) fn reply(&mut self, payload: &[u8]) -> Result<(), ClientError> {
        let sequence = self.sequence;
        self.request(|out| append_packet(out, sequence, payload))
    }

    /// Receives a packet, joined from its frames.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut payload = Vec::new();
        while self.receive_frame(&mut payload)? {}
        Ok(payload)
    }

    /// Appends the payload of the next frame; tells whether its packet goes on.
    fn receive_frame(&mut self, payload: &mut Vec<u8>) -> Result<bool, ClientError> {
        let mut header = [0; HEADER_SIZE];
        let read = self.stream.read_exact(&mut header);
        read.map_err(|source| self.explain(source))?;
        let (length, found) = read_header(header);
        if found != self.sequence {
            return Err(ClientError::from(WireError::Sequence {
                expected: self.sequence,
                found,
            }));
        }
        self.sequence = self.sequence.wrapping_add(1);
        // Memory is taken for what came, and not for all that is only announced.
        payload.reserve(length.min(RESERVE_MAX));
        let mut body = (&mut self.stream).take(length as u64);
        match body.read_to_end(payload) {
            Ok(read) if read < length => Err(ClientError::Closed),
            Ok(_) => Ok(length == PAYLOAD_MAX),
            Err(source) => Err(self.explain(source)),
        }
    }

    fn explain(&self, source: io::Error) -> ClientError {
        ClientError::broken(source, self.timeout)
    }

    /// Says goodbye, as far as the socket takes it.
    pub(crate) fn quit(&mut self) {
        let mut bytes = Vec::new();
        append_quit(&mut bytes);
        // A server that is gone needs no goodbye.
        let _ = self.send(&bytes, 0);
    }

    /// Goes on in TLS. Nothing may have come that was not asked for: whoever stands in between
    /// could have said it.
    pub(crate) fn encrypt(self, address: &Address, tls: &Tls) -> Result<Self, TlsError> {
        let surplus = self.stream.buffer().len();
        match self.stream.into_inner() {
            Stream::Plain(socket) if surplus == 0 => {
                let encryption = Encryption::new(address, tls)?;
                let stream = TlsStream::connect(socket, &encryption)?;
                Ok(Self {
                    stream: BufReader::new(Stream::Tls(Box::new(stream))),
                    timeout: self.timeout,
                    sequence: self.sequence,
                })
            }
            _ => Err(TlsError::Handshake {
                reason: format!(
                    "the server sent {surplus} unexpected {} without encryption",
                    if surplus == 1 { "byte" } else { "bytes" }
                ),
            }),
        }
    }

    pub(crate) fn into_stream(self) -> Stream {
        self.stream.into_inner()
    }
}
