//! Runs of cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo that runs this command, with arguments that contain no blanks.
pub(crate) fn command(arguments: &str) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments.split_whitespace());
    command
}

/// Runs a command to its end.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<(), String> {
    let status = command.status();
    let status = status.map_err(|error| format!("{name}: failed to start {command:?}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{name} failed: {command:?}"))
    }
}

/// Builds programs. Returns the target folder, which has a folder for each profile.
pub(crate) fn build(root: &Path, arguments: &str) -> Result<PathBuf, String> {
    let mut build = command(&format!("build {arguments}"));
    run("build", build.current_dir(root))?;
    let target = env::var_os("CARGO_TARGET_DIR");
    Ok(target.map_or_else(|| root.join("target"), PathBuf::from))
}
