//! `bench-peers`: the load generator beside sysbench and beside bare loops. The measuring is done by
//! a benchmark of the load generator, which has the project's crates at hand; here its raw lines
//! become figures and tables.

mod cell;
mod lines;
mod page;
mod spread;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::peers::lines::{Line, Lines};
use crate::programs::{self, Programs};

/// Choice of output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Tables.
    Markdown,
    /// Measurements as read.
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
    let programs = Programs::build(root, &["bare", "peers"], None)?;
    let mut command = Command::new(programs.path("peers")?);
    command
        .arg("--prony")
        .arg(programs.path("prony")?)
        .arg("--bare")
        .arg(programs.path("bare")?)
        .args(arguments);
    programs::lines(command, &mut |line| {
        eprintln!("{}", Line::parse(line)?);
        Ok(())
    })
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
