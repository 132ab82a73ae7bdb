//! The reason why a measurement of the host fails.

use std::io;

/// A measurement that the system does not permit.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The processors of this program are unknown.
    #[error("read which processors this program may use: {0}")]
    Affinity(io::Error),
    /// A thread can't run on a processor that it may use, as when its set was just made smaller.
    #[error("run a thread on processor {cpu}: {source}")]
    Bind {
        /// The processor.
        cpu: usize,
        /// Answer of the system.
        source: io::Error,
    },
    /// A limit of threads or memory is reached.
    #[error("start a thread: {0}")]
    Thread(io::Error),
    /// A thread ended early: a defect.
    #[error("wait for a thread: it panicked")]
    Panicked,
    /// A limit of files is reached.
    #[error("create a pair of unix sockets: {0}")]
    Socket(io::Error),
    /// The bytes between two threads do not arrive.
    #[error("send a byte from one thread to another: {0}")]
    Exchange(io::Error),
}
