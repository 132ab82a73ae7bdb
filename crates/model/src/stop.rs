//! The wish of the user to stop, as a value that every long-running part can be handed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once (by Ctrl-C or SIGTERM), read often. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that shares `inner`, for signal handlers that set it.
    pub fn from_shared(inner: Arc<AtomicBool>) -> Self {
        Self(inner)
    }

    /// Asks all holders of a clone to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True where stopping was asked for.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
