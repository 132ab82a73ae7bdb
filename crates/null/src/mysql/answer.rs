//! Answers of the server, as bytes that are made once.
//!
//! Layouts:
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_response_packets.html>,
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset.html>,
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html>,
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_prepare.html>

use prony_wire::{Capabilities, append_packet};

use crate::statement::{Kind, VALUE};

/// Its column, as a server describes it, without the length before each text.
const COLUMN: [&str; 6] = ["def", "sbtest", "sbtest1", "sbtest1", "c", "c"];
/// `latin1_swedish_ci`, which clients of Prony speak.
const CHARACTER_SET: u8 = 8;
/// The column's length in bytes.
const COLUMN_SIZE: u8 = 120;
/// `MYSQL_TYPE_STRING`.
const TYPE_STRING: u8 = 0xfe;
/// `MYSQL_TYPE_VAR_STRING`, of which parameters are said to be.
const TYPE_VAR_STRING: u8 = 0xfd;
/// `SERVER_STATUS_AUTOCOMMIT`, in two bytes.
const STATUS: [u8; 2] = [2, 0];

/// Capabilities that the server offers and can keep to.
const CAPABILITIES: Capabilities = Capabilities::WANTED.union(Capabilities::CONNECT_WITH_DB);

/// The answer to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The account is let in.
    Welcome,
    /// Done, with this many rows changed.
    Done {
        /// 0 or 1.
        affected: u8,
    },
    /// One row, as text.
    TextRow,
    /// One row, as prepared statements return it.
    BinaryRow,
    /// A statement is prepared.
    Prepared {
        /// Its number.
        id: u32,
        /// Its parameters.
        params: u16,
        /// Kind of result of its executions.
        kind: Kind,
    },
    /// No.
    Refused(Refusal),
}

/// Reason why a request is refused, as servers say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The first packet is no login of protocol 4.1 without TLS.
    Handshake,
    /// A packet's number is not the next.
    OutOfOrder,
    /// A request of more than one frame.
    TooLarge,
    /// A command that this server does not know, or that is cut short.
    UnknownCommand,
    /// A statement that this server has not prepared.
    UnknownStatement,
    /// More parameters than a prepared statement can have.
    TooManyParameters,
}

impl Refusal {
    /// Returns `true` if the conversation can't go on.
    pub(crate) const fn ends_conversation(self) -> bool {
        matches!(self, Self::Handshake | Self::OutOfOrder | Self::TooLarge)
    }

    /// Code, SQL state and message of the servers' errors.
    const fn error(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Handshake => (1043, "08S01", "Bad handshake"),
            Self::OutOfOrder => (1156, "08S01", "Got packets out of order"),
            Self::TooLarge => (1153, "08S01", "Got a packet bigger than 16777214 bytes"),
            Self::UnknownCommand => (1047, "08S01", "Unknown command"),
            Self::UnknownStatement => (1243, "HY000", "Unknown prepared statement handler"),
            Self::TooManyParameters => (
                1390,
                "HY000",
                "Prepared statement contains too many placeholders",
            ),
        }
    }
}

/// Answers that are the same every time.
pub(crate) struct Canned {
    text_row: Vec<u8>,
    binary_row: Vec<u8>,
    done: [Vec<u8>; 2],
}

impl Canned {
    /// Makes the answers.
    pub(crate) fn new() -> Self {
        let mut text_row = Vec::new();
        put_text(&mut text_row, VALUE);
        let mut binary_row = vec![0, 0];
        put_text(&mut binary_row, VALUE);
        Self {
            text_row: result(&text_row),
            binary_row: result(&binary_row),
            done: [0, 1].map(|affected| framed(1, &ok(affected))),
        }
    }

    /// Appends an answer, framed.
    pub(crate) fn append(&self, answer: Answer, out: &mut Vec<u8>) {
        match answer {
            Answer::TextRow => out.extend_from_slice(&self.text_row),
            Answer::BinaryRow => out.extend_from_slice(&self.binary_row),
            Answer::Done { affected } => {
                out.extend_from_slice(&self.done[usize::from(affected > 0)]);
            }
            Answer::Welcome => {
                append_packet(out, 2, &ok(0));
            }
            Answer::Prepared { id, params, kind } => append_prepared(out, id, params, kind),
            Answer::Refused(refusal) => append_refusal(out, refusal),
        }
    }
}

/// Appends what the server says first.
pub(crate) fn append_greeting(out: &mut Vec<u8>, connection: u64) {
    let [low, second, third, high] = CAPABILITIES.0.to_le_bytes();
    let mut payload = b"\x0a8.0.31-null\0".to_vec();
    payload.extend_from_slice(&connection.to_le_bytes()[..4]);
    payload.extend_from_slice(b"abcdefgh\0");
    payload.extend_from_slice(&[low, second, CHARACTER_SET]);
    payload.extend_from_slice(&STATUS);
    payload.extend_from_slice(&[third, high, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    append_packet(out, 0, &payload);
}

/// One column, one row.
fn result(row: &[u8]) -> Vec<u8> {
    let mut out = framed(1, &[1]);
    append_packet(&mut out, 2, &definition(TYPE_STRING));
    append_packet(&mut out, 3, &eof());
    append_packet(&mut out, 4, row);
    append_packet(&mut out, 5, &eof());
    out
}

fn append_prepared(out: &mut Vec<u8>, id: u32, params: u16, kind: Kind) {
    let columns = u8::from(kind == Kind::Rows);
    let mut head = vec![0];
    head.extend_from_slice(&id.to_le_bytes());
    head.extend_from_slice(&[columns, 0]);
    head.extend_from_slice(&params.to_le_bytes());
    head.extend_from_slice(&[0, 0, 0]);
    let mut sequence = append_packet(out, 1, &head);
    if params > 0 {
        let definition = definition(TYPE_VAR_STRING);
        for _ in 0..params {
            sequence = append_packet(out, sequence, &definition);
        }
        sequence = append_packet(out, sequence, &eof());
    }
    if columns > 0 {
        sequence = append_packet(out, sequence, &definition(TYPE_STRING));
        append_packet(out, sequence, &eof());
    }
}

fn append_refusal(out: &mut Vec<u8>, refusal: Refusal) {
    let (code, state, message) = refusal.error();
    let mut payload = vec![0xff];
    payload.extend_from_slice(&code.to_le_bytes());
    payload.push(b'#');
    payload.extend_from_slice(state.as_bytes());
    payload.extend_from_slice(message.as_bytes());
    let sequence = if refusal == Refusal::Handshake { 2 } else { 1 };
    append_packet(out, sequence, &payload);
}

fn definition(kind: u8) -> Vec<u8> {
    let mut payload = Vec::new();
    for text in COLUMN {
        put_text(&mut payload, text);
    }
    // Length of what follows, character set, size, type, flags, decimals, two bytes of nothing.
    payload.extend_from_slice(&[0x0c, CHARACTER_SET, 0, COLUMN_SIZE, 0, 0, 0, kind]);
    payload.extend_from_slice(&[1, 0, 0, 0, 0]);
    payload
}

fn ok(affected: u8) -> [u8; 7] {
    [0, affected, 0, STATUS[0], STATUS[1], 0, 0]
}

fn eof() -> [u8; 5] {
    [0xfe, 0, 0, STATUS[0], STATUS[1]]
}

/// Appends a `string<lenenc>` of at most 250 bytes, as all texts here are.
fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(text.as_bytes());
}

fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_packet(&mut out, sequence, payload);
    out
}

#[cfg(test)]
mod tests {
    use prony_wire::{Greeting, PreparedStatement, Progress, Skimmer, split_frame};

    use super::*;

    fn said(answer: Answer) -> Vec<u8> {
        let mut out = Vec::new();
        Canned::new().append(answer, &mut out);
        out
    }

    /// The load generator's reading of an answer.
    fn skimmed(answer: Answer) -> Skimmer {
        let bytes = said(answer);
        let mut skimmer = Skimmer::default();
        skimmer.start(1);
        let consumed = bytes.len();
        assert_eq!(skimmer.feed(&bytes), Ok(Progress::Done { consumed }));
        skimmer
    }

    #[test]
    fn the_greeting_is_one_of_8_0() {
        let mut bytes = Vec::new();
        append_greeting(&mut bytes, 7);
        let (frame, rest) = split_frame(&bytes).unwrap();
        assert_eq!((frame.sequence, rest.len()), (0, 0));
        let greeting = Greeting::parse(frame.payload).unwrap();
        assert_eq!(greeting.server_version, b"8.0.31-null");
        assert_eq!(greeting.connection_id, 7);
        assert_eq!(greeting.capabilities, CAPABILITIES);
        assert_eq!(greeting.auth_plugin, b"mysql_native_password");
        assert!(!greeting.capabilities.contains(Capabilities::SSL));
    }

    #[test]
    fn rows_hold_what_sbtest_holds() {
        assert_eq!(VALUE.len(), 119);
        assert!(VALUE.split('-').all(|group| group.len() == 11));
        for answer in [Answer::TextRow, Answer::BinaryRow] {
            let tally = skimmed(answer).tally();
            assert_eq!((tally.rows, tally.affected, tally.packets), (1, 0, 5));
            assert!(
                said(answer)
                    .windows(119)
                    .any(|part| part == VALUE.as_bytes())
            );
        }
    }

    #[test]
    fn changes_say_how_many_rows() {
        for affected in [0, 1] {
            let tally = skimmed(Answer::Done { affected }).tally();
            assert_eq!((tally.rows, tally.affected), (0, u64::from(affected)));
        }
    }

    #[test]
    fn refusals_carry_the_errors_of_servers() {
        let skimmer = skimmed(Answer::Refused(Refusal::UnknownStatement));
        let error = skimmer.error().unwrap();
        assert_eq!(error.code, 1243);
        let bytes = said(Answer::Refused(Refusal::Handshake));
        assert_eq!(split_frame(&bytes).unwrap().0.sequence, 2);
    }

    #[test]
    fn prepared_statements_describe_parameters_and_columns() {
        for (params, kind, packets) in [
            (0, Kind::Change, 1),
            (0, Kind::Rows, 3),
            (2, Kind::Change, 4),
            (300, Kind::Rows, 304),
        ] {
            let id = 0x0102_0304;
            let bytes = said(Answer::Prepared { id, params, kind });
            let mut rest = bytes.as_slice();
            let mut sequences = Vec::new();
            let mut first = None;
            while let Some((frame, after)) = split_frame(rest) {
                sequences.push(frame.sequence);
                first.get_or_insert(frame.payload);
                rest = after;
            }
            let head = PreparedStatement::parse(first.unwrap()).unwrap();
            assert_eq!((head.id, head.params), (id, params));
            assert_eq!(head.columns, u16::from(kind == Kind::Rows));
            assert_eq!((sequences.len(), rest.len()), (packets, 0));
            for (index, sequence) in (1_usize..).zip(&sequences) {
                assert_eq!(index % 256, usize::from(*sequence));
            }
        }
    }
}
