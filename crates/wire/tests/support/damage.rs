//! What can happen to bytes. Included by every test that damages recorded ones.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "this is test code, of which no test needs all"
)]

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Something done to bytes.
#[derive(Debug, Clone)]
pub enum Damage {
    Change(Index, u8),
    /// A byte that means something.
    Mark(Index, Index),
    Truncate(Index),
    Remove(Index, usize),
    Duplicate(Index, usize),
    Insert(Index, Vec<u8>),
    /// A length beyond all measure.
    Inflate(Index),
}

/// Bytes that mean something.
pub const MARKS: [u8; 14] = [
    0, 1, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, b'C', b'D', b'E', b'N', b'Z', 4,
];

pub fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Change(at, byte)),
        (at(), at()).prop_map(|(at, mark)| Damage::Mark(at, mark)),
        at().prop_map(Damage::Truncate),
        (at(), 1..40_usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (at(), 1..40_usize).prop_map(|(at, count)| Damage::Duplicate(at, count)),
        (at(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        at().prop_map(Damage::Inflate),
    ]
}

impl Damage {
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let range = |at: &Index, count: usize, size: usize| -> Range<usize> {
            let start = at.index(size + 1);
            start..(start + count).min(size)
        };
        let size = bytes.len();
        match self {
            Self::Change(at, byte) if size > 0 => bytes[at.index(size)] = *byte,
            Self::Mark(at, mark) if size > 0 => bytes[at.index(size)] = *mark.get(MARKS.as_slice()),
            Self::Change(..) | Self::Mark(..) => {}
            Self::Truncate(at) => bytes.truncate(at.index(size + 1)),
            Self::Remove(at, count) => drop(bytes.drain(range(at, *count, size))),
            Self::Duplicate(at, count) => {
                let range = range(at, *count, size);
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, copy);
            }
            Self::Insert(at, new) => {
                let at = at.index(size + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Inflate(at) => {
                let at = at.index(size + 1);
                bytes.splice(at..at, [0xfe, 0, 0, 0, 0, 0, 0, 0, 0x10]);
            }
        }
    }
}

pub fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for damage in damages {
        damage.apply(&mut bytes);
    }
    bytes
}
