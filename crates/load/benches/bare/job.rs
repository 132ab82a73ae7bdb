//! What a loop is asked to do.

use prony_client::{Address, Login};
use prony_model::{Protocol, Tls};
use serde::Deserialize;

/// One JSON document.
#[derive(Deserialize)]
pub(crate) struct Job {
    /// Where the server listens.
    pub(crate) address: Address,
    pub(crate) user: String,
    pub(crate) password: String,
    /// The database that holds `sbtest1`.
    pub(crate) database: String,
    /// Connections, at least as many as threads.
    pub(crate) clients: u32,
    /// Threads, at least 1.
    pub(crate) threads: u32,
    pub(crate) kind: Kind,
    pub(crate) protocol: Protocol,
    /// Rows of the table, whose ids are drawn from 1 to this.
    pub(crate) rows: u32,
    /// Milliseconds before the steady state.
    pub(crate) warmup_ms: u64,
    /// Milliseconds of steady state.
    pub(crate) measure_ms: u64,
    /// Whether every query is timed; blocking loops only.
    pub(crate) timed: bool,
}

/// How a thread waits for answers.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// In the call that receives: one connection for each thread.
    Blocking,
    /// In `epoll_wait(2)`.
    Epoll,
    /// In `io_uring_enter(2)`.
    IoUring,
}

impl Job {
    pub(crate) fn login(&self) -> Login {
        Login {
            user: self.user.clone(),
            password: self.password.clone(),
            database: Some(self.database.clone()),
            tls: Tls::Off,
        }
    }
}
