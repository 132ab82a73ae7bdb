//! Answers of the server, as bytes that are made once.
//!
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>

use prony_wire::postgres::{begin_message, finish_message};

use crate::statement::{Kind, VALUE};

/// The number of the type CHAR(n) (`pg_type.dat`: bpchar).
const BPCHAR: u32 = 1042;
/// Length of the column, and four for the length itself, as the servers have it.
const MODIFIER: u32 = 124;
/// The process of every session, and its secret.
const KEY: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 0];
/// What a client is told at first.
const SETTINGS: [(&str, &str); 4] = [
    ("server_version", "18.0 (null)"),
    ("server_encoding", "LATIN1"),
    ("client_encoding", "LATIN1"),
    ("integer_datetimes", "on"),
];

/// The answer to what came up to a `Sync`, or to one statement as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The account is let in.
    Welcome,
    /// Encryption is not offered.
    NotEncrypted,
    /// The result of a statement as text.
    Text(Kind),
    /// The result of an execution, and nothing else.
    Executed(Kind),
    /// All else.
    Batch(Batch),
    /// No.
    Refused(Refusal),
}

/// Answers to messages, each of which comes at most once before a `Sync`; in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// A statement was parsed.
    pub(crate) parsed: bool,
    /// The parameters of a statement are described, and its columns.
    pub(crate) described: Option<(u16, Kind)>,
    /// Values were bound.
    pub(crate) bound: bool,
    /// The columns of a portal are described.
    pub(crate) columns: Option<Kind>,
    /// A portal was executed.
    pub(crate) executed: Option<Kind>,
    /// A statement or portal was closed.
    pub(crate) closed: bool,
}

/// Reason why a request is refused, as servers say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The first message is none of protocol 3.
    Startup,
    /// A message that is none, or too long.
    Message,
    /// A message that this server does not know here.
    Unsupported,
    /// A statement that this server has not prepared.
    UnknownStatement,
}

impl Refusal {
    /// Returns `true` if the conversation can't go on.
    pub(crate) const fn ends_conversation(self) -> bool {
        matches!(self, Self::Startup | Self::Message)
    }

    /// Code and message of the servers' errors.
    const fn error(self) -> (&'static str, &'static str) {
        match self {
            Self::Startup => ("0A000", "unsupported frontend protocol"),
            Self::Message => ("08P01", "invalid message"),
            Self::Unsupported => ("0A000", "the null server does not answer this"),
            Self::UnknownStatement => ("26000", "prepared statement does not exist"),
        }
    }
}

/// Answers that are the same every time.
pub(crate) struct Canned {
    welcome: Vec<u8>,
    text: [Vec<u8>; 3],
    executed: [Vec<u8>; 3],
}

const KINDS: [Kind; 3] = [Kind::Rows, Kind::Change, Kind::Control];

const fn place(kind: Kind) -> usize {
    match kind {
        Kind::Rows => 0,
        Kind::Change => 1,
        Kind::Control => 2,
    }
}

impl Canned {
    /// Makes the answers.
    pub(crate) fn new() -> Self {
        let mut welcome = Vec::new();
        append_message(&mut welcome, b'R', &[0; 4]);
        for (name, value) in SETTINGS {
            let setting = [name, "\0", value, "\0"].concat();
            append_message(&mut welcome, b'S', setting.as_bytes());
        }
        append_message(&mut welcome, b'K', &KEY);
        append_ready(&mut welcome);
        let text = KINDS.map(|kind| {
            let mut out = Vec::new();
            if kind == Kind::Rows {
                append_columns(&mut out, kind);
            }
            append_result(&mut out, kind);
            append_ready(&mut out);
            out
        });
        let executed = KINDS.map(|kind| {
            let mut out = Vec::new();
            append_message(&mut out, b'2', b"");
            append_result(&mut out, kind);
            append_ready(&mut out);
            out
        });
        Self {
            welcome,
            text,
            executed,
        }
    }

    /// Appends an answer.
    pub(crate) fn append(&self, answer: Answer, out: &mut Vec<u8>) {
        match answer {
            Answer::Welcome => out.extend_from_slice(&self.welcome),
            Answer::NotEncrypted => out.push(b'N'),
            Answer::Text(kind) => out.extend_from_slice(&self.text[place(kind)]),
            Answer::Executed(kind) => out.extend_from_slice(&self.executed[place(kind)]),
            Answer::Batch(batch) => {
                append_batch(out, batch);
                append_ready(out);
            }
            Answer::Refused(refusal) => append_refusal(out, refusal),
        }
    }
}

fn append_batch(out: &mut Vec<u8>, batch: Batch) {
    if batch.parsed {
        append_message(out, b'1', b"");
    }
    if let Some((params, kind)) = batch.described {
        let mut types = params.to_be_bytes().to_vec();
        types.extend(BPCHAR.to_be_bytes().repeat(usize::from(params)));
        append_message(out, b't', &types);
        append_columns(out, kind);
    }
    if batch.bound {
        append_message(out, b'2', b"");
    }
    if let Some(kind) = batch.columns {
        append_columns(out, kind);
    }
    if let Some(kind) = batch.executed {
        append_result(out, kind);
    }
    if batch.closed {
        append_message(out, b'3', b"");
    }
}

/// The column `c`, or none.
fn append_columns(out: &mut Vec<u8>, kind: Kind) {
    if kind != Kind::Rows {
        append_message(out, b'n', b"");
        return;
    }
    // Neither table nor place in it; a length that varies; the format is not known before it is asked.
    let mut content = b"\0\x01c\0\0\0\0\0\0\0".to_vec();
    content.extend_from_slice(&BPCHAR.to_be_bytes());
    content.extend_from_slice(&[0xff, 0xff]);
    content.extend_from_slice(&MODIFIER.to_be_bytes());
    content.extend_from_slice(&[0, 0]);
    append_message(out, b'T', &content);
}

/// One row, which is the same as text and in binary, or one row changed, or nothing.
fn append_result(out: &mut Vec<u8>, kind: Kind) {
    let words: &[u8] = match kind {
        Kind::Rows => {
            // Servers send texts of this type with the blanks that fill them.
            let value = format!("{VALUE:120}");
            let mut row = b"\0\x01\0\0\0\x78".to_vec();
            row.extend_from_slice(value.as_bytes());
            append_message(out, b'D', &row);
            b"SELECT 1\0"
        }
        Kind::Change => b"UPDATE 1\0",
        Kind::Control => b"SET\0",
    };
    append_message(out, b'C', words);
}

fn append_refusal(out: &mut Vec<u8>, refusal: Refusal) {
    let (code, message) = refusal.error();
    let severity = if refusal.ends_conversation() {
        "FATAL"
    } else {
        "ERROR"
    };
    let fields = format!("S{severity}\0V{severity}\0C{code}\0M{message}\0\0");
    append_message(out, b'E', fields.as_bytes());
    if !refusal.ends_conversation() {
        append_ready(out);
    }
}

/// No transaction is ever open.
fn append_ready(out: &mut Vec<u8>) {
    append_message(out, b'Z', b"I");
}

fn append_message(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    let start = begin_message(out, tag);
    out.extend_from_slice(content);
    finish_message(out, start);
}

#[cfg(test)]
mod tests {
    use prony_wire::Progress;
    use prony_wire::postgres::PostgresSkimmer;

    use super::*;

    fn said(answer: Answer) -> Vec<u8> {
        let mut out = Vec::new();
        Canned::new().append(answer, &mut out);
        out
    }

    /// The load generator's reading of an answer.
    fn skimmed(answer: Answer) -> PostgresSkimmer {
        let bytes = said(answer);
        let mut skimmer = PostgresSkimmer::default();
        skimmer.start();
        let consumed = bytes.len();
        assert_eq!(skimmer.feed(&bytes), Ok(Progress::Done { consumed }));
        skimmer
    }

    #[test]
    fn rows_hold_what_sbtest_holds() {
        for answer in [Answer::Text(Kind::Rows), Answer::Executed(Kind::Rows)] {
            let tally = skimmed(answer).tally();
            assert_eq!((tally.rows, tally.affected, tally.packets), (1, 0, 4));
        }
        // As measured with a server, of the same table.
        assert_eq!(said(Answer::Text(Kind::Rows)).len(), 178);
        assert_eq!(said(Answer::Executed(Kind::Rows)).len(), 156);
    }

    #[test]
    fn changes_say_how_many_rows() {
        for (kind, affected) in [(Kind::Change, 1), (Kind::Control, 0)] {
            for answer in [Answer::Text(kind), Answer::Executed(kind)] {
                let tally = skimmed(answer).tally();
                assert_eq!((tally.rows, tally.affected), (0, affected));
            }
        }
    }

    #[test]
    fn refusals_carry_the_errors_of_servers() {
        let skimmer = skimmed(Answer::Refused(Refusal::UnknownStatement));
        let refused = skimmer.refused().unwrap();
        assert_eq!((refused.code, refused.is_fatal), (&b"26000"[..], false));
        let skimmer = skimmed(Answer::Refused(Refusal::Startup));
        assert!(skimmer.refused().unwrap().is_fatal);
    }

    #[test]
    fn batches_answer_in_the_order_of_their_messages() {
        let tags = |batch| {
            let bytes = said(Answer::Batch(batch));
            let mut rest = bytes.as_slice();
            let mut tags = String::new();
            while let Some((tag, after)) = rest.split_first() {
                tags.push(char::from(*tag));
                let length = u32::from_be_bytes(*after.first_chunk().unwrap());
                rest = &after[length as usize..];
            }
            tags
        };
        let all = Batch {
            parsed: true,
            described: Some((300, Kind::Change)),
            bound: true,
            columns: Some(Kind::Rows),
            executed: Some(Kind::Rows),
            closed: true,
        };
        assert_eq!(tags(all), "1tn2TDC3Z");
        assert_eq!(tags(Batch::default()), "Z");
        let executed = Batch {
            bound: true,
            executed: Some(Kind::Change),
            ..Batch::default()
        };
        let canned = said(Answer::Executed(Kind::Change));
        assert_eq!(said(Answer::Batch(executed)), canned);
    }
}
