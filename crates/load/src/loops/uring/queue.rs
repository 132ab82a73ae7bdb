//! The ring of a thread and the memory that the kernel reads and writes on its behalf. The only
//! unsafe code of this crate; what it offers is safe to use.
//!
//! While a request is under way, the kernel may touch its memory at any time. Hence:
//!
//! - Answers and short requests lie in one block of memory that is never moved, to which no
//!   reference exists while a receive into the part in question is under way, and which is given
//!   back only when the kernel says that nothing is under way any more.
//! - The send of a short request leaves no trace when it succeeds, so nobody knows when it ended.
//!   Such a request is therefore copied into that block: a server that answers before it has heard
//!   everything gets garbled bytes at worst.
//! - A long request lies in memory of its own, and its receive is linked to its send, so that it
//!   begins, or fails, when the send has ended: the memory is touched again only after both.
//! - Each connection has one receive under way at most.

mod memory;
#[cfg(test)]
mod tests;

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use io_uring::squeue::Flags;
use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter, opcode, squeue};
use rustix::io::Errno;
use rustix::net::SendFlags;

use self::memory::{ANSWER_SIZE, Memory, REQUEST_SIZE};

/// `IORING_RECVSEND_POLL_FIRST`: an answer is hardly ever there before it is asked for, so the
/// kernel need not look before it waits.
const POLL_FIRST: u16 = 1;

/// Marks the completion of a send; the others are of receives.
const SEND: u64 = 1 << 63;
/// Marks the completion of a cancellation.
const CANCEL: u64 = 1 << 62;

/// A request is sent whole or not at all, and a closed socket is an error and no signal.
const SEND_FLAGS: i32 = (SendFlags::NOSIGNAL.bits() | MSG_WAITALL).cast_signed();
/// Not among rustix' flags for sending, where only `io_uring` heeds it.
const MSG_WAITALL: u32 = 0x100;

/// Longest wait for the end of a cancellation, which comes at once, before the next check.
const CANCEL_WAIT: Duration = Duration::from_secs(1);

/// Number of cancellations before memory is leaked rather than freed. Twice is enough: the second
/// time nothing is found.
const CANCEL_ROUNDS: usize = 100;

/// A completed entry.
pub(super) struct Completion<'q> {
    /// The connection's index.
    pub(super) index: usize,
    /// The bytes received, none where the other side has closed the connection; or why sending or
    /// receiving failed.
    pub(super) received: io::Result<&'q [u8]>,
}

/// A ring in use, with the connections of a thread.
pub(super) struct Queue<'r> {
    submitter: Submitter<'r>,
    submissions: SubmissionQueue<'r>,
    completions: CompletionQueue<'r>,
    slots: ManuallyDrop<Vec<Slot>>,
    memory: ManuallyDrop<Memory>,
    /// Slots with a receive under way.
    receiving: usize,
}

/// A connection's own.
#[derive(Default)]
struct Slot {
    is_receiving: bool,
    /// A request too long for the common block. Touched while nothing is under way here only.
    long_request: Vec<u8>,
}

impl<'r> Queue<'r> {
    /// Takes the ring, which the calling thread has made, for these sockets, all of which block.
    pub(super) fn new<'s>(
        ring: &'r mut IoUring,
        sockets: impl Iterator<Item = BorrowedFd<'s>>,
    ) -> io::Result<Self> {
        let (mut submitter, submissions, completions) = ring.split();
        let files: Vec<_> = sockets.map(|socket| socket.as_raw_fd()).collect();
        submitter.register_files(&files)?;
        submitter.register_ring_fd()?;
        let slots = files.iter().map(|_| Slot::default()).collect();
        Ok(Self {
            submitter,
            submissions,
            completions,
            slots: ManuallyDrop::new(slots),
            memory: ManuallyDrop::new(Memory::new(files.len())),
            receiving: 0,
        })
    }

    /// Puts a new socket in the place of a connection's old one.
    pub(super) fn replace(&mut self, index: usize, socket: BorrowedFd<'_>) -> io::Result<()> {
        let offset = u32::try_from(index).unwrap_or(u32::MAX);
        self.submitter
            .register_files_update(offset, &[socket.as_raw_fd()])
            .map(|_| ())
    }

    /// Returns `true` if another request can be queued before [`submit`](Self::submit).
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.submissions.len() + 2 <= self.submissions.capacity()
    }

    /// Queues the sending of a request and the receiving of its answer.
    /// Does nothing where an answer is under way already.
    #[inline]
    pub(super) fn ask(&mut self, index: usize, request: &[u8]) -> io::Result<()> {
        if self.slots[index].is_receiving {
            return Ok(());
        }
        // The kernel forgets links between what it gets at different times.
        if !self.has_room() {
            self.submit()?;
        }
        let (place, flags) = if request.len() <= REQUEST_SIZE {
            (self.memory.put_request(index, request), Flags::SKIP_SUCCESS)
        } else {
            let slot = &mut self.slots[index];
            slot.long_request.clear();
            slot.long_request.extend_from_slice(request);
            (slot.long_request.as_ptr(), Flags::IO_LINK)
        };
        // A frame has 16 MB at most.
        let length = u32::try_from(request.len()).unwrap_or(u32::MAX);
        let send = opcode::Send::new(file(index), place, length)
            .flags(SEND_FLAGS)
            .build()
            .flags(flags)
            .user_data(index as u64 | SEND);
        let receive = self.receiving_into(index);
        // SAFETY: the request lies in the common block, which stays until nothing is under way, or
        // in the slot's own memory, which stays as long and is not touched before the linked
        // receive has ended. For the answer as in `receive`.
        unsafe { self.submissions.push_multiple(&[send, receive]) }
            .map_err(|_| io::Error::other("the kernel takes no more requests"))?;
        self.begin_receive(index);
        Ok(())
    }

    /// Queues the receiving of what follows. Does nothing where an answer is under way already.
    pub(super) fn receive(&mut self, index: usize) -> io::Result<()> {
        if self.slots[index].is_receiving {
            return Ok(());
        }
        let receive = self.receiving_into(index);
        // SAFETY: the place lies in the common block, which stays until nothing is under way.
        // `is_receiving` keeps all other code from it until the completion is taken.
        unsafe { self.push(&receive) }?;
        self.begin_receive(index);
        Ok(())
    }

    #[inline]
    fn receiving_into(&self, index: usize) -> squeue::Entry {
        let place = self.memory.answer(index).as_ptr().cast();
        opcode::Recv::new(file(index), place, ANSWER_SIZE)
            .ioprio(POLL_FIRST)
            .build()
            .user_data(index as u64)
    }

    #[inline]
    fn begin_receive(&mut self, index: usize) {
        self.slots[index].is_receiving = true;
        self.receiving += 1;
    }

    /// Hands what is queued to the kernel.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        self.submissions.sync();
        let result = self.submitter.submit();
        self.submissions.sync();
        forgive(result)
    }

    /// Hands what is queued to the kernel and waits until something ends, at most this long.
    pub(super) fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec::from(timeout);
        let args = SubmitArgs::new().timespec(&timeout);
        self.submissions.sync();
        self.completions.sync();
        let result = self.submitter.submit_with_args(1, &args);
        self.submissions.sync();
        self.completions.sync();
        forgive(result)
    }

    /// The next that ended, of those that had when the last wait was over.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Completion<'_>> {
        loop {
            let entry = self.completions.next()?;
            let (data, result) = (entry.user_data(), entry.result());
            let index = usize::try_from(data & !SEND).unwrap_or(usize::MAX);
            let Some(slot) = self.slots.get(index) else {
                continue;
            };
            let received = if data & SEND == 0 {
                self.end_receive(index);
                self.received(index, result)
            } else if usize::try_from(result) == Ok(slot.long_request.len()) {
                // The answer is received by now.
                continue;
            } else {
                Err(failed_send(result))
            };
            return Some(Completion { index, received });
        }
    }

    fn end_receive(&mut self, index: usize) {
        self.slots[index].is_receiving = false;
        self.receiving -= 1;
    }

    #[inline]
    fn received(&self, index: usize, result: i32) -> io::Result<&[u8]> {
        let count = usize::try_from(result)
            .map_err(|_| io::Error::from_raw_os_error(result.wrapping_neg()))?;
        // SAFETY: the place is of memory that was filled with zeros when it was made. No receive
        // into it is under way, nor can one be queued while the returned reference exists, which
        // borrows the queue.
        let answer = unsafe { self.memory.answer(index).as_ref() };
        Ok(&answer[..count.min(answer.len())])
    }

    /// # Safety
    /// The entry's memory must stay, and only the kernel may use it, until its operation ends.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        if self.submissions.is_full() {
            self.submit()?;
        }
        // SAFETY: what the caller guarantees.
        unsafe { self.submissions.push(entry) }
            .map_err(|_| io::Error::other("the kernel takes no more requests"))
    }

    /// Cancels everything that is under way and waits until nothing is.
    fn cancel_all(&mut self) -> io::Result<()> {
        for _ in 0..CANCEL_ROUNDS {
            let cancel = opcode::AsyncCancel2::new(CancelBuilder::any())
                .build()
                .user_data(CANCEL);
            // SAFETY: a cancellation uses no memory.
            unsafe { self.push(&cancel) }?;
            // What was found ends while its end is waited for, so the next round does not find it.
            if self.wait_for_cancel()? == 0 && self.receiving == 0 {
                return Ok(());
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Waits for the end of a cancellation; returns how much it found to cancel.
    fn wait_for_cancel(&mut self) -> io::Result<i32> {
        let mut found = None;
        loop {
            while let Some(entry) = self.completions.next() {
                let (data, result) = (entry.user_data(), entry.result());
                if data & CANCEL != 0 {
                    found = Some(result);
                } else if data & SEND == 0
                    && let Ok(index) = usize::try_from(data)
                {
                    self.end_receive(index);
                }
            }
            match found {
                None => self.wait(CANCEL_WAIT)?,
                Some(count) if count >= 0 || count == -Errno::NOENT.raw_os_error() => {
                    return Ok(count.max(0));
                }
                Some(error) => return Err(io::Error::from_raw_os_error(-error)),
            }
        }
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        if self.cancel_all().is_ok() {
            // SAFETY: both are dropped here and nowhere else, and nothing uses them afterwards: the
            // kernel found nothing under way.
            unsafe {
                ManuallyDrop::drop(&mut self.slots);
                ManuallyDrop::drop(&mut self.memory);
            }
        }
        // Else the memory is lost, which is better than giving away what the kernel may write to.
        // A ring that stays registered lives until its thread ends, and so do its files.
        let _ = self.submitter.unregister_ring_fd();
    }
}

/// The index of a connection's socket among the registered files.
fn file(index: usize) -> Fixed {
    // There are far fewer files than that.
    Fixed(u32::try_from(index).unwrap_or(u32::MAX))
}

/// A send that does not end in silence failed, or came to an end half way.
fn failed_send(result: i32) -> io::Error {
    if result < 0 {
        io::Error::from_raw_os_error(-result)
    } else {
        io::ErrorKind::BrokenPipe.into()
    }
}

/// Time that ran out, a signal, and completions that have no room are no errors: the loop goes on
/// and takes what there is.
fn forgive(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::TIME | Errno::INTR | Errno::BUSY) => Ok(()),
            _ => Err(error),
        },
    }
}
