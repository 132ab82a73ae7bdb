//! Conversations cut into messages, and messages read one by one, without the skimmer.

use prony_wire::Tally;

use crate::conversation::{Conversation, Speaker};

/// A request and its whole answer.
pub(super) struct Exchange {
    pub(super) kind: Kind,
    pub(super) answer: Vec<u8>,
}

/// What an answer answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Account and database, or a proof of the password.
    Login,
    /// A statement to prepare.
    Prepare(String),
    /// The execution of a prepared statement, by its name.
    Execute(String),
    /// A statement as text.
    Query(String),
    /// Rows for a `COPY`.
    Rows,
}

/// Everything that the server said in a conversation, with what it was asked.
pub(super) fn exchanges(conversation: &Conversation) -> Vec<Exchange> {
    let pairs = conversation.turns.chunks_exact(2).enumerate();
    pairs
        .map(|(index, turns)| {
            assert_eq!(turns[0].speaker, Speaker::Client);
            let request = turns[0].bytes.as_slice();
            let is_startup = index == 0;
            Exchange {
                kind: if is_startup {
                    Kind::Login
                } else {
                    kind(request)
                },
                answer: turns[1].bytes.clone(),
            }
        })
        .collect()
}

fn kind(request: &[u8]) -> Kind {
    let (tag, content) = messages(request)[0];
    match tag {
        b'p' => Kind::Login,
        b'P' => Kind::Prepare(text(parts(content)[1])),
        b'B' => Kind::Execute(text(parts(content)[1])),
        b'Q' => Kind::Query(text(parts(content)[0])),
        b'd' => Kind::Rows,
        other => panic!("the client asked {other}"),
    }
}

/// Answers of the skimmer's kind: to statements, and none that asks for rows.
pub(super) fn skimmed(conversation: &Conversation) -> Vec<Exchange> {
    let mut exchanges = exchanges(conversation);
    exchanges.retain(|it| match &it.kind {
        Kind::Login => false,
        Kind::Query(sql) => !sql.starts_with("COPY"),
        _ => true,
    });
    exchanges
}

/// Tags and contents of whole messages.
pub(super) fn messages(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut messages = Vec::new();
    while let Some((head, _)) = bytes.split_at_checked(5) {
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let (message, rest) = bytes.split_at(1 + length);
        messages.push((head[0], &message[5..]));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "a part is missing");
    messages
}

/// Texts that end with zeros.
fn parts(content: &[u8]) -> Vec<&[u8]> {
    content.split(|byte| *byte == 0).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What an answer holds, read message by message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) tally: Tally,
    /// Code and message.
    pub(super) error: Option<(String, String)>,
    /// The values of rows.
    pub(super) rows: Vec<Vec<Option<String>>>,
}

/// Reads a whole answer.
pub(super) fn read(exchange: &Exchange) -> Content {
    let mut content = Content::default();
    for (tag, bytes) in messages(&exchange.answer) {
        content.tally.packets += 1;
        match tag {
            b'C' => content.tally.affected += affected(&text(parts(bytes)[0])),
            b'E' => content.error = Some((field(bytes, b'C'), field(bytes, b'M'))),
            b'D' => {
                content.tally.rows += 1;
                content.rows.push(values(bytes));
            }
            _ => {}
        }
    }
    content
}

fn affected(words: &str) -> u64 {
    let mut words = words.split(' ');
    match words.next() {
        Some("UPDATE" | "DELETE" | "INSERT" | "COPY") => {
            words.next_back().unwrap().parse().unwrap()
        }
        _ => 0,
    }
}

/// A field of an error.
pub(super) fn field(content: &[u8], letter: u8) -> String {
    let fields = parts(content);
    let field = fields.iter().find(|field| field.first() == Some(&letter));
    text(&field.unwrap()[1..])
}

fn values(bytes: &[u8]) -> Vec<Option<String>> {
    let mut rest = &bytes[2..];
    let mut values = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_at(4);
        let length = i32::from_be_bytes(length.try_into().unwrap());
        let size = usize::try_from(length).unwrap_or(0);
        values.push((length >= 0).then(|| text(&after[..size])));
        rest = &after[size..];
    }
    values
}

/// The conversation in words, one line for each answer.
pub(super) fn describe(conversation: &Conversation) -> Vec<String> {
    let exchanges = exchanges(conversation);
    let lines = exchanges.iter().map(|exchange| {
        let asked = match &exchange.kind {
            Kind::Login => "login".to_owned(),
            Kind::Prepare(sql) => format!("prepare {sql}"),
            Kind::Execute(name) => format!("execute {name}"),
            Kind::Query(sql) => sql.clone(),
            Kind::Rows => "rows".to_owned(),
        };
        format!("{asked}: {}", words(&exchange.answer))
    });
    lines.collect()
}

/// Messages in a row of one kind are counted.
fn words(answer: &[u8]) -> String {
    let described: Vec<String> = messages(answer)
        .iter()
        .map(|(tag, content)| word(*tag, content))
        .collect();
    let runs = described.chunk_by(|a, b| a == b);
    let words = runs.map(|run| match run.len() {
        1 => run[0].clone(),
        count => format!("{count} {}", run[0]),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn word(tag: u8, content: &[u8]) -> String {
    match tag {
        b'R' => format!("authentication {}", content[3]),
        b'S' => format!("setting {}", text(parts(content)[0])),
        b'E' | b'N' => format!("{} {}", field(content, b'S'), field(content, b'C')),
        b'C' => format!("`{}`", text(parts(content)[0])),
        b'Z' => format!("ready ({})", char::from(content[0])),
        b'D' => "row".to_owned(),
        b'T' => format!("columns {}", content[1]),
        b't' => format!("parameters {}", content[1]),
        other => char::from(other).to_string(),
    }
}
