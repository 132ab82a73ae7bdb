//! The only place that writes to standard output and standard error.

use std::io::{self, BufWriter, Write};

use crate::failure::{ExitStatus, Failure};

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

/// Writes one line of talk to standard error. Nobody can be told when that fails.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
