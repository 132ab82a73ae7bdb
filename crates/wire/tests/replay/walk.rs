//! Conversations cut into packets, and packets read one by one, without the skimmer.

use prony_wire::{
    AuthReply, Eof, ErrPacket, FirstPacket, Greeting, PreparedStatement, Tally, column_name,
    split_frame, text_row,
};

use crate::conversation::{Conversation, Speaker};

/// A request and its whole answer.
pub(crate) struct Exchange {
    pub(crate) kind: Kind,
    pub(crate) answer: Vec<u8>,
}

/// What an answer answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: the server begins.
    Greeting,
    /// The login, or more proof.
    Login,
    /// A statement to prepare.
    Prepare(String),
    /// The execution of a prepared statement, by its number.
    Execute(u32),
    /// A statement as text.
    Query(String),
    /// The client's goodbye, which no server answers.
    Quit,
}

/// Everything that the server said in a conversation, with what it was asked.
pub(crate) fn exchanges(conversation: &Conversation) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    let mut kind = Kind::Greeting;
    let mut logged_in = false;
    for turn in &conversation.turns {
        if turn.speaker == Speaker::Client {
            let (frame, _) = split_frame(&turn.bytes).unwrap();
            kind = if logged_in {
                request(frame.payload)
            } else {
                Kind::Login
            };
            continue;
        }
        logged_in |= kind == Kind::Login
            && packets(&turn.bytes)
                .iter()
                .any(|packet| AuthReply::parse(packet) == Ok(AuthReply::Accepted));
        exchanges.push(Exchange {
            kind: kind.clone(),
            answer: turn.bytes.clone(),
        });
    }
    exchanges
}

fn request(payload: &[u8]) -> Kind {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match payload {
        [0x01] => Kind::Quit,
        [0x03, sql @ ..] => Kind::Query(text(sql)),
        [0x16, sql @ ..] => Kind::Prepare(text(sql)),
        [0x17, a, b, c, d, ..] => Kind::Execute(u32::from_le_bytes([*a, *b, *c, *d])),
        other => panic!("the client asked {other:?}"),
    }
}

/// Answers of the skimmer's kind.
pub(crate) fn skimmed(conversation: &Conversation) -> Vec<Exchange> {
    let mut exchanges = exchanges(conversation);
    exchanges.retain(|exchange| matches!(exchange.kind, Kind::Execute(_) | Kind::Query(_)));
    exchanges
}

/// The packets of whole frames, joined where they take several.
pub(crate) fn packets(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while let Some((frame, rest)) = split_frame(bytes) {
        packet.extend_from_slice(frame.payload);
        if !frame.continues() {
            packets.push(std::mem::take(&mut packet));
        }
        bytes = rest;
    }
    assert!(bytes.is_empty() && packet.is_empty(), "a part is missing");
    packets
}

/// What an answer holds, read packet by packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) tally: Tally,
    pub(crate) error: Option<(u16, String, String)>,
    /// The values of text rows.
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

/// Reads a whole answer. Only those to a text have text rows.
pub(crate) fn read(exchange: &Exchange) -> Content {
    let packets = packets(&exchange.answer);
    let mut content = Content::default();
    content.tally.packets = packets.len() as u64;
    let mut rest = packets.iter();
    loop {
        let more = match FirstPacket::parse(rest.next().unwrap()).unwrap() {
            FirstPacket::Ok(ok) => {
                content.tally.affected += ok.affected;
                ok.more_results()
            }
            FirstPacket::Err(error) => {
                content.error = Some(words(&error));
                false
            }
            FirstPacket::Columns(count) => {
                let columns = usize::try_from(count).unwrap();
                for definition in rest.by_ref().take(columns) {
                    column_name(definition).unwrap();
                }
                Eof::parse(rest.next().unwrap()).unwrap();
                loop {
                    let packet = rest.next().unwrap();
                    if Eof::is_eof(packet[0], packet.len()) {
                        break Eof::parse(packet).unwrap().more_results();
                    }
                    content.tally.rows += 1;
                    if matches!(exchange.kind, Kind::Query(_)) {
                        content.rows.push(values(packet, columns));
                    }
                }
            }
        };
        if !more {
            assert_eq!(rest.next(), None, "packets after the end");
            return content;
        }
    }
}

fn values(packet: &[u8], columns: usize) -> Vec<Option<String>> {
    text_row(packet, columns)
        .unwrap()
        .into_iter()
        .map(|value| value.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()))
        .collect()
}

fn words(error: &ErrPacket<'_>) -> (u16, String, String) {
    (error.code, error.sqlstate_text(), error.message_text())
}

/// The conversation in words, one line for each answer.
pub(crate) fn describe(conversation: &Conversation) -> Vec<String> {
    exchanges(conversation)
        .iter()
        .map(|exchange| match &exchange.kind {
            Kind::Greeting => greeting(&exchange.answer),
            Kind::Login => packets(&exchange.answer)
                .iter()
                .map(|packet| login_reply(packet))
                .collect::<Vec<_>>()
                .join(", "),
            Kind::Prepare(sql) => format!("prepare {sql}: {}", prepared(&exchange.answer)),
            Kind::Execute(id) => format!("execute {id}: {}", counts(exchange)),
            Kind::Query(sql) => format!("{sql}: {}", counts(exchange)),
            Kind::Quit => "an answer to the goodbye".to_owned(),
        })
        .collect()
}

fn greeting(answer: &[u8]) -> String {
    let packets = packets(answer);
    let greeting = Greeting::parse(&packets[0]).unwrap();
    assert_eq!((packets.len(), greeting.nonce.len()), (1, 20));
    format!(
        "greeting: {}, {:?}, `{}`",
        String::from_utf8_lossy(greeting.server_version),
        greeting.capabilities,
        String::from_utf8_lossy(greeting.auth_plugin)
    )
}

fn login_reply(packet: &[u8]) -> String {
    match AuthReply::parse(packet).unwrap() {
        AuthReply::Switch { plugin, nonce } => format!(
            "switch to {} with {} random bytes",
            String::from_utf8_lossy(plugin),
            nonce.len()
        ),
        AuthReply::Data(key) => format!("a key of {} bytes", key.len()),
        AuthReply::Refused(error) => format!("refused with {}", error.code),
        reply => format!("{reply:?}"),
    }
}

fn prepared(answer: &[u8]) -> String {
    let packets = packets(answer);
    let ok = PreparedStatement::parse(&packets[0]).unwrap();
    let mut rest = packets[1..].iter();
    for count in [ok.params, ok.columns]
        .into_iter()
        .filter(|count| *count > 0)
    {
        for definition in rest.by_ref().take(usize::from(count)) {
            column_name(definition).unwrap();
        }
        Eof::parse(rest.next().unwrap()).unwrap();
    }
    assert_eq!(rest.next(), None);
    format!(
        "number {}, {} parameters, {} columns",
        ok.id, ok.params, ok.columns
    )
}

fn counts(exchange: &Exchange) -> String {
    let content = read(exchange);
    let Tally {
        packets,
        rows,
        affected,
    } = content.tally;
    match content.error {
        Some((code, sqlstate, _)) => format!("error {code} ({sqlstate})"),
        None => format!("{packets} packets, {rows} rows, {affected} affected"),
    }
}
