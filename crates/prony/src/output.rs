//! The only place that writes to standard output and standard error.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use console::Term;
use prony_report::Screen;

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
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.or_else(|error| refused(&error))
}

/// Writes data to standard output as `work` produces it. The inner result is that of the output. A reader
/// that has closed its end is no error.
pub(crate) fn stream(
    work: impl FnOnce(&mut (dyn Write + Send)) -> Result<io::Result<()>, Failure>,
) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout());
    let written = work(&mut out)?;
    written
        .and_then(|()| out.flush())
        .or_else(|error| refused(&error))
}

fn refused(error: &io::Error) -> Result<(), Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(());
    }
    let message = format!("write to standard output: {error}");
    Err(Failure::to(ExitStatus::Host, &message))
}

/// The place that standard output goes to: a terminal of some width, or a file. Colour is for terminals
/// only, and `NO_COLOR` turns it off.
pub(crate) fn screen() -> Screen {
    let plain = Screen::default();
    let terminal = Term::stdout();
    if !terminal.is_term() {
        return plain;
    }
    Screen {
        width: terminal
            .size_checked()
            .map_or(plain.width, |(_, columns)| columns.into()),
        colour: terminal.features().colors_supported()
            && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
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
