//! The protocol of PostgreSQL.

use std::io::{ErrorKind, Read};

use prony_wire::postgres::{begin_message, finish_message};

use super::{Door, Peer, PreparedText, Reply, sqlstate, text};

impl Peer {
    pub(super) fn converse_postgres(&mut self) -> std::io::Result<()> {
        let mut door = (self.play.doors)(self.connection);
        self.hear_startup()?;
        if let Door::Greeting(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.deliver(&message(b'R', &[0, 0, 0, 3]))?;
        }
        self.hear_message()?;
        if let Door::Login(bytes, then) = &door {
            self.say_bytes(bytes, *then)?;
        } else {
            self.deliver(&accepted())?;
        }
        // Messages up to the one that wants an answer.
        let mut name = String::new();
        let mut executed = None;
        loop {
            let (tag, content) = self.hear_message()?;
            match tag {
                b'X' => return Ok(()),
                b'Q' => {
                    let reply = self.asked(text(&content[..content.len() - 1]));
                    self.reply_to(reply, false)?;
                }
                b'P' => {
                    let mut parts = content.split(|byte| *byte == 0).map(text);
                    name = parts.next().unwrap();
                    let sql = parts.next().unwrap();
                    let params = sql.matches('$').count();
                    let types = Vec::new();
                    let prepared = PreparedText { sql, params, types };
                    self.prepared.insert(name.clone(), prepared);
                }
                b'D' => assert_eq!(content, format!("S{name}\0").into_bytes()),
                b'B' => executed = Some(self.bound(&content)),
                b'E' => assert_eq!(content, [0; 5]),
                b'S' => match (executed.take(), std::mem::replace(&mut door, Door::Open)) {
                    (Some(sql), _) => {
                        let reply = self.asked(sql);
                        self.reply_to(reply, true)?;
                    }
                    (None, Door::Prepare(bytes, then)) => self.say_bytes(&bytes, then)?,
                    (None, _) => self.deliver(&described(self.prepared[&name].params))?,
                },
                other => panic!("unexpected message {other:#x}"),
            }
        }
    }

    /// Answers a statement; one that was prepared has no description of columns.
    fn reply_to(&mut self, reply: Reply, is_prepared: bool) -> std::io::Result<()> {
        let start = |answer: Vec<u8>| {
            if is_prepared {
                [message(b'2', b""), answer].concat()
            } else {
                answer
            }
        };
        match reply {
            Reply::Ok(affected) => self.deliver(&start(changed(affected))),
            Reply::Err(code) => self.deliver(&start(refused(sqlstate(code)))),
            Reply::Rows(count) => self.deliver(&start(described_rows(count, is_prepared))),
            Reply::Text(values) => self.deliver(&start(text_result(&values))),
            Reply::RowsThenErr(count, code) => {
                let rows = (0..count).flat_map(|_| row(&["abc"])).collect();
                self.deliver(&start([rows, refused(sqlstate(code))].concat()))
            }
            Reply::HangUp => {
                self.deliver(&start(row(&["abc"])))?;
                Err(ErrorKind::ConnectionAborted.into())
            }
            Reply::Bytes(bytes, then) => self.say_bytes(&bytes, then),
            Reply::LoadRows => self.take_copy(),
        }
    }

    fn take_copy(&mut self) -> std::io::Result<()> {
        self.deliver(&message(b'G', &[0, 0, 0]))?;
        let mut rows = Vec::new();
        loop {
            match self.hear_message()? {
                (b'd', content) => rows.extend_from_slice(&content),
                (tag, _) => break assert_eq!(tag, b'c'),
            }
        }
        self.note(&text(&rows));
        self.deliver(&changed(0))
    }

    fn hear_startup(&mut self) -> std::io::Result<()> {
        let content = self.hear_content()?;
        assert_eq!(content[..4], [0, 3, 0, 0]);
        Ok(())
    }

    fn hear_message(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let mut tag = [0];
        self.stream.read_exact(&mut tag)?;
        Ok((tag[0], self.hear_content()?))
    }

    fn hear_content(&mut self) -> std::io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut content = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.stream.read_exact(&mut content)?;
        Ok(content)
    }

    /// The statement that a `Bind` names, with its values in their places.
    fn bound(&self, content: &[u8]) -> String {
        // The unnamed portal.
        let rest = content.strip_prefix(&[0]).unwrap();
        let end = rest.iter().position(|byte| *byte == 0).unwrap();
        let prepared = &self.prepared[&text(&rest[..end])];
        let mut rest = &rest[end + 1..];
        let formats: Vec<u16> = (0..number(&mut rest)).map(|_| number(&mut rest)).collect();
        assert_eq!(usize::from(number(&mut rest)), prepared.params);
        let mut sql = String::new();
        let mut pieces = prepared.sql.split('$');
        sql.push_str(pieces.next().unwrap());
        for (index, piece) in pieces.enumerate() {
            let (length, after) = rest.split_at(4);
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            let (value, after) = after.split_at(length);
            rest = after;
            let format = match formats[..] {
                [] => 0,
                [all] => all,
                _ => formats[index],
            };
            let place = (index + 1).to_string();
            // Places come in their order, with the type of an integer.
            let piece = piece.strip_prefix(&place).unwrap();
            let (value, kind) = match (format, length) {
                (0, _) => (format!("'{}'", text(value)), ""),
                (_, 4) => {
                    let value = i32::from_be_bytes(value.try_into().unwrap());
                    (value.to_string(), "::int4")
                }
                _ => {
                    let value = i64::from_be_bytes(value.try_into().unwrap());
                    (value.to_string(), "::int8")
                }
            };
            sql.push_str(&value);
            sql.push_str(piece.strip_prefix(kind).unwrap());
        }
        assert_eq!(rest, [0, 1, 0, 1], "rows come in binary");
        sql
    }
}

fn number(rest: &mut &[u8]) -> u16 {
    let (number, after) = rest.split_at(2);
    *rest = after;
    u16::from_be_bytes(number.try_into().unwrap())
}

/// A message of the server.
pub(crate) fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = begin_message(&mut bytes, tag);
    bytes.extend_from_slice(content);
    finish_message(&mut bytes, start);
    bytes
}

/// The server waits for the next statement.
pub(crate) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// The end of a login.
pub(crate) fn accepted() -> Vec<u8> {
    [
        message(b'R', &[0; 4]),
        message(b'S', b"server_version\x0018.6\0"),
        message(b'K', &[1; 8]),
        ready(),
    ]
    .concat()
}

/// The answer to a statement that is to be prepared.
pub(crate) fn described(params: usize) -> Vec<u8> {
    let [high, low] = u16::try_from(params).unwrap().to_be_bytes();
    let types = [0, 0, 0, 23].repeat(params);
    [
        message(b'1', b""),
        message(b't', &[&[high, low][..], &types].concat()),
        message(b'n', b""),
        ready(),
    ]
    .concat()
}

/// An error of this severity.
pub(crate) fn error(severity: &str, code: &str) -> Vec<u8> {
    let fields = format!("S{severity}\0V{severity}\0C{code}\0Mas the test wants\0\0");
    message(b'E', fields.as_bytes())
}

/// An answer that is an error.
pub(crate) fn refused(code: &str) -> Vec<u8> {
    [error("ERROR", code), ready()].concat()
}

pub(crate) fn changed(affected: u8) -> Vec<u8> {
    [done(&format!("UPDATE {affected}")), ready()].concat()
}

pub(crate) fn rows(count: usize) -> Vec<u8> {
    described_rows(count, false)
}

fn described_rows(count: usize, is_prepared: bool) -> Vec<u8> {
    let columns = if is_prepared {
        Vec::new()
    } else {
        columns(&["k"])
    };
    let rows: Vec<u8> = (0..count).flat_map(|_| row(&["abc"])).collect();
    [columns, rows, done(&format!("SELECT {count}")), ready()].concat()
}

fn text_result(values: &[(&str, String)]) -> Vec<u8> {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let values: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
    [columns(&names), row(&values), done("SELECT 1"), ready()].concat()
}

fn done(words: &str) -> Vec<u8> {
    message(b'C', format!("{words}\0").as_bytes())
}

fn columns(names: &[&str]) -> Vec<u8> {
    let mut content = u16::try_from(names.len()).unwrap().to_be_bytes().to_vec();
    for name in names {
        content.extend_from_slice(name.as_bytes());
        content.extend_from_slice(&[0; 19]);
    }
    message(b'T', &content)
}

pub(crate) fn row(values: &[&str]) -> Vec<u8> {
    let mut content = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        content.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
        content.extend_from_slice(value.as_bytes());
    }
    message(b'D', &content)
}
