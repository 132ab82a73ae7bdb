//! A connection and its query.

use std::io::{Read, Write};
use std::time::Duration;

use prony_client::{Connection, Socket, Stream};
use prony_model::Protocol;
use prony_wire::{Progress, Skimmer, Types};

use crate::job::Job;
use crate::request::{PREPARED, Request};

/// Bytes received at once: many times those of an answer.
pub(crate) const BUFFER_SIZE: usize = 4096;
/// How long the server may be silent while connecting.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A connection that has asked once already.
pub(crate) struct Client {
    socket: Socket,
    pub(crate) request: Request,
    /// Bytes of every answer: all rows of the table have as many.
    pub(crate) answer_size: usize,
}

impl Client {
    /// Connects, prepares and asks for the first row.
    pub(crate) fn connect(job: &Job) -> Self {
        let mut connection = Connection::connect(&job.address, &job.login(), TIMEOUT).unwrap();
        let (mut first, mut request) = match job.protocol {
            Protocol::Text => (Request::text(), Request::text()),
            Protocol::Prepared => {
                let statement = connection.prepare(PREPARED).unwrap();
                (
                    Request::prepared(statement, Types::Sent),
                    Request::prepared(statement, Types::Omitted),
                )
            }
        };
        request.reserve();
        connection.set_timeout(None).unwrap();
        let Stream::Plain(mut socket) = connection.into_stream().unwrap() else {
            unreachable!("the login does not ask for TLS");
        };
        socket.write_all(first.with(1)).unwrap();
        let answer_size = skim(&mut socket);
        Self {
            socket,
            request,
            answer_size,
        }
    }

    pub(crate) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends the query in one piece.
    #[inline]
    pub(crate) fn ask(&mut self, id: u64) {
        let request = self.request.with(id);
        let sent = self.socket.write(request).unwrap();
        assert_eq!(sent, request.len(), "a request went out in pieces");
    }

    /// Receives an answer in one piece.
    #[inline]
    pub(crate) fn hear(&mut self, buffer: &mut [u8]) {
        let received = self.socket.read(buffer).unwrap();
        self.check(received);
    }

    /// An answer counts when it has as many bytes as the first: its last packet is there, and it is
    /// neither an error nor without the row.
    #[inline]
    pub(crate) fn check(&self, received: usize) {
        assert_eq!(received, self.answer_size, "unexpected answer");
    }
}

/// Reads an answer as the load generator does, and says how many bytes it had.
fn skim(socket: &mut Socket) -> usize {
    let mut buffer = [0; BUFFER_SIZE];
    let mut skimmer = Skimmer::default();
    skimmer.start(1);
    let mut size = 0;
    loop {
        let received = socket.read(&mut buffer).unwrap();
        assert!(received > 0, "the server closed the connection");
        size += received;
        if skimmer.feed(&buffer[..received]).unwrap() != Progress::More {
            assert_eq!(skimmer.error(), None, "the server refused the query");
            assert_eq!(skimmer.tally().rows, 1, "the first row is missing");
            return size;
        }
    }
}
