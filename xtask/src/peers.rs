//! `bench-peers`: the load generator beside sysbench and beside bare loops. The measuring is done by
//! a benchmark of the load generator, which has the project's crates at hand; here its raw lines
//! become figures and tables.

mod cell;
mod lines;
mod page;
mod spread;
mod table;
mod targets;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use crate::peers::lines::{Line, Lines};

/// What to print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Tables.
    Markdown,
    /// What was read.
    Json,
}

/// The options that concern printing, and the rest.
struct Options {
    format: Format,
    read: Option<PathBuf>,
    measuring: Vec<String>,
}

/// Measures, or reads what was measured, and prints it.
pub(crate) fn run(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    let raw = match &options.read {
        Some(path) => {
            fs::read_to_string(path).map_err(|error| format!("read {}: {error}", path.display()))?
        }
        None => measure(root, &options.measuring)?,
    };
    match options.format {
        Format::Json => print!("{raw}"),
        Format::Markdown => print!("{}", page::page(&Lines::parse(&raw)?)),
    }
    Ok(())
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            format: Format::Markdown,
            read: None,
            measuring: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--format" => {
                    options.format = match arguments.next().as_deref() {
                        Some("md") => Format::Markdown,
                        Some("json") => Format::Json,
                        _ => return Err("--format takes md or json".to_owned()),
                    }
                }
                "--read" => {
                    let path = arguments.next().ok_or("--read takes a file")?;
                    options.read = Some(path.into());
                }
                _ => options.measuring.push(argument),
            }
        }
        Ok(options)
    }
}

/// Builds the programs and runs the benchmark. Returns its lines, and tells of each as it comes.
fn measure(root: &Path, arguments: &[String]) -> Result<String, String> {
    let prony = build(root, &["build", "--release", "--package", "prony"], "prony")?;
    let bench = |name| {
        let arguments = [
            "bench",
            "--no-run",
            "--package",
            "prony-load",
            "--bench",
            name,
        ];
        build(root, &arguments, name)
    };
    let (bare, peers) = (bench("bare")?, bench("peers")?);
    let mut child = Command::new(&peers)
        .arg("--prony")
        .arg(prony)
        .arg("--bare")
        .arg(bare)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("run {}: {error}", peers.display()))?;
    let mut raw = String::new();
    let output = child.stdout.take().ok_or("the benchmark has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| format!("read what the benchmark prints: {error}"))?;
        eprintln!("{}", Line::parse(&line)?);
        raw.push_str(&line);
        raw.push('\n');
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(raw),
        Ok(status) => Err(format!("the benchmark failed: {status}")),
        Err(error) => Err(format!("wait for the benchmark: {error}")),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_apart() {
        let given = ["--rounds", "2", "--format", "json", "--read", "x"];
        let options = Options::parse(given.into_iter().map(str::to_owned)).unwrap();
        assert!(options.format == Format::Json);
        assert_eq!(options.read, Some("x".into()));
        assert_eq!(options.measuring, ["--rounds", "2"]);
    }

    #[test]
    fn an_unknown_format_is_refused() {
        let given = ["--format", "csv"].into_iter().map(str::to_owned);
        assert!(Options::parse(given).is_err());
    }
}
