//! Running the clients of package registries: watched, stoppable, with their output at hand.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use prony_host::{At, tail};

use super::{FetchError, Getter};

/// The time between two looks at a running client.
const LOOK: Duration = Duration::from_millis(200);
/// Lines of a failed client's output that the user is shown.
const SAID_LINES: usize = 15;

/// The task of a client.
pub(super) struct Errand<'e> {
    /// The client's name.
    pub(super) program: &'static str,
    /// The Debian package that has it.
    pub(super) package: &'static str,
    /// The thing that it gets, for the user.
    pub(super) what: &'e str,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
    /// The files whose bytes are shown as progress; empty shows nothing.
    pub(super) arrives: &'e [PathBuf],
    /// Their number in the end, if that is known.
    pub(super) total: Option<u64>,
}

impl Getter<'_> {
    /// Runs a client to its end and returns what it wrote to standard output.
    pub(super) fn run(&mut self, errand: &Errand<'_>) -> Result<String, FetchError> {
        let program = errand.program;
        let run_error = |source| FetchError::Run { program, source };
        let (out, log) = self.output_files(program);
        let mut command = self.client_command(program, errand.package)?;
        command
            .args(&errand.arguments)
            .current_dir(self.downloads)
            .stdin(Stdio::null())
            .stdout(File::create(&out).at("create", &out)?)
            .stderr(File::create(&log).at("create", &log)?);
        let mut process = self.launcher.spawn(command).map_err(run_error)?;
        let status = loop {
            let ended = process.wait_timeout(LOOK).map_err(run_error)?;
            if !errand.arrives.is_empty() {
                let bytes = errand.arrives.iter().map(|place| size_of(place)).sum();
                self.say_downloading(errand.what, bytes, errand.total);
            }
            if let Some(status) = ended {
                break status;
            }
            if self.stop.requested() {
                return Err(FetchError::Stopped);
            }
        };
        if status.success() {
            return fs::read_to_string(&out)
                .at("read", &out)
                .map_err(FetchError::from);
        }
        Err(FetchError::Client {
            program,
            what: errand.what.to_owned(),
            status: status.to_string(),
            said: said(&out, &log),
        })
    }

    /// The files of a client's standard output and standard error.
    pub(super) fn output_files(&self, program: &str) -> (PathBuf, PathBuf) {
        (
            self.downloads.join(format!("{program}.out")),
            self.downloads.join(format!("{program}.log")),
        )
    }

    /// A guarded command for a client, if the machine has it.
    pub(super) fn client_command(
        &self,
        program: &'static str,
        package: &'static str,
    ) -> Result<Command, FetchError> {
        match self.launcher.find_program(program) {
            Some(path) => Ok(self.launcher.command(path)),
            None => Err(FetchError::MissingProgram {
                id: self.id.to_owned(),
                program,
                package,
            }),
        }
    }
}

/// The end of a client's output; some clients complain on standard output, and colour nothing on
/// standard error.
pub(super) fn said(out: &Path, log: &Path) -> String {
    let said = without_colours(&tail(log, SAID_LINES));
    if said.trim().is_empty() {
        return without_colours(&tail(out, SAID_LINES));
    }
    said
}

/// Takes out what sets colours on terminals: ECMA-48 control sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        plain.push_str(&part[end.map_or(part.len(), |end| end + 1)..]);
    }
    plain
}

/// Bytes in a file or in all files below a folder. What vanishes meanwhile counts nothing.
fn size_of(place: &Path) -> u64 {
    let Ok(meta) = place.symlink_metadata() else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let Ok(entries) = fs::read_dir(place) else {
        return 0;
    };
    entries.flatten().map(|entry| size_of(&entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(without_colours("\u{1b}[0m\u{1b}[0m"), "");
        assert_eq!(
            without_colours("[\u{1b}[1;31mERROR\u{1b}[m] no"),
            "[ERROR] no"
        );
        assert_eq!(without_colours("plain"), "plain");
    }
}
