//! Ctrl-C and SIGTERM: the first asks to stop, the second ends Prony at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use prony_model::StopFlag;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The signals that ask Prony to stop, and which of them came.
pub(crate) struct Signals {
    pub(crate) stop: StopFlag,
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// Watches from now on.
    pub(crate) fn watch() -> io::Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order matters: the shutdown looks at the flag as the *first* signal left it.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&requested),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&requested))?;
            let number = usize::try_from(signal).unwrap_or(0);
            signal_hook::flag::register_usize(signal, Arc::clone(&last), number)?;
        }
        Ok(Self {
            stop: StopFlag::from_shared(requested),
            last,
        })
    }

    /// The exit code for a command that was asked to stop: 128 plus the signal, as shells count.
    pub(crate) fn exit_code(&self) -> u8 {
        u8::try_from(128 + self.last.load(Ordering::Relaxed)).unwrap_or(u8::MAX)
    }
}
