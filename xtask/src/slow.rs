//! Building the library that slows a server on purpose.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;

/// Source of the library, in the workspace.
const SOURCE: &str = "tests/slow/slow.c";
const USAGE: &str = "usage: cargo xtask slow --percent P [--out FILE.so]";

/// The library that is wanted.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    /// A number above 0 and up to 1000, as written.
    percent: String,
    out: Option<PathBuf>,
}

/// Builds the library for a percentage with the C compiler `cc`, or the one that `CC` names, and
/// prints its path: `target/slow-P.so`, unless `--out` names another.
pub(crate) fn build(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let Wanted { percent, out } = read(arguments)?;
    let out = out.unwrap_or_else(|| root.join("target").join(format!("slow-{percent}.so")));
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut compile = Command::new(compiler);
    compile
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        .arg(format!("-DPERCENT={percent}"))
        .arg("-o")
        .arg(&out)
        .arg(root.join(SOURCE));
    cargo::run("slow", &mut compile)?;
    println!("{}", out.display());
    Ok(())
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let (mut percent, mut out) = (None, None);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.ok_or_else(|| format!("slow: `{argument}` needs a value\n{USAGE}"))
        };
        match argument.as_str() {
            "--percent" => percent = Some(value()?),
            "--out" => out = Some(PathBuf::from(value()?)),
            _ => return Err(format!("slow: unknown argument `{argument}`\n{USAGE}")),
        }
    }
    let percent = percent.ok_or_else(|| format!("slow: `--percent` is missing\n{USAGE}"))?;
    let digits = percent.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match percent.parse::<f64>() {
        Ok(number) if digits && number > 0.0 && number <= 1000.0 => Ok(Wanted { percent, out }),
        _ => Err(format!(
            "slow: `--percent {percent}` is not a number above 0 and up to 1000\n{USAGE}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &str) -> Result<Wanted, String> {
        read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn percentages_are_numbers_above_zero() {
        let wanted = |percent: &str, out: Option<&str>| Wanted {
            percent: percent.to_owned(),
            out: out.map(PathBuf::from),
        };
        assert_eq!(read_words("--percent 5"), Ok(wanted("5", None)));
        assert_eq!(
            read_words("--out a.so --percent 0.5"),
            Ok(wanted("0.5", Some("a.so")))
        );
        for bad in [
            "",
            "--percent",
            "--percent 0",
            "--percent -1",
            "--percent 1e3",
            "--percent 2000",
            "--percent 5 --slow",
        ] {
            assert!(read_words(bad).unwrap_err().contains(USAGE), "{bad}");
        }
    }
}
