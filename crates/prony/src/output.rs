//! The only place that writes to standard output and standard error.

use std::io::{self, Write};

use crate::failure::{ExitStatus, Failure};

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

/// Writes one line of talk to standard error. Nobody can be told when that fails.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
