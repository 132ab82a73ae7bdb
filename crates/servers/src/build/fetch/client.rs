//! Running the clients of package registries: watched, stoppable, with their output at hand.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use prony_host::{At, tail};

use super::{FetchError, Getter};

/// The time between two looks at a running client.
const LOOK: Duration = Duration::from_millis(200);
/// Lines of a failed client's output that the user is shown.
const SAID_LINES: usize = 15;

impl Getter<'_> {
    /// Runs a client to its end and returns what it wrote to standard output. It gets `what`, for
    /// the user; the bytes of the files at `arrives` are shown as progress, with their number in
    /// the end, if that is known.
    pub(super) fn run(
        &mut self,
        program: &'static str,
        what: &str,
        arguments: &[impl AsRef<OsStr>],
        arrives: &[PathBuf],
        total: Option<u64>,
    ) -> Result<String, FetchError> {
        let run_error = |source| FetchError::Run { program, source };
        let out = self.downloads.join(format!("{program}.out"));
        let log = self.downloads.join(format!("{program}.log"));
        let mut command = self.client_command(program)?;
        command
            .args(arguments)
            .current_dir(self.downloads)
            .stdin(Stdio::null())
            .stdout(File::create(&out).at("create", &out)?)
            .stderr(File::create(&log).at("create", &log)?);
        let mut process = self.launcher.spawn(command).map_err(run_error)?;
        let status = loop {
            let ended = process.wait_timeout(LOOK).map_err(run_error)?;
            if !arrives.is_empty() {
                let bytes = arrives.iter().map(|place| size_of(place)).sum();
                self.say_downloading(what, bytes, total);
            }
            if let Some(status) = ended {
                break status;
            }
            if self.stop.requested() {
                return Err(FetchError::Stopped);
            }
        };
        if !status.success() {
            return Err(client_error(program, what, status, &[&log, &out]));
        }
        Ok(fs::read_to_string(&out).at("read", &out)?)
    }

    /// A guarded command for a client, if the machine has it.
    pub(super) fn client_command(&self, program: &'static str) -> Result<Command, FetchError> {
        let missing = || FetchError::MissingProgram {
            id: self.id.to_owned(),
            program,
            package: match program {
                "mvn" => "maven",
                "npm" => "npm",
                "pip3" => "python3-pip",
                "dpkg-deb" => "dpkg",
                _ => "apt",
            },
        };
        let path = self.launcher.find_program(program).ok_or_else(missing)?;
        Ok(self.launcher.command(path))
    }
}

/// The failure of a client, with the end of the first file in which it says something: some clients
/// complain on standard output, and colour nothing on standard error.
pub(super) fn client_error(
    program: &'static str,
    what: &str,
    status: ExitStatus,
    files: &[&Path],
) -> FetchError {
    let said = files
        .iter()
        .map(|file| without_colours(&tail(file, SAID_LINES)));
    FetchError::Client {
        program,
        what: what.to_owned(),
        status: status.to_string(),
        said: said
            .into_iter()
            .find(|said| !said.trim().is_empty())
            .unwrap_or_default(),
    }
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
