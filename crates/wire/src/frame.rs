//! Packets in frames of at most 16 MB − 1.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html>
//!
//! ```text
//! int<3>  payload length
//! int<1>  sequence number
//! ...     payload
//! ```
//! A payload of 0xffffff bytes or more continues in the next frame, the last of which is shorter.

/// Bytes before the payload of a frame.
pub const HEADER_SIZE: usize = 4;

/// The longest payload of one frame, and the mark of a packet that goes on in the next.
pub const PAYLOAD_MAX: usize = 0xff_ffff;

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its number in the conversation, counted from 0 and wrapping.
    pub sequence: u8,
    /// The payload.
    pub payload: &'a [u8],
}

impl Frame<'_> {
    /// Returns `true` if its packet goes on in the next frame.
    pub const fn continues(&self) -> bool {
        self.payload.len() == PAYLOAD_MAX
    }
}

/// The first frame of `bytes` and what follows it, or `None` when more bytes are needed.
#[inline]
pub fn split_frame(bytes: &[u8]) -> Option<(Frame<'_>, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_SIZE>()?;
    let (length, sequence) = read_header(*header);
    let (payload, rest) = rest.split_at_checked(length)?;
    Some((Frame { sequence, payload }, rest))
}

/// Payload length and sequence number of a frame.
#[inline]
pub fn read_header(header: [u8; HEADER_SIZE]) -> (usize, u8) {
    let [.., sequence] = header;
    let length = u32::from_le_bytes(header) & 0xff_ffff;
    (length as usize, sequence)
}

/// Appends a packet, in several frames where it is long. Returns the number after the last.
pub fn append_packet(out: &mut Vec<u8>, mut sequence: u8, payload: &[u8]) -> u8 {
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(PAYLOAD_MAX));
        put_header(out, now.len(), sequence);
        out.extend_from_slice(now);
        sequence = sequence.wrapping_add(1);
        if now.len() < PAYLOAD_MAX {
            return sequence;
        }
        rest = later;
    }
}

/// Appends an empty header for a packet that is built in place; [`finish_packet`] fills it in.
/// Returns where the packet starts.
pub fn begin_packet(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_SIZE]);
    start
}

/// Fills in the header of a packet begun at `start` and ended at the end of `out`.
///
/// Debug builds assert that the packet fits one frame, which builders of packets in place must
/// make sure of beforehand.
pub fn finish_packet(out: &mut [u8], start: usize, sequence: u8) {
    let length = out.len().saturating_sub(start + HEADER_SIZE);
    debug_assert!(length < PAYLOAD_MAX, "invariant: built packets are short");
    if let Some(header) = out.get_mut(start..start + HEADER_SIZE) {
        header.copy_from_slice(&header_bytes(length, sequence));
    }
}

fn put_header(out: &mut Vec<u8>, length: usize, sequence: u8) {
    out.extend_from_slice(&header_bytes(length, sequence));
}

const fn header_bytes(length: usize, sequence: u8) -> [u8; HEADER_SIZE] {
    let [a, b, c, ..] = length.to_le_bytes();
    [a, b, c, sequence]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A framed payload splits into the same payload, and every prefix asks for more.
        #[test]
        fn round_trip(payload in proptest::collection::vec(any::<u8>(), 0..300), sequence: u8) {
            let mut bytes = Vec::new();
            prop_assert_eq!(append_packet(&mut bytes, sequence, &payload), sequence.wrapping_add(1));
            let (frame, rest) = split_frame(&bytes).expect("a whole frame");
            prop_assert_eq!(frame, Frame { sequence, payload: &payload });
            prop_assert!(rest.is_empty());
            for end in 0..bytes.len() {
                prop_assert_eq!(split_frame(&bytes[..end]), None);
            }
        }

        /// Arbitrary bytes never panic.
        #[test]
        fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = split_frame(&bytes);
        }
    }

    #[test]
    fn long_packets_take_several_frames() {
        for (size, frames) in [
            (PAYLOAD_MAX - 1, 1),
            (PAYLOAD_MAX, 2),
            (2 * PAYLOAD_MAX + 5, 3),
        ] {
            let mut bytes = Vec::new();
            assert_eq!(append_packet(&mut bytes, 255, &vec![7; size]), frames - 1);
            let mut rest = bytes.as_slice();
            let mut count = 0;
            while let Some((frame, after)) = split_frame(rest) {
                count += 1;
                assert_eq!(frame.continues(), count < frames);
                rest = after;
            }
            assert_eq!((count, rest.len()), (frames, 0));
        }
    }

    #[test]
    fn packets_built_in_place() {
        let mut built = vec![9];
        let start = begin_packet(&mut built);
        built.extend_from_slice(b"abc");
        finish_packet(&mut built, start, 2);
        let mut appended = vec![9];
        append_packet(&mut appended, 2, b"abc");
        assert_eq!(built, appended);
    }
}
