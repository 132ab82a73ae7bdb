//! Reading answers without keeping them: the hot path of the load generator.
//!
//! Rows and column definitions are skipped by their lengths. Packets that came whole are read where
//! they lie; of others only the heads of OK, ERR and EOF packets are copied, into a buffer of fixed
//! size, so that a stream reads alike however it is split. Nothing is allocated.

#[cfg(test)]
mod tests;

use crate::frame::{HEADER_SIZE, read_header};
use crate::{Eof, ErrPacket, FirstPacket, PAYLOAD_MAX, WireError, split_frame};

/// The first byte of an ERR packet, which no row begins with.
const ERR: u8 = 0xff;

/// The highest first byte of a column definition, which begins with the length of a short text.
const DEFINITION_MAX: u8 = 0xfa;

/// Bytes kept of a packet that is read and not skipped: an ERR packet with the longest message
/// that servers send (512 bytes; `MYSQL_ERRMSG_SIZE`), and what stands before it.
const HEAD_SIZE: usize = 9 + 512;

/// What an answer held, all its results together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets, of which each may have come in several frames.
    pub packets: u64,
    /// Rows.
    pub rows: u64,
    /// Rows changed, as the server reports them.
    pub affected: u64,
}

/// Whether an answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// The answer ended; so many of the bytes fed last belonged to it.
    Done {
        /// Bytes taken. Fewer than were fed mean that the server said more than it was asked.
        consumed: usize,
    },
}

/// Where in an answer the next packet stands.
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
}

/// A packet of which a part has come.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    header: [u8; HEADER_SIZE],
    /// In `0..=HEADER_SIZE`; below it the header is still incomplete.
    header_length: usize,
    /// Bytes of the frame's payload.
    frame_length: usize,
    /// Bytes of it still to come.
    frame_left: usize,
    /// Whether the frame goes on with the packet of the one before.
    continues: bool,
    /// The packet's first byte, and the size of its first frame.
    first: Option<u8>,
    first_size: usize,
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

    /// What was counted so far.
    pub const fn tally(&self) -> Tally {
        self.tally
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
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        let mut rest = bytes;
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

    /// Takes the packets at the front of `rest` that are whole and in one frame, and returns what
    /// follows them. Rows come by the thousand, and no answer with rows is without definitions and
    /// EOF packets, so these get short ways.
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
            let size = frame.payload.len();
            match (self.stage, frame.payload) {
                (Stage::Rows, &[first, ..]) if is_row(first, size) => self.tally.rows += 1,
                (Stage::Columns { left }, &[..=DEFINITION_MAX, ..]) => {
                    self.stage = after_columns(left - 1);
                }
                (Stage::First, &[count @ 1..=0xfa]) => {
                    self.stage = after_columns(count.into());
                }
                (Stage::ColumnsEnd, &[0xfe, _, _, _, _]) => self.stage = Stage::Rows,
                (_, payload) => {
                    self.end_packet(payload.first().copied(), size, payload)?;
                    continue;
                }
            }
            self.tally.packets += 1;
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

    /// Whether a packet with this first byte and size is a row or a column definition.
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
    /// Whether the next byte begins a packet.
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

/// Whether a packet among rows, with this first byte and size, is one.
const fn is_row(first: u8, size: usize) -> bool {
    first != ERR && !Eof::is_eof(first, size)
}

const fn after_columns(left: u64) -> Stage {
    match left {
        0 => Stage::ColumnsEnd,
        left => Stage::Columns { left },
    }
}
