//! Every property is stated for a stream in pieces: the pieces must not matter.

use super::*;
use crate::append_packet;
use proptest::collection::vec;
use proptest::prelude::*;

/// One answer as bytes, with what the skimmer must make of it.
#[derive(Debug, Clone, Default)]
struct Stream {
    bytes: Vec<u8>,
    sequence: u8,
    tally: Tally,
    error: Option<u16>,
    /// Whether the server is a 4.1.
    old: bool,
}

impl Stream {
    fn new() -> Self {
        Self {
            sequence: 1,
            ..Self::default()
        }
    }

    fn packet(&mut self, payload: &[u8]) {
        self.sequence = append_packet(&mut self.bytes, self.sequence, payload);
        self.tally.packets += 1;
    }

    fn ok(&mut self, affected: u16, status: u8) {
        let [low, high] = affected.to_le_bytes();
        self.packet(&[0, 0xfc, low, high, 0, status, 0, 0, 0]);
        self.tally.affected += u64::from(affected);
    }

    fn err(&mut self, code: u16) {
        let mut payload = vec![0xff];
        payload.extend_from_slice(&code.to_le_bytes());
        payload.extend_from_slice(b"#HY000something went wrong");
        self.packet(&payload);
        self.error = Some(code);
    }

    fn eof(&mut self, status: u8) {
        self.packet(&[0xfe, 0, 0, status, 0]);
    }

    fn columns(&mut self, count: u8) {
        self.packet(&[count]);
        for _ in 0..count {
            self.packet(b"\x03def\x04test\x01t\x01t\x01k\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0");
        }
        if self.old {
            self.packet(&[0xfe]);
        } else {
            self.eof(0);
        }
    }

    fn row(&mut self, payload: &[u8]) {
        self.packet(payload);
        self.tally.rows += 1;
    }
}

/// How an answer goes.
#[derive(Debug, Clone)]
enum Part {
    Ok(u16),
    Rows(u8, Vec<Vec<u8>>),
}

fn part() -> impl Strategy<Value = Part> {
    // Rows begin with any byte that a row can begin with: binary ones with 0, text ones with a
    // length or 0xfb; 0xfe only when they are long.
    let row = (0..0xfe_u8, vec(any::<u8>(), 0..40)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    });
    let long_row = vec(any::<u8>(), 8..40).prop_map(|mut rest| {
        rest.insert(0, 0xfe);
        rest
    });
    prop_oneof![
        any::<u16>().prop_map(Part::Ok),
        (1..4_u8, vec(prop_oneof![row, long_row], 0..8)).prop_map(|(c, rows)| Part::Rows(c, rows)),
    ]
}

fn stream() -> impl Strategy<Value = Stream> {
    (vec(part(), 1..4), any::<bool>(), any::<bool>()).prop_map(|(parts, ends_in_error, old)| {
        let mut stream = Stream::new();
        stream.old = old;
        let last = parts.len() - 1;
        for (index, part) in parts.into_iter().enumerate() {
            let more = if index < last { 8 } else { 0 };
            let fails = ends_in_error && index == last;
            match part {
                Part::Ok(_) if fails => stream.err(1205),
                Part::Ok(affected) => stream.ok(affected, more),
                Part::Rows(columns, rows) => {
                    stream.columns(columns);
                    for row in &rows {
                        stream.row(row);
                    }
                    if fails {
                        stream.err(1317);
                    } else {
                        stream.eof(more);
                    }
                }
            }
        }
        stream
    })
}

/// Feeds `bytes` in pieces that end at the given places.
fn skim(bytes: &[u8], cuts: &[usize]) -> Result<(Skimmer, Progress), WireError> {
    let mut skimmer = Skimmer::default();
    let mut at = 0;
    let mut progress = Progress::More;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        let end = cut.clamp(at, bytes.len());
        progress = skimmer.feed(&bytes[at..end])?;
        if progress != Progress::More {
            break;
        }
        at = end;
    }
    Ok((skimmer, progress))
}

fn check(stream: &Stream, cuts: &[usize]) {
    let (skimmer, progress) = skim(&stream.bytes, cuts).expect("a good stream");
    assert!(matches!(progress, Progress::Done { .. }));
    assert_eq!(skimmer.tally(), stream.tally);
    assert_eq!(skimmer.error().map(|error| error.code), stream.error);
}

proptest! {
    /// Any split gives the counts of the unsplit stream.
    #[test]
    fn splits_do_not_matter(stream in stream(), mut cuts in vec(0..600_usize, 0..12)) {
        cuts.sort_unstable();
        check(&stream, &[]);
        check(&stream, &cuts);
        let every_byte: Vec<usize> = (0..stream.bytes.len()).collect();
        check(&stream, &every_byte);
    }

    /// A prefix asks for more; what comes after the end is left alone.
    #[test]
    fn ends_exactly(stream in stream(), cut: prop::sample::Index) {
        let end = cut.index(stream.bytes.len());
        let (_, progress) = skim(&stream.bytes[..end], &[]).expect("a good prefix");
        prop_assert_eq!(progress, Progress::More);
        let mut longer = stream.bytes.clone();
        longer.extend_from_slice(b"more");
        let (_, progress) = skim(&longer, &[]).expect("a good stream");
        prop_assert_eq!(progress, Progress::Done { consumed: stream.bytes.len() });
    }

    /// Arbitrary bytes never panic, and any split of them gives the same result.
    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..200), mut cuts in vec(0..200_usize, 0..6)) {
        cuts.sort_unstable();
        let whole = skim(&bytes, &[]).map(|(skimmer, _)| skimmer.tally());
        let split = skim(&bytes, &cuts).map(|(skimmer, _)| skimmer.tally());
        prop_assert_eq!(whole, split);
    }

    /// One wrong byte anywhere never panics, and any split of the stream gives the same result.
    #[test]
    fn damaged_streams(stream in stream(), at: prop::sample::Index, byte: u8, cut in 0..600_usize) {
        let mut bytes = stream.bytes;
        let index = at.index(bytes.len());
        bytes[index] = byte;
        let whole = skim(&bytes, &[]).map(|(skimmer, _)| skimmer.tally());
        let split = skim(&bytes, &[cut]).map(|(skimmer, _)| skimmer.tally());
        prop_assert_eq!(whole, split);
    }

    /// A skimmer that was started again, even in the middle, is as good as new.
    #[test]
    fn starts_again(first in stream(), second in stream(), cut: prop::sample::Index) {
        let mut skimmer = Skimmer::default();
        skimmer.feed(&first.bytes[..cut.index(first.bytes.len())]).expect("a good prefix");
        skimmer.start(1);
        skimmer.feed(&second.bytes).expect("a good stream");
        prop_assert_eq!(skimmer.tally(), second.tally);
        prop_assert_eq!(skimmer.error().map(|error| error.code), second.error);
    }
}

#[test]
fn wrong_numbers_are_errors() {
    let mut stream = Stream::new();
    stream.columns(1);
    stream.sequence += 1;
    stream.row(b"\x01a");
    assert_eq!(
        skim(&stream.bytes, &[]).map(|_| ()),
        Err(WireError::Sequence {
            expected: 4,
            found: 5
        })
    );
}

#[test]
fn rows_longer_than_a_frame_count_once() {
    for size in [PAYLOAD_MAX, PAYLOAD_MAX + 3] {
        // The second frame begins with bytes that would be ERR and EOF at the start of a packet.
        for filler in [0xff, 0xfe] {
            let mut row = vec![filler; size];
            row[0] = 0xfd;
            let mut stream = Stream::new();
            stream.columns(1);
            stream.row(&row);
            stream.row(b"\x01a");
            stream.eof(0);
            check(&stream, &[]);
            check(
                &stream,
                &[PAYLOAD_MAX / 2, PAYLOAD_MAX + 70, PAYLOAD_MAX + 71],
            );
        }
    }
}

#[test]
fn empty_packets_are_no_rows() {
    let mut stream = Stream::new();
    stream.columns(1);
    stream.packet(b"");
    assert!(matches!(
        skim(&stream.bytes, &[]),
        Err(WireError::Truncated { .. })
    ));
    let mut nothing = Stream::new();
    nothing.packet(b"");
    assert!(skim(&nothing.bytes, &[]).is_err());
}

#[test]
fn an_end_in_the_middle_of_definitions_is_none() {
    let mut stream = Stream::new();
    stream.packet(&[2]);
    stream.packet(b"\x03def\0\0\0\x01k\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0");
    stream.eof(0);
    for cuts in [&[][..], &[5, 40]] {
        let shown = skim(&stream.bytes, cuts).unwrap_err().to_string();
        assert!(shown.contains("column definition: byte 0xfe"), "{shown}");
    }
}

#[test]
fn long_messages_are_cut() {
    let mut stream = Stream::new();
    let mut payload = b"\xff\x51\x04#HY000".to_vec();
    payload.resize(5000, b'x');
    stream.packet(&payload);
    let (skimmer, _) = skim(&stream.bytes, &[100, 600, 700]).expect("a good stream");
    let error = skimmer.error().expect("an error");
    assert_eq!((error.code, error.message.len()), (1105, 512));
}
