//! Programs of the workspace, built with optimisation, and what they print.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

/// The paths of programs, by name.
pub(crate) struct Programs(HashMap<String, PathBuf>);

impl Programs {
    /// Builds the binary `prony` and benchmarks of the load generator: all at once, so that what
    /// they share is built once. `features` are cargo's.
    pub(crate) fn build(
        root: &Path,
        benches: &[&str],
        features: Option<&str>,
    ) -> Result<Self, String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(["build", "--release", "--package", "prony", "--bin", "prony"])
            .args(["--package", "prony-load"])
            .arg("--message-format=json-render-diagnostics");
        for bench in benches {
            command.args(["--bench", bench]);
        }
        if let Some(features) = features {
            command.args(["--features", features]);
        }
        let output = command
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("run cargo: {error}"))?;
        if !output.status.success() {
            return Err("cargo failed to build the programs".to_owned());
        }
        let messages = Message::parse_stream(output.stdout.as_slice()).filter_map(Result::ok);
        let executables = messages.filter_map(|message| match message {
            Message::CompilerArtifact(artifact) => {
                Some((artifact.target.name, artifact.executable?.into()))
            }
            _ => None,
        });
        Ok(Self(executables.collect()))
    }

    /// The path of one of them.
    pub(crate) fn path(&self, name: &str) -> Result<&Path, String> {
        let path = self.0.get(name).map(PathBuf::as_path);
        path.ok_or_else(|| format!("cargo did not say where {name} is"))
    }
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
