//! Stacks in the format of pprof: messages of protocol buffers as `profile.proto` of github.com/google/pprof
//! defines them, compressed by gzip. Numbers behind the names below are those of its fields.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};

use flate2::Compression;
use flate2::read::GzEncoder;

use crate::costs::Costs;
use crate::folded::{count, stacks};

/// Fields of `Profile`.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING_TABLE: u64 = 6;
/// Fields of `ValueType`.
const TYPE: u64 = 1;
const UNIT: u64 = 2;
/// Fields of `Sample`.
const LOCATION_ID: u64 = 1;
const VALUE: u64 = 2;
/// Fields of `Location` and `Function`.
const ID: u64 = 1;
const LINE: u64 = 4;
const NAME: u64 = 2;
const SYSTEM_NAME: u64 = 3;
/// Field of `Line`.
const FUNCTION_ID: u64 = 1;

/// Kinds of values on the wire.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

/// The stacks of a target, means of its trials, in thousandths of `unit`, such as "instructions per
/// operation".
///
/// # Errors
/// When they can't be compressed, which does not happen in memory.
pub fn pprof(trials: &[Costs], unit: &str) -> io::Result<Vec<u8>> {
    let mut strings = Strings::default();
    let mut whole = Message::default();
    let mut kind = Message::default();
    kind.number(TYPE, strings.index(unit));
    kind.number(UNIT, strings.index("thousandths"));
    whole.message(SAMPLE_TYPE, &kind);
    // A function has one location, of the same number.
    let mut functions: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, own) in stacks(trials) {
        let mut sample = Message::default();
        // The innermost function stands first.
        for name in stack.iter().rev() {
            let next = functions.len() as u64 + 1;
            let id = *functions.entry(name.clone()).or_insert(next);
            sample.number(LOCATION_ID, id);
        }
        sample.number(VALUE, count(own));
        whole.message(SAMPLE, &sample);
    }
    for (name, id) in &functions {
        let mut line = Message::default();
        line.number(FUNCTION_ID, *id);
        let mut location = Message::default();
        location.number(ID, *id);
        location.message(LINE, &line);
        whole.message(LOCATION, &location);
        let mut function = Message::default();
        function.number(ID, *id);
        function.number(NAME, strings.index(name));
        function.number(SYSTEM_NAME, strings.index(name));
        whole.message(FUNCTION, &function);
    }
    for text in &strings.all {
        whole.bytes(STRING_TABLE, text.as_bytes());
    }
    let mut out = Vec::new();
    GzEncoder::new(whole.0.as_slice(), Compression::default()).read_to_end(&mut out)?;
    Ok(out)
}

/// Texts, which messages name by number; the first is empty.
struct Strings {
    all: Vec<String>,
    indices: HashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self {
            all: vec![String::new()],
            indices: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Strings {
    fn index(&mut self, text: &str) -> u64 {
        if let Some(index) = self.indices.get(text) {
            return *index;
        }
        let index = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.indices.insert(text.to_owned(), index);
        index
    }
}

/// A message in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(number);
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Seven bits in each byte, the lowest first.
    fn varint(&mut self, mut number: u64) {
        loop {
            let [low, ..] = number.to_le_bytes();
            number >>= 7;
            if number == 0 {
                return self.0.push(low);
            }
            self.0.push(low | 0x80);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        // The example of the documentation of protocol buffers.
        assert_eq!(message.0, b"\x08\x96\x01\x12\x07testing");
    }

    #[test]
    fn stacks_become_samples() {
        let costs = Costs {
            stacks: BTreeMap::from([(vec!["main".to_owned(), "[parser]".to_owned()], 1.5)]),
            ..Costs::default()
        };
        let compressed = pprof(&[costs], "instructions per operation").unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(compressed.as_slice())
            .read_to_end(&mut bytes)
            .unwrap();
        for part in [
            // The sample: the component, then its caller, and 1,500 thousandths.
            &b"\x12\x07\x08\x01\x08\x02\x10\xdc\x0b"[..],
            b"instructions per operation",
            b"[parser]",
        ] {
            assert!(
                bytes.windows(part.len()).any(|window| window == part),
                "{bytes:?}"
            );
        }
    }
}
