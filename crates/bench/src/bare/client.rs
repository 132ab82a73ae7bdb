//! A connection and its query.

use std::io::{Read, Write};
use std::time::Duration;

use prony_client::{Connection, Login, Socket, Stream};
use prony_load::Job;
use prony_model::{Family, Protocol};
use prony_wire::postgres::{
    PostgresExecute, PostgresParam, PostgresSkimmer, begin_message, finish_message,
};
use prony_wire::{
    ExecuteTemplate, ParamShape, Progress, Skimmer, Types, begin_query, finish_packet,
};

/// Bytes received at once: many times those of an answer.
pub(super) const BUFFER_SIZE: usize = 4096;
/// The longest silence of the server while connecting.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Digits of an id as text, with leading zeros: all requests have the same size.
const DIGITS: usize = 10;

/// A connection that has asked once already.
pub(super) struct Client {
    pub(super) socket: Socket,
    wire: Family,
    protocol: Protocol,
    request: Vec<u8>,
    /// Bytes of the request up to the end of the id.
    id_end: usize,
    /// Bytes of every answer: all rows of the table have the same size.
    answer_size: usize,
}

impl Client {
    /// Connects, prepares and asks for the first row.
    pub(super) fn connect(job: &Job, protocol: Protocol) -> Self {
        let login = Login {
            family: job.family,
            user: job.user.clone(),
            password: job.password.clone(),
            database: Some(job.database.clone()),
            tls: job.tls.clone(),
        };
        let mut connection = Connection::connect(&job.address, &login, TIMEOUT).unwrap();
        let wire = job.family.of_protocol();
        // The first execution carries the types in MySQL, the following ones do not.
        let (first, request) = match (wire, protocol) {
            (Family::Postgresql, Protocol::Text) => {
                let request = postgres_text_request();
                (request.clone(), request)
            }
            (Family::Postgresql, Protocol::Prepared) => {
                let query = "SELECT c FROM sbtest1 WHERE id = $1::int4";
                let id = connection.prepare(query).unwrap().id;
                let layout = PostgresExecute::new(&[PostgresParam::Int4]).unwrap();
                let mut request = layout.bytes().to_vec();
                PostgresExecute::set_id(&mut request, id);
                (request.clone(), request)
            }
            (_, Protocol::Text) => (text_request(), text_request()),
            (_, Protocol::Prepared) => {
                let query = "SELECT c FROM sbtest1 WHERE id = ?";
                let statement = connection.prepare(query).unwrap();
                let request = |types| {
                    let template = ExecuteTemplate::new(&[ParamShape::Integer], types).unwrap();
                    let mut bytes = template.bytes().to_vec();
                    bytes[ExecuteTemplate::ID].copy_from_slice(&statement.id.to_le_bytes());
                    bytes
                };
                (request(Types::Sent), request(Types::Omitted))
            }
        };
        connection.set_timeout(None).unwrap();
        let Stream::Plain(socket) = connection.into_stream().unwrap() else {
            unreachable!("the login does not ask for TLS");
        };
        // All that follows the id in a request of PostgreSQL is the same each time.
        let id_end = match (wire, protocol) {
            (Family::Postgresql, Protocol::Prepared) => {
                let layout = PostgresExecute::new(&[PostgresParam::Int4]).unwrap();
                layout.values()[0].end
            }
            (Family::Postgresql, Protocol::Text) => request.len() - 1,
            _ => request.len(),
        };
        let mut client = Self {
            wire,
            id_end,
            socket,
            protocol,
            request: first,
            answer_size: 0,
        };
        client.ask(1);
        client.answer_size = client.receive_first();
        client.request = request;
        client
    }

    /// The bytes to send for this id.
    #[inline]
    pub(super) fn request(&mut self, mut id: u64) -> &[u8] {
        let place = &mut self.request[..self.id_end];
        match self.protocol {
            Protocol::Prepared if self.wire == Family::Postgresql => {
                if let (Some(end), Ok(id)) = (place.last_chunk_mut(), u32::try_from(id)) {
                    *end = id.to_be_bytes();
                }
            }
            Protocol::Prepared => {
                if let Some(end) = place.last_chunk_mut() {
                    *end = id.to_le_bytes();
                }
            }
            Protocol::Text => {
                for digit in place.iter_mut().rev().take(DIGITS) {
                    *digit = b'0' + (id % 10) as u8;
                    id /= 10;
                }
            }
        }
        &self.request
    }

    /// Sends the query in one piece.
    #[inline]
    pub(super) fn ask(&mut self, id: u64) {
        self.request(id);
        let sent = self.socket.write(&self.request).unwrap();
        assert_eq!(sent, self.request.len(), "a request went out in pieces");
    }

    /// Receives an answer in one piece.
    #[inline]
    pub(super) fn receive(&mut self, buffer: &mut [u8]) {
        let received = self.socket.read(buffer).unwrap();
        self.check(received);
    }

    /// Accepts an answer with as many bytes as the first: it is complete, is no error and has the
    /// row.
    #[inline]
    pub(super) fn check(&self, received: usize) {
        assert_eq!(received, self.answer_size, "unexpected answer");
    }

    /// Reads the first answer as the load generator does. Returns its size in bytes.
    fn receive_first(&mut self) -> usize {
        let mut buffer = [0; BUFFER_SIZE];
        if self.wire == Family::Postgresql {
            return self.receive_first_of_postgres(&mut buffer);
        }
        let mut skimmer = Skimmer::default();
        skimmer.start(1);
        let mut size = 0;
        loop {
            let received = self.socket.read(&mut buffer).unwrap();
            assert!(received > 0, "the server closed the connection");
            size += received;
            if skimmer.feed(&buffer[..received]).unwrap() != Progress::More {
                assert_eq!(skimmer.error(), None, "the server refused the query");
                assert_eq!(skimmer.tally().rows, 1, "the first row is missing");
                return size;
            }
        }
    }
}

impl Client {
    fn receive_first_of_postgres(&mut self, buffer: &mut [u8]) -> usize {
        let mut skimmer = PostgresSkimmer::default();
        skimmer.start();
        let mut size = 0;
        loop {
            let received = self.socket.read(buffer).unwrap();
            assert!(received > 0, "the server closed the connection");
            size += received;
            if skimmer.feed(&buffer[..received]).unwrap() != Progress::More {
                assert_eq!(skimmer.refused(), None, "the server refused the query");
                assert_eq!(skimmer.tally().rows, 1, "the first row is missing");
                return size;
            }
        }
    }
}

fn postgres_text_request() -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = begin_message(&mut bytes, b'Q');
    bytes.extend_from_slice(b"SELECT c FROM sbtest1 WHERE id = ");
    bytes.extend_from_slice(&[b'0'; DIGITS]);
    bytes.push(0);
    finish_message(&mut bytes, start);
    bytes
}

fn text_request() -> Vec<u8> {
    let mut bytes = Vec::new();
    begin_query(&mut bytes);
    bytes.extend_from_slice(b"SELECT c FROM sbtest1 WHERE id = ");
    bytes.extend_from_slice(&[b'0'; DIGITS]);
    finish_packet(&mut bytes, 0, 0);
    bytes
}
