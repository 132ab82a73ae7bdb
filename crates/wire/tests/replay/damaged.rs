//! Bytes with something wrong with them. Nothing panics, reads on for ever or takes memory for
//! lengths that are only claimed.

use std::sync::LazyLock;

use prony_wire::{
    AuthPlugin, AuthReply, Channel, Eof, ErrPacket, FirstPacket, Greeting, HEADER_SIZE, Login,
    OkPacket, PreparedStatement, Progress, Skimmer, Tally, WireError, column_name,
    encrypted_password, split_frame, text_row,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::conversation::of_mysql;
use crate::damage::{MARKS, damage, damaged};
use crate::walk::{exchanges, packets, skimmed};

/// Longer answers are left to other tests: damage would seldom hit where it matters.
const SIZE_MAX: usize = 10_000;

/// Recorded answers for the skimmer, each once.
static ANSWERS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let answers = of_mysql().into_iter().flat_map(|(_, it)| skimmed(&it));
    distinct(answers.map(|exchange| exchange.answer))
});

/// Recorded packets of servers, each once.
static PACKETS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let answers = of_mysql().into_iter().flat_map(|(_, it)| exchanges(&it));
    distinct(answers.flat_map(|exchange| packets(&exchange.answer)))
});

fn distinct(all: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut distinct: Vec<Vec<u8>> = all.filter(|bytes| bytes.len() < SIZE_MAX).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// What comes of bytes: how far the skimmer got, what it counted, and the error's code.
type Skimmed = (Result<Option<usize>, WireError>, Tally, Option<u16>);

fn skim(bytes: &[u8], piece: usize) -> Skimmed {
    let mut skimmer = Skimmer::default();
    let mut before = 0;
    let mut result = Ok(None);
    for piece in bytes.chunks(piece) {
        match skimmer.feed(piece) {
            Ok(Progress::More) => before += piece.len(),
            Ok(Progress::Done { consumed }) => {
                assert!(consumed <= piece.len());
                result = Ok(Some(before + consumed));
                break;
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    let code = skimmer.error().map(|error| error.code);
    (result, skimmer.tally(), code)
}

/// However the bytes come, they mean the same.
fn check_skimmer(bytes: &[u8], piece: usize) {
    let whole = skim(bytes, usize::MAX);
    let Tally { packets, rows, .. } = whole.1;
    assert!(rows <= packets && packets * HEADER_SIZE as u64 <= bytes.len() as u64);
    assert_eq!(skim(bytes, 1), whole);
    assert_eq!(skim(bytes, piece), whole);
}

/// Every reader of packets.
fn read_as_anything(packet: &[u8]) {
    let _ = (
        OkPacket::parse(packet),
        Eof::parse(packet),
        PreparedStatement::parse(packet),
    );
    let _ = (FirstPacket::parse(packet), AuthReply::parse(packet));
    let _ = column_name(packet);
    for columns in [0, 1, 3, usize::MAX] {
        let _ = text_row(packet, columns);
    }
    if let Ok(error) = ErrPacket::parse(packet) {
        let _ = (error.sqlstate_text(), error.message_text());
    }
    if let Ok(greeting) = Greeting::parse(packet) {
        log_in(&greeting);
    }
    if let Ok(AuthReply::Switch { plugin, nonce }) = AuthReply::parse(packet)
        && let Some(plugin) = AuthPlugin::from_name(plugin)
    {
        for channel in [Channel::Open, Channel::Local, Channel::Encrypted] {
            let _ = plugin.answer("secret", nonce, channel);
        }
    }
}

fn log_in(greeting: &Greeting<'_>) {
    let login = Login {
        user: "u",
        password: "secret",
        database: Some("d"),
        channel: Channel::Open,
    };
    assert!(login.answer(greeting).len() < 200);
    let _ = (login.ssl_request(greeting), login.plugin(greeting));
}

proptest! {
    #[test]
    fn answers(
        answer in select(ANSWERS.as_slice()),
        damages in vec(damage(), 1..4),
        piece in 1..50_usize,
    ) {
        check_skimmer(&damaged(&answer, &damages), piece);
    }

    /// Frames are whole, so that more of what is inside is looked at.
    #[test]
    fn answers_in_good_frames(
        answer in select(ANSWERS.as_slice()),
        damages in vec((any::<Index>(), damage()), 1..4),
        piece in 1..50_usize,
    ) {
        let mut packets = packets(&answer);
        for (index, damage) in damages {
            let count = packets.len();
            damage.apply(&mut packets[index.index(count)]);
        }
        let mut bytes = Vec::new();
        let mut sequence = 1;
        for packet in packets {
            sequence = prony_wire::append_packet(&mut bytes, sequence, &packet);
        }
        check_skimmer(&bytes, piece);
    }

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..400), piece in 1..50_usize) {
        check_skimmer(&bytes, piece);
        read_as_anything(&bytes);
        let _ = split_frame(&bytes);
    }

    /// Bytes that mean something are more frequent here than by chance.
    #[test]
    fn arbitrary_marks(marks in vec(any::<Index>(), 0..100), piece in 1..50_usize) {
        let bytes: Vec<u8> = marks.iter().map(|mark| *mark.get(MARKS.as_slice())).collect();
        check_skimmer(&bytes, piece);
        read_as_anything(&bytes);
    }

    #[test]
    fn packets_of_every_kind(packet in select(PACKETS.as_slice()), damages in vec(damage(), 0..4)) {
        read_as_anything(&damaged(&packet, &damages));
    }

    #[test]
    fn keys(damages in vec(damage(), 1..3)) {
        let key = PACKETS.iter().find(|packet| packet.starts_with(b"\x01-----BEGIN"));
        let key = damaged(&key.unwrap()[1..], &damages);
        let _ = encrypted_password("secret", b"nonce", &key, &mut getrandom::rand_core::UnwrapErr(getrandom::SysRng));
    }
}

/// A claim costs nothing: memory for 2^60 bytes or values can't be had, and asking for it would end
/// the process.
#[test]
fn claimed_lengths_take_no_memory() {
    const HUGE: &[u8] = &[0xfe, 0, 0, 0, 0, 0, 0, 0, 0x10];
    assert_eq!(FirstPacket::parse(HUGE), Ok(FirstPacket::Columns(1 << 60)));
    assert!(text_row(HUGE, 1).is_err());
    assert!(text_row(&[1, 65], usize::MAX).is_err());
    assert!(column_name(HUGE).is_err());
    let ok = [&[0], HUGE, &[0, 0, 0, 0, 0]].concat();
    assert_eq!(OkPacket::parse(&ok).map(|ok| ok.affected), Ok(1 << 60));
    let mut columns = Vec::new();
    prony_wire::append_packet(&mut columns, 1, HUGE);
    assert_eq!(Skimmer::default().feed(&columns), Ok(Progress::More));
}
