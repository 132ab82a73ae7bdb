//! Reading answers without keeping them: the hot path of the load generator.
//!
//! Rows and column definitions are skipped by their lengths. Packets that came whole are read where
//! they lie; of others only the heads of OK, ERR and EOF packets are copied, into a buffer of fixed
//! size, so that a stream reads alike however it is split. Nothing is allocated.

#[cfg(test)]
mod tests;

use crate::frame::{HEADER_SIZE, read_header};
use crate::response::STATUS_MORE_RESULTS;
use crate::{Eof, ErrPacket, FirstPacket, PAYLOAD_MAX, WireError, split_frame};

/// The first byte of an ERR packet, which no row begins with.
const ERR: u8 = 0xff;

/// The highest first byte of a column definition, which begins with the length of a short text.
const DEFINITION_MAX: u8 = 0xfa;

/// Bytes kept of a packet that is read and not skipped: an ERR packet with the longest message
/// that servers send (512 bytes; `MYSQL_ERRMSG_SIZE`), and what stands before it.
const HEAD_SIZE: usize = 9 + 512;

/// Bytes kept of what stands before the rows of an answer: a column's definition takes some 60.
const KNOWN_SIZE: usize = 256;

/// The greatest number of columns whose definitions are read with those of the others.
const COLUMNS_MAX: u8 = 0xfa;

/// Counts of an answer, all its results together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets; each may have come in several frames.
    pub packets: u64,
    /// Rows.
    pub rows: u64,
    /// Rows changed, as the server reports them.
    pub affected: u64,
}

/// Completeness of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// The answer ended; this many of the last bytes belonged to it.
    Done {
        /// Bytes taken. Fewer than were fed mean that the server said more than it was asked.
        consumed: usize,
    },
}

/// Position of the next packet in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    First,
    Columns { left: u64 },
    ColumnsEnd,
    Rows,
    Done,
}

/// An incremental reader of the answer to one `COM_QUERY` or `COM_STMT_EXECUTE`.
#[derive(Debug, Clone)]
pub struct Skimmer {
    stage: Stage,
    tally: Tally,
    /// Number that the next frame must carry.
    sequence: u8,
    refused: bool,
    /// The packet that is coming in pieces.
    piece: Piece,
    head: [u8; HEAD_SIZE],
    /// In `0..=HEAD_SIZE`.
    head_length: usize,
    known: Known,
}

/// A packet that has come in part.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    header: [u8; HEADER_SIZE],
    /// In `0..=HEADER_SIZE`; below it the header is still incomplete.
    header_length: usize,
    /// Bytes of the frame's payload.
    frame_length: usize,
    /// Bytes of it still to come.
    frame_left: usize,
    /// `true` if the frame goes on with the packet of the one before.
    continues: bool,
    /// The packet's first byte, and the size of its first frame.
    first: Option<u8>,
    first_size: usize,
}

/// Bytes before the rows of an answer. The next answer of the same statement begins with the same
/// bytes, which then need not be read again.
#[derive(Debug, Clone, Copy)]
struct Known {
    bytes: [u8; KNOWN_SIZE],
    /// In `0..=KNOWN_SIZE`; 0 where nothing is known.
    length: usize,
    /// Packets of the answer read last, known or not.
    packets: u8,
}

impl Known {
    /// How many bytes of an answer that begins with number `sequence` stand before its rows; `None`
    /// where not all of them have come, or it is not like most answers with rows.
    #[inline]
    fn length_in(&mut self, bytes: &[u8], sequence: u8) -> Option<usize> {
        let known = &self.bytes[..self.length];
        if self.length > 0 && self.bytes[HEADER_SIZE - 1] == sequence && bytes.starts_with(known) {
            return Some(self.length);
        }
        self.read(bytes, sequence)
    }

    fn read(&mut self, bytes: &[u8], mut sequence: u8) -> Option<usize> {
        self.length = 0;
        let first = sequence;
        let (count, mut rest) = next_payload(bytes, &mut sequence)?;
        let &[columns @ 1..=COLUMNS_MAX] = count else {
            return None;
        };
        for _ in 0..columns {
            let (definition, after) = next_payload(rest, &mut sequence)?;
            matches!(definition, [..=DEFINITION_MAX, ..]).then_some(())?;
            rest = after;
        }
        let (end, rest) = next_payload(rest, &mut sequence)?;
        matches!(end, [0xfe, _, _, _, _]).then_some(())?;
        self.packets = sequence.wrapping_sub(first);
        let length = bytes.len() - rest.len();
        if let Some(known) = self.bytes.get_mut(..length) {
            known.copy_from_slice(&bytes[..length]);
            self.length = length;
        }
        Some(length)
    }
}

impl Default for Skimmer {
    fn default() -> Self {
        Self {
            stage: Stage::First,
            tally: Tally::default(),
            sequence: 1,
            refused: false,
            piece: Piece::default(),
            head: [0; HEAD_SIZE],
            head_length: 0,
            known: Known {
                bytes: [0; KNOWN_SIZE],
                length: 0,
                packets: 0,
            },
        }
    }
}

impl Skimmer {
    /// Gets ready for the answer to a new request, whose first packet carries `sequence`: 1 where
    /// the request was one frame.
    #[inline]
    pub fn start(&mut self, sequence: u8) {
        self.stage = Stage::First;
        self.tally = Tally::default();
        self.sequence = sequence;
        self.refused = false;
        self.piece.header_length = 0;
        self.piece.continues = false;
    }

    /// Counts so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns `true` if the answer ended with an error.
    #[inline]
    pub const fn is_refused(&self) -> bool {
        self.refused
    }

    /// The error with which the answer ended, if it did. Longer messages than servers send are cut.
    #[inline]
    pub fn error(&self) -> Option<ErrPacket<'_>> {
        if !self.refused {
            return None;
        }
        self.parse_error()
    }

    #[cold]
    fn parse_error(&self) -> Option<ErrPacket<'_>> {
        ErrPacket::parse(&self.head[..self.head_length]).ok()
    }

    /// Takes the next bytes of the stream, in pieces of any size.
    ///
    /// # Errors
    /// When the bytes are not an answer, or a packet's number is not the next. The stream is then
    /// of no use any more.
    #[expect(
        clippy::inline_always,
        reason = "as a call it costs 10 to 20 of the 1000 instructions of a query: `cargo xtask bench-instructions`"
    )]
    #[inline(always)]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        let mut consumed = 0;
        if self.stage == Stage::First && self.piece.is_nothing() {
            consumed = self.take_rows_answer(bytes);
            if self.stage == Stage::Done {
                return Ok(Progress::Done { consumed });
            }
        }
        self.feed_from(bytes, consumed)
    }

    /// Takes the bytes from `start` on.
    fn feed_from(&mut self, bytes: &[u8], start: usize) -> Result<Progress, WireError> {
        let mut rest = &bytes[start..];
        loop {
            if self.piece.is_nothing() {
                rest = self.take_whole(rest)?;
            }
            if self.stage == Stage::Done {
                let consumed = bytes.len() - rest.len();
                return Ok(Progress::Done { consumed });
            }
            match self.take_piece(rest)? {
                Some(after) => rest = after,
                None => return Ok(Progress::More),
            }
        }
    }

    /// Takes what is at the front of `bytes` of an answer with rows, as most are: a count of
    /// columns, their definitions, EOF, and rows in frames of their own, up to the end of the
    /// answer, of the bytes, or to whatever is not like that. Returns how many bytes it took: none
    /// where not even the first rows are reached. Nothing is stored before that, which is what
    /// makes it short.
    #[expect(
        clippy::inline_always,
        reason = "as a call it costs 10 to 20 of the 1000 instructions of a query: `cargo xtask bench-instructions`"
    )]
    #[inline(always)]
    fn take_rows_answer(&mut self, bytes: &[u8]) -> usize {
        let Some(length) = self.known.length_in(bytes, self.sequence) else {
            return 0;
        };
        let mut rest = &bytes[length..];
        let mut sequence = self.sequence.wrapping_add(self.known.packets);
        let mut stage = Stage::Rows;
        let (mut rows, mut ends, mut next) = (0, 0, sequence);
        while let Some((payload, after)) = next_payload(rest, &mut next) {
            match payload {
                [first, ..] if is_row(*first, payload.len()) => rows += 1,
                [0xfe, _, _, status, _] if u16::from(*status) & STATUS_MORE_RESULTS == 0 => {
                    ends = 1;
                    stage = Stage::Done;
                }
                _ => break,
            }
            (rest, sequence) = (after, next);
            if stage == Stage::Done {
                break;
            }
        }
        self.stage = stage;
        self.sequence = sequence;
        self.tally.rows += rows;
        self.tally.packets += u64::from(self.known.packets) + rows + ends;
        bytes.len() - rest.len()
    }

    /// Takes the packets at the front of `rest` that are whole and in one frame, and returns what
    /// follows them. Rows come by the thousand, so they get a short way.
    fn take_whole<'a>(&mut self, mut rest: &'a [u8]) -> Result<&'a [u8], WireError> {
        while self.stage != Stage::Done
            && let Some((frame, after)) = split_frame(rest)
            && !frame.continues()
        {
            if frame.sequence != self.sequence {
                return Err(self.out_of_order(frame.sequence));
            }
            self.sequence = self.sequence.wrapping_add(1);
            rest = after;
            match (self.stage, frame.payload) {
                (Stage::Rows, &[first, ..]) if is_row(first, frame.payload.len()) => {
                    self.tally.packets += 1;
                    self.tally.rows += 1;
                }
                (_, payload) => {
                    self.end_packet(payload.first().copied(), payload.len(), payload)?;
                }
            }
        }
        Ok(rest)
    }

    #[cold]
    const fn out_of_order(&self, found: u8) -> WireError {
        WireError::Sequence {
            expected: self.sequence,
            found,
        }
    }

    /// Takes a part of a frame and returns what follows the frame, or `None` when more is needed.
    fn take_piece<'a>(&mut self, mut rest: &'a [u8]) -> Result<Option<&'a [u8]>, WireError> {
        if self.piece.header_length < HEADER_SIZE {
            if !self.piece.take_header(&mut rest) {
                return Ok(None);
            }
            let (length, found) = read_header(self.piece.header);
            if found != self.sequence {
                return Err(self.out_of_order(found));
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.piece.frame_length = length;
            self.piece.frame_left = length;
            if !self.piece.continues {
                self.piece.first = None;
                self.piece.first_size = length;
                self.head_length = 0;
            }
        }
        let (now, after) = rest.split_at(self.piece.frame_left.min(rest.len()));
        let first = self.piece.first.or_else(|| now.first().copied());
        self.piece.first = first;
        if first.is_some_and(|first| !self.is_skipped(first, self.piece.first_size)) {
            self.keep(now);
        }
        self.piece.frame_left -= now.len();
        if self.piece.frame_left > 0 {
            return Ok(None);
        }
        self.piece.header_length = 0;
        self.piece.continues = self.piece.frame_length == PAYLOAD_MAX;
        if !self.piece.continues {
            let head = self.head;
            self.end_packet(first, self.piece.first_size, &head[..self.head_length])?;
        }
        Ok(Some(after))
    }

    /// Keeps as much of a packet as there is room for.
    fn keep(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(HEAD_SIZE - self.head_length);
        self.head[self.head_length..self.head_length + count].copy_from_slice(&bytes[..count]);
        self.head_length += count;
    }

    /// Returns `true` if a packet with this first byte and size is a row or a column definition.
    const fn is_skipped(&self, first: u8, size: usize) -> bool {
        match self.stage {
            Stage::Rows => is_row(first, size),
            Stage::Columns { .. } => first <= DEFINITION_MAX,
            Stage::First | Stage::ColumnsEnd | Stage::Done => false,
        }
    }

    /// A packet is complete. `head` is all of it, or as much as is kept; of a row or a column
    /// definition it is not looked at.
    fn end_packet(&mut self, first: Option<u8>, size: usize, head: &[u8]) -> Result<(), WireError> {
        self.tally.packets += 1;
        match (self.stage, first) {
            (Stage::Rows, Some(first)) if is_row(first, size) => self.tally.rows += 1,
            (Stage::Columns { left }, Some(first)) if first <= DEFINITION_MAX => {
                self.stage = after_columns(left - 1);
            }
            (Stage::First, _) => self.end_first(head)?,
            _ => self.end_sign(head)?,
        }
        Ok(())
    }

    /// An EOF packet, or an ERR packet in the middle of a result, is complete.
    fn end_sign(&mut self, head: &[u8]) -> Result<(), WireError> {
        if head.first() == Some(&ERR) {
            ErrPacket::parse(head)?;
            self.refuse(head);
            return Ok(());
        }
        if let (Stage::Columns { .. }, Some(&byte)) = (self.stage, head.first()) {
            let packet = "column definition";
            return Err(WireError::UnexpectedByte { packet, byte });
        }
        let eof = Eof::parse(head)?;
        if self.stage == Stage::ColumnsEnd {
            self.stage = Stage::Rows;
        } else {
            self.end_result(eof.more_results());
        }
        Ok(())
    }

    /// The first packet of a result is complete.
    fn end_first(&mut self, head: &[u8]) -> Result<(), WireError> {
        match FirstPacket::parse(head)? {
            FirstPacket::Ok(ok) => {
                self.tally.affected = self.tally.affected.saturating_add(ok.affected);
                self.end_result(ok.more_results());
            }
            FirstPacket::Err(_) => self.refuse(head),
            FirstPacket::Columns(count) => self.stage = after_columns(count),
        }
        Ok(())
    }

    fn end_result(&mut self, more_results: bool) {
        self.stage = if more_results {
            Stage::First
        } else {
            Stage::Done
        };
    }

    /// The answer ends with an ERR packet.
    fn refuse(&mut self, packet: &[u8]) {
        self.head_length = 0;
        self.keep(packet);
        self.refused = true;
        self.stage = Stage::Done;
    }
}

impl Piece {
    /// Returns `true` if the next byte begins a packet.
    const fn is_nothing(&self) -> bool {
        self.header_length == 0 && !self.continues
    }

    /// Takes a header or a part of it; tells whether it is complete.
    fn take_header(&mut self, rest: &mut &[u8]) -> bool {
        let count = rest.len().min(HEADER_SIZE - self.header_length);
        let (now, after) = rest.split_at(count);
        self.header[self.header_length..self.header_length + count].copy_from_slice(now);
        self.header_length += count;
        *rest = after;
        self.header_length == HEADER_SIZE
    }
}

/// The payload at the front of `bytes` and what follows it, where it is whole, in one frame, and
/// numbered as it should be; the number after it then takes its place.
#[inline]
fn next_payload<'a>(bytes: &'a [u8], sequence: &mut u8) -> Option<(&'a [u8], &'a [u8])> {
    let (frame, after) = split_frame(bytes)?;
    if frame.sequence != *sequence || frame.continues() {
        return None;
    }
    *sequence = sequence.wrapping_add(1);
    Some((frame.payload, after))
}

/// Returns `true` if a packet among rows, with this first byte and size, is one.
const fn is_row(first: u8, size: usize) -> bool {
    first != ERR && !Eof::is_eof(first, size)
}

const fn after_columns(left: u64) -> Stage {
    match left {
        0 => Stage::ColumnsEnd,
        left => Stage::Columns { left },
    }
}
