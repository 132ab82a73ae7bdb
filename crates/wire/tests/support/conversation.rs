//! Recorded conversations and how they are written down. Included by every test that replays them
//! and by the program that records them.
//!
//! ```text
//! # A comment.
//! conversation NAME user=USER password=PASSWORD channel=local|open
//! server 4a 00*12 0f
//! client 2c
//! ```
//! A turn is what one side said until the other spoke: bytes in hexadecimal digits, without spaces
//! but around runs of one byte, which are written as the byte, `*`, and how often it comes.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code, of which no test needs all"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use prony_wire::Channel;

/// Runs at least as long as this are written as such.
const RUN_MIN: usize = 16;

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    Server,
    Client,
}

/// What one side said until the other spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub speaker: Speaker,
    pub bytes: Vec<u8>,
}

/// One connection, from the greeting to the goodbye.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub name: String,
    pub user: String,
    pub password: String,
    pub channel: Channel,
    pub turns: Vec<Turn>,
}

/// Where the conversations are, one file for each server build.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/conversations")
}

/// All recorded conversations with MySQL and MariaDB, with the name of the server build.
pub fn of_mysql() -> Vec<(String, Conversation)> {
    of_builds(|build| !is_postgres(build))
}

/// Those with PostgreSQL.
pub fn of_postgres() -> Vec<(String, Conversation)> {
    of_builds(is_postgres)
}

fn is_postgres(build: &str) -> bool {
    build.starts_with("postgresql")
}

fn of_builds(wanted: impl Fn(&str) -> bool) -> Vec<(String, Conversation)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let build = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files
        .iter()
        .filter(|path| wanted(&build(path)))
        .flat_map(|path| {
            let build = build(path);
            let text = fs::read_to_string(path).unwrap();
            parse(&text)
                .into_iter()
                .map(move |conversation| (build.clone(), conversation))
        })
        .collect()
}

/// Reads the conversations of a file.
pub fn parse(text: &str) -> Vec<Conversation> {
    let mut conversations: Vec<Conversation> = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let speaker = match word {
            "" | "#" => continue,
            "conversation" => {
                conversations.push(parse_head(rest));
                continue;
            }
            "server" => Speaker::Server,
            "client" => Speaker::Client,
            other => panic!("a line begins with `{other}`"),
        };
        let bytes = parse_bytes(rest);
        let turns = &mut conversations.last_mut().unwrap().turns;
        turns.push(Turn { speaker, bytes });
    }
    conversations
}

fn parse_head(text: &str) -> Conversation {
    let mut words = text.split(' ');
    let name = words.next().unwrap().to_owned();
    let mut value = |key: &str| {
        let word = words.next().unwrap();
        word.strip_prefix(key)
            .unwrap_or_else(|| panic!("expected {key} in `{text}`"))
            .to_owned()
    };
    Conversation {
        name,
        user: value("user="),
        password: value("password="),
        channel: match value("channel=").as_str() {
            "local" => Channel::Local,
            "open" => Channel::Open,
            other => panic!("no channel is called `{other}`"),
        },
        turns: Vec::new(),
    }
}

fn parse_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let (digits, count) = word.split_once('*').map_or((word, 1), |(digits, count)| {
            (digits, count.parse().unwrap())
        });
        let part: Vec<u8> = digits
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
        bytes.extend(part.repeat(count));
    }
    bytes
}

/// Writes conversations down, after a comment.
pub fn to_text(comment: &str, conversations: &[Conversation]) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        text.extend(["# ", line, "\n"]);
    }
    for conversation in conversations {
        let Conversation {
            name,
            user,
            password,
            channel,
            turns,
        } = conversation;
        let channel = match channel {
            Channel::Local => "local",
            Channel::Open => "open",
            Channel::Encrypted => panic!("what is encrypted says nothing when it is replayed"),
        };
        write!(
            text,
            "\nconversation {name} user={user} password={password} channel={channel}\n"
        )
        .unwrap();
        for turn in turns {
            text.push_str(match turn.speaker {
                Speaker::Server => "server",
                Speaker::Client => "client",
            });
            write_bytes(&mut text, &turn.bytes);
            text.push('\n');
        }
    }
    text
}

fn write_bytes(text: &mut String, bytes: &[u8]) {
    let mut after_run = true;
    for run in bytes.chunk_by(|a, b| a == b) {
        let byte = run[0];
        if run.len() >= RUN_MIN {
            write!(text, " {byte:02x}*{}", run.len()).unwrap();
            after_run = true;
            continue;
        }
        if after_run {
            text.push(' ');
            after_run = false;
        }
        for byte in run {
            write!(text, "{byte:02x}").unwrap();
        }
    }
}
