//! Running a program of a server that nothing is known of yet.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use prony_host::{At, Launcher};
use prony_model::StopFlag;

use super::AddError;

/// Saying a version or a help text takes no time.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
const LOOK: Duration = Duration::from_millis(50);

pub(super) struct Probe<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) stop: &'a StopFlag,
    /// A folder for its output.
    pub(super) scratch: &'a Path,
    /// The time that a command may take.
    pub(super) limit: Duration,
}

impl Probe<'_> {
    /// Runs a command to its end, however it ends, and returns what it said.
    pub(super) fn output(&self, mut command: Command) -> Result<String, AddError> {
        let path = self.scratch.join("said");
        let said = File::create(&path).at("create", &path)?;
        let error_too = said.try_clone().at("open", &path)?;
        command
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(error_too)
            .current_dir(self.scratch);
        let mut process = self.launcher.spawn(command).map_err(AddError::Run)?;
        let end = Instant::now() + self.limit;
        while process.wait_timeout(LOOK).map_err(AddError::Run)?.is_none() {
            if self.stop.requested() {
                return Err(AddError::Stopped);
            }
            if Instant::now() >= end {
                return Err(AddError::Silent(self.limit.as_secs()));
            }
        }
        drop(process);
        let bytes = fs::read(&path).at("read", &path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn what_is_said_by_a_program_that_does_not_end_counts_for_nothing() {
        let stage = Stage::with_clients(&[]);
        let folder = tempfile::tempdir().unwrap();
        let probe = |limit| {
            Probe {
                launcher: &stage.launcher,
                stop: &StopFlag::default(),
                scratch: folder.path(),
                limit,
            }
            .output({
                let mut command = stage.launcher.command("sh");
                command.args(["-c", "echo half; [ -e done ] || sleep 600"]);
                command
            })
        };
        let error = probe(Duration::from_millis(200)).unwrap_err();
        assert!(matches!(error, AddError::Silent(_)), "{error}");
        fs::write(folder.path().join("done"), "").unwrap();
        assert_eq!(probe(LIMIT).unwrap(), "half\n");
    }
}
