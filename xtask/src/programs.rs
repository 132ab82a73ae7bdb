//! Programs of the workspace, built with optimisation, and what they print.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

/// Builds the binary `prony` and says where it is.
pub(crate) fn prony(root: &Path) -> Result<PathBuf, String> {
    build(root, &["build", "--release", "--package", "prony"], "prony")
}

/// Builds a benchmark of the load generator and says where it is.
pub(crate) fn bench(root: &Path, name: &str) -> Result<PathBuf, String> {
    let arguments = ["bench", "--no-run", "--package", "prony-load", "--bench"];
    build(root, &[arguments.as_slice(), &[name]].concat(), name)
}

/// Runs cargo, and says where it put the executable of that name.
fn build(root: &Path, arguments: &[&str], name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo failed to build {name}"));
    }
    Message::parse_stream(output.stdout.as_slice())
        .filter_map(Result::ok)
        .find_map(|message| match message {
            Message::CompilerArtifact(artifact) if artifact.target.name == name => {
                artifact.executable.map(PathBuf::from)
            }
            _ => None,
        })
        .ok_or_else(|| format!("cargo did not say where {name} is"))
}

/// Runs a program and returns the lines that it prints; `tell` sees each as it comes.
pub(crate) fn lines(
    mut command: Command,
    tell: &mut dyn FnMut(&str) -> Result<(), String>,
) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("run {name}: {error}"))?;
    let output = child.stdout.take().ok_or("the program has no output")?;
    let mut all = String::new();
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| format!("read what {name} prints: {error}"))?;
        tell(&line)?;
        all.push_str(&line);
        all.push('\n');
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(all),
        Ok(status) => Err(format!("{name} failed: {status}")),
        Err(error) => Err(format!("wait for {name}: {error}")),
    }
}
