//! The only place that writes to standard output and standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{ExitStatus, Failure};

/// The user wants results, warnings and errors only. It belongs to the process, as the streams do.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out talk from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Talk is left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes data to standard output. A reader that has seen enough and closed its end is no error.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::to(
            ExitStatus::Host,
            &format!("write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Writes one line of talk to standard error: what Prony does and how far it is. `--quiet` leaves
/// it out.
pub(crate) fn talk(line: &str) {
    if !is_quiet() {
        notice(line);
    }
}

/// Writes an error, or a line that is important even for a user who wants no talk, to standard
/// error. A failure to write has no place where it could be reported.
pub(crate) fn notice(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
