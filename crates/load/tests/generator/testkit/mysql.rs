//! The protocol of MySQL.

use std::io::{ErrorKind, Read};

use prony_wire::append_packet;

use super::{Door, Peer, PreparedText, Reply, text};

impl Peer {
    pub(super) fn converse_mysql(&mut self) -> std::io::Result<()> {
        let mut door = (self.play.doors)(self.connection);
        if let Door::Greeting(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.say(0, &[greeting()])?;
        }
        self.hear()?;
        if let Door::Login(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.say(2, &[ok(0)])?;
        }
        loop {
            let request = self.hear()?;
            let sql = match request[0] {
                0x01 => return Ok(()),
                0x03 => text(&request[1..]),
                0x16 => {
                    match std::mem::replace(&mut door, Door::Open) {
                        Door::Prepare(bytes, then) => self.say_bytes(&bytes, then)?,
                        _ => self.prepare(&text(&request[1..]))?,
                    }
                    continue;
                }
                0x17 => self.execution(&request),
                // Numbers of statements are not given again.
                0x19 => continue,
                other => panic!("unexpected command {other:#x}"),
            };
            let reply = self.asked(sql);
            self.reply(reply)?;
        }
    }

    fn reply(&mut self, reply: Reply) -> std::io::Result<()> {
        match reply {
            Reply::Ok(affected) => self.say(1, &[ok(affected)]),
            Reply::Err(code) => self.say(1, &[err(code)]),
            Reply::Rows(count) => {
                let mut packets = rows(count);
                packets.push(eof());
                self.say(1, &packets)
            }
            Reply::Text(values) => self.say(1, &text_result(&values)),
            Reply::RowsThenErr(count, code) => {
                let mut packets = rows(count);
                packets.push(err(code));
                self.say(1, &packets)
            }
            Reply::HangUp => {
                self.say(1, &rows(1))?;
                Err(ErrorKind::ConnectionAborted.into())
            }
            Reply::Bytes(bytes, then) => self.say_bytes(&bytes, then),
            Reply::LoadRows => self.take_rows(),
        }
    }

    fn take_rows(&mut self) -> std::io::Result<()> {
        self.say(1, &[b"\xfbrows".to_vec()])?;
        let mut lines = Vec::new();
        let mut sequence = 2_u8;
        loop {
            let packet = self.hear()?;
            sequence = sequence.wrapping_add(1);
            if packet.is_empty() {
                break;
            }
            lines.extend_from_slice(&packet);
        }
        self.note(&text(&lines));
        self.say(sequence, &[ok(0)])
    }

    fn say(&mut self, sequence: u8, packets: &[Vec<u8>]) -> std::io::Result<()> {
        self.deliver(&framed(sequence, packets))
    }

    fn hear(&mut self) -> std::io::Result<Vec<u8>> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header)?;
        let [a, b, c, _] = header.map(usize::from);
        let mut payload = vec![0; a | b << 8 | c << 16];
        self.stream.read_exact(&mut payload)?;
        Ok(payload)
    }

    fn prepare(&mut self, sql: &str) -> std::io::Result<()> {
        let params = sql.matches('?').count();
        let id = u8::try_from(self.prepared.len()).unwrap();
        let prepared = PreparedText {
            sql: sql.to_owned(),
            params,
            types: Vec::new(),
        };
        self.prepared.insert(id.to_string(), prepared);
        let [low, high] = u16::try_from(params).unwrap().to_le_bytes();
        let mut packets = vec![vec![0, id, 0, 0, 0, 0, 0, low, high, 0, 0, 0]];
        if params > 0 {
            packets.extend((0..params).map(|_| definition()));
            packets.push(eof());
        }
        self.say(1, &packets)
    }

    /// The statement of a `COM_STMT_EXECUTE` with its values in place of the question marks.
    fn execution(&mut self, request: &[u8]) -> String {
        let prepared = self.prepared.get_mut(&request[1].to_string()).unwrap();
        if prepared.params == 0 {
            assert_eq!(request.len(), 10);
            return prepared.sql.clone();
        }
        let mut at = 10 + prepared.params.div_ceil(8);
        let types_sent = request[at] == 1;
        at += 1;
        if types_sent {
            prepared.types = request[at..at + 2 * prepared.params]
                .chunks(2)
                .map(|pair| pair[0])
                .collect();
            at += 2 * prepared.params;
        }
        assert_eq!(prepared.types.len(), prepared.params, "types come first");
        let mut sql = String::new();
        let mut pieces = prepared.sql.split('?');
        sql.push_str(pieces.next().unwrap());
        for (piece, kind) in pieces.zip(&prepared.types) {
            if *kind == 8 {
                let bytes = request[at..at + 8].try_into().unwrap();
                sql.push_str(&i64::from_le_bytes(bytes).to_string());
                at += 8;
            } else {
                let length = usize::from(request[at]);
                assert!(length < 0xfb, "short texts only");
                let value = text(&request[at + 1..=at + length]);
                sql.extend(["'", value.as_str(), "'"]);
                at += 1 + length;
            }
            sql.push_str(piece);
        }
        assert_eq!(at, request.len());
        sql
    }
}

pub(crate) fn greeting() -> Vec<u8> {
    let mut greeting = b"\x0a5.6.24\0\x01\0\0\0abcdefgh\0\xff\xf7\x08\x02\0\x08\0\x15".to_vec();
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    greeting
}

/// Packets as bytes, numbered from the given number on.
pub(crate) fn framed(mut sequence: u8, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        sequence = append_packet(&mut bytes, sequence, packet);
    }
    bytes
}

pub(crate) fn ok(affected: u8) -> Vec<u8> {
    vec![0, affected, 0, 2, 0, 0, 0]
}

pub(crate) fn eof() -> Vec<u8> {
    vec![0xfe, 0, 0, 2, 0]
}

pub(crate) fn err(code: u16) -> Vec<u8> {
    let mut packet = vec![0xff];
    packet.extend_from_slice(&code.to_le_bytes());
    packet.extend_from_slice(b"#HY000as the test wants");
    packet
}

pub(crate) fn definition() -> Vec<u8> {
    named_definition("k")
}

fn named_definition(name: &str) -> Vec<u8> {
    let mut packet = b"\x03def\0\0\0".to_vec();
    packet.extend(short_text(name));
    packet.extend_from_slice(b"\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0");
    packet
}

fn short_text(text: &str) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(text.len()).unwrap()];
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn text_result(values: &[(&str, String)]) -> Vec<Vec<u8>> {
    let mut packets = vec![vec![u8::try_from(values.len()).unwrap()]];
    packets.extend(values.iter().map(|(name, _)| named_definition(name)));
    packets.push(eof());
    packets.push(
        values
            .iter()
            .flat_map(|(_, value)| short_text(value))
            .collect(),
    );
    packets.push(eof());
    packets
}

pub(crate) fn rows(count: usize) -> Vec<Vec<u8>> {
    let mut packets = vec![vec![1], definition(), eof()];
    packets.extend((0..count).map(|_| b"\x03abc".to_vec()));
    packets
}
