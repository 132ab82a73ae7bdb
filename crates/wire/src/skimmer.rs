//! Reading answers without keeping them: the hot path of the load generator.
//!
//! Rows and column definitions are skipped by their lengths. Only the heads of OK, ERR and EOF
//! packets are copied, into a buffer of fixed size, so that a stream reads alike however it is
//! split. Nothing is allocated.

#[cfg(test)]
mod tests;

use crate::frame::{HEADER_SIZE, read_header};
use crate::{Eof, ErrPacket, FirstPacket, PAYLOAD_MAX, WireError};

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

/// What is done with the bytes of the current frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// To be decided by its first byte.
    Open,
    Skip,
    Keep,
}

/// An incremental reader of the answer to one `COM_QUERY` or `COM_STMT_EXECUTE`.
#[derive(Debug, Clone)]
pub struct Skimmer {
    stage: Stage,
    tally: Tally,
    /// Number that the next frame must carry.
    sequence: u8,
    /// Whether the next frame goes on with the packet of the last.
    continues: bool,
    header: [u8; HEADER_SIZE],
    /// In `0..=HEADER_SIZE`; below it the header is still incomplete.
    header_length: usize,
    /// Bytes of the current frame's payload.
    frame_length: usize,
    /// Bytes of it still to come.
    frame_left: usize,
    handling: Handling,
    head: [u8; HEAD_SIZE],
    /// In `0..=HEAD_SIZE`.
    head_length: usize,
    refused: bool,
}

impl Default for Skimmer {
    fn default() -> Self {
        Self {
            stage: Stage::First,
            tally: Tally::default(),
            sequence: 1,
            continues: false,
            header: [0; HEADER_SIZE],
            header_length: 0,
            frame_length: 0,
            frame_left: 0,
            handling: Handling::Open,
            head: [0; HEAD_SIZE],
            head_length: 0,
            refused: false,
        }
    }
}

impl Skimmer {
    /// Gets ready for the answer to a new request, whose first packet carries `sequence`: 1 where
    /// the request was one frame.
    pub fn start(&mut self, sequence: u8) {
        self.stage = Stage::First;
        self.tally = Tally::default();
        self.sequence = sequence;
        self.continues = false;
        self.header_length = 0;
        self.frame_left = 0;
        self.refused = false;
    }

    /// What was counted so far.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// The error with which the answer ended, if it did. Longer messages than servers send are cut.
    pub fn error(&self) -> Option<ErrPacket<'_>> {
        if !self.refused {
            return None;
        }
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
            if self.stage == Stage::Done {
                let consumed = bytes.len() - rest.len();
                return Ok(Progress::Done { consumed });
            }
            if self.header_length < HEADER_SIZE {
                if !self.take_header(&mut rest) {
                    return Ok(Progress::More);
                }
                self.begin_frame()?;
            }
            if !self.take_payload(&mut rest)? {
                return Ok(Progress::More);
            }
            self.end_frame()?;
        }
    }

    /// Reads a header or a part of it; tells whether it is complete.
    fn take_header(&mut self, rest: &mut &[u8]) -> bool {
        if self.header_length == 0
            && let Some((header, after)) = rest.split_first_chunk::<HEADER_SIZE>()
        {
            self.header = *header;
            self.header_length = HEADER_SIZE;
            *rest = after;
            return true;
        }
        let count = rest.len().min(HEADER_SIZE - self.header_length);
        let (now, after) = rest.split_at(count);
        self.header[self.header_length..self.header_length + count].copy_from_slice(now);
        self.header_length += count;
        *rest = after;
        self.header_length == HEADER_SIZE
    }

    fn begin_frame(&mut self) -> Result<(), WireError> {
        let (length, found) = read_header(self.header);
        if found != self.sequence {
            return Err(WireError::Sequence {
                expected: self.sequence,
                found,
            });
        }
        self.sequence = found.wrapping_add(1);
        self.frame_length = length;
        self.frame_left = length;
        if !self.continues {
            self.handling = Handling::Open;
            self.head_length = 0;
        }
        Ok(())
    }

    /// Skips or keeps what there is of the frame's payload; tells whether it is complete.
    fn take_payload(&mut self, rest: &mut &[u8]) -> Result<bool, WireError> {
        if self.handling == Handling::Open
            && let Some(first) = rest.first()
            && self.frame_left > 0
        {
            self.handling = self.decide(*first)?;
        }
        let (now, after) = rest.split_at(self.frame_left.min(rest.len()));
        if self.handling == Handling::Keep {
            let count = now.len().min(HEAD_SIZE - self.head_length);
            self.head[self.head_length..self.head_length + count].copy_from_slice(&now[..count]);
            self.head_length += count;
        }
        self.frame_left -= now.len();
        *rest = after;
        Ok(self.frame_left == 0)
    }

    fn decide(&self, first: u8) -> Result<Handling, WireError> {
        let is_err = first == 0xff;
        match self.stage {
            Stage::Columns { .. } if !is_err => Ok(Handling::Skip),
            Stage::Rows if !is_err && !self.is_eof(first) => Ok(Handling::Skip),
            Stage::ColumnsEnd if !is_err && !self.is_eof(first) => Err(WireError::UnexpectedByte {
                packet: "end of column definitions",
                byte: first,
            }),
            _ => Ok(Handling::Keep),
        }
    }

    const fn is_eof(&self, first: u8) -> bool {
        Eof::is_eof(first, self.frame_length)
    }

    fn end_frame(&mut self) -> Result<(), WireError> {
        self.header_length = 0;
        self.continues = self.frame_length == PAYLOAD_MAX;
        if self.continues {
            return Ok(());
        }
        self.tally.packets += 1;
        match (self.handling, self.stage) {
            (Handling::Skip, Stage::Rows) => self.tally.rows += 1,
            (Handling::Skip, Stage::Columns { left }) => {
                self.stage = after_columns(left - 1);
            }
            (_, Stage::First) => self.end_first()?,
            (Handling::Keep, _) => self.end_kept()?,
            _ => {
                return Err(WireError::Truncated {
                    packet: "result set",
                });
            }
        }
        Ok(())
    }

    /// The first packet of a result is complete.
    fn end_first(&mut self) -> Result<(), WireError> {
        match FirstPacket::parse(&self.head[..self.head_length])? {
            FirstPacket::Ok(ok) => {
                self.tally.affected = self.tally.affected.saturating_add(ok.affected);
                self.end_result(ok.more_results());
            }
            FirstPacket::Err(_) => self.refuse(),
            FirstPacket::Columns(count) => self.stage = after_columns(count),
        }
        Ok(())
    }

    /// An EOF packet, or an ERR packet in the middle of a result, is complete.
    fn end_kept(&mut self) -> Result<(), WireError> {
        let head = &self.head[..self.head_length];
        if head.first() == Some(&0xff) {
            ErrPacket::parse(head)?;
            self.refuse();
            return Ok(());
        }
        let eof = Eof::parse(head)?;
        if self.stage == Stage::ColumnsEnd {
            self.stage = Stage::Rows;
        } else {
            self.end_result(eof.more_results());
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

    fn refuse(&mut self) {
        self.refused = true;
        self.stage = Stage::Done;
    }
}

const fn after_columns(left: u64) -> Stage {
    match left {
        0 => Stage::ColumnsEnd,
        left => Stage::Columns { left },
    }
}
