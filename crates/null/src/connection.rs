//! One client's socket: what is received and what is still to be sent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::protocol::Pending;

/// A client that is connected.
#[derive(Debug)]
pub(crate) struct Connection<C> {
    /// Its number among all connections of the server, from 1.
    pub(crate) number: u64,
    socket: OwnedFd,
    /// The beginning of a request whose end has not come.
    pub(crate) pending: Pending,
    pub(crate) conversation: C,
    /// Bytes that the socket did not take.
    unsent: Vec<u8>,
    /// Answers that wait for their time.
    pub(crate) waiting: u32,
    /// `true` if it is closed when everything is sent.
    pub(crate) ends: bool,
}

/// Result of receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// A number of bytes.
    Bytes(usize),
    /// Nothing, for now.
    Nothing,
    /// The client is gone.
    Gone,
}

/// Result of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Everything is sent.
    All,
    /// The rest waits until the socket takes more.
    Part,
    /// The client is gone.
    Gone,
}

impl<C: Default> Connection<C> {
    pub(crate) fn new(socket: OwnedFd, number: u64) -> Self {
        Self {
            number,
            socket,
            pending: Pending::default(),
            conversation: C::default(),
            unsent: Vec::new(),
            waiting: 0,
            ends: false,
        }
    }

    /// Receives into `buffer` what has come.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Received {
        loop {
            return match recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((_, 0)) => Received::Gone,
                Ok((_, count)) => Received::Bytes(count),
                Err(Errno::AGAIN) => Received::Nothing,
                Err(Errno::INTR) => continue,
                Err(_) => Received::Gone,
            };
        }
    }

    /// Sends `bytes` behind everything that was to be sent before.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Sent {
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(bytes);
            return Sent::Part;
        }
        match self.push(bytes) {
            Err(()) => Sent::Gone,
            Ok(count) if count == bytes.len() => Sent::All,
            Ok(count) => {
                self.unsent.extend_from_slice(&bytes[count..]);
                Sent::Part
            }
        }
    }

    /// Sends what the socket did not take before.
    pub(crate) fn send_rest(&mut self) -> Sent {
        let Ok(count) = self.push(&self.unsent) else {
            return Sent::Gone;
        };
        self.unsent.drain(..count);
        if self.unsent.is_empty() {
            Sent::All
        } else {
            Sent::Part
        }
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Hands bytes to the socket until it takes no more; returns how many it took.
    fn push(&self, bytes: &[u8]) -> Result<usize, ()> {
        let mut count = 0;
        while count < bytes.len() {
            match send(&self.socket, &bytes[count..], SendFlags::NOSIGNAL) {
                Ok(sent) => count += sent,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => return Err(()),
            }
        }
        Ok(count)
    }
}

impl<C> AsFd for Connection<C> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
