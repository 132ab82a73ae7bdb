//! What the hidden `guard` sub-command does: a child process that can't outlive its parent.
//!
//! Between fork and exec only async-signal-safe code may run, which safe Rust can't promise. So
//! the binary starts itself once more, arms the kernel's parent-death signal from ordinary code,
//! and then becomes the program that was wanted.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, parent_id};
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal};

/// Why the guard did not become the program.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The kernel refuses the parent-death signal.
    #[error("ask the kernel to end this process with its parent: {0}")]
    DeathSignal(io::Error),
    /// The parent died before the signal was armed; there is nobody to work for.
    #[error("the parent process {0} is gone")]
    Orphaned(u32),
    /// The program can't be executed.
    #[error("execute {}: {source}", program.display())]
    Exec {
        /// The program as it was given.
        program: OsString,
        /// The answer of the operating system.
        source: io::Error,
    },
}

/// Arms the parent-death signal, makes sure that the parent is still `parent`, and becomes
/// `program`, which is looked up on `PATH`. Returns only when that failed.
pub fn exec(parent: u32, program: &OsStr, arguments: &[OsString]) -> GuardError {
    if parent_id() != parent {
        return GuardError::Orphaned(parent);
    }
    if let Err(errno) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return GuardError::DeathSignal(errno.into());
    }
    // Checked again: a parent that died before arming is noticed here, one that dies later kills.
    if parent_id() != parent {
        return GuardError::Orphaned(parent);
    }
    let source = Command::new(program).args(arguments).exec();
    GuardError::Exec {
        program: program.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_parent_is_noticed() {
        let error = exec(0, OsStr::new("true"), &[]);
        assert!(matches!(error, GuardError::Orphaned(0)), "{error}");
    }
}
