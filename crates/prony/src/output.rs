//! The only place that writes to standard output and standard error.

use std::io::{self, Write};

use console::Term;
use prony_report::Screen;

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

/// Writes one line of talk to standard error. Nobody can be told when that fails.
pub(crate) fn talk(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
