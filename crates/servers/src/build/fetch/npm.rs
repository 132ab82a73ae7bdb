//! Files from npm registries, through `npm` and the user's own settings.

use std::fs;
use std::path::PathBuf;
use std::slice;

use prony_host::{At, create_private};

use super::{FetchError, Getter};
use crate::build::catalogue::Source;

impl Getter<'_> {
    /// Gets the archive of `name@version`. Nothing of it is run.
    pub(super) fn npm(&mut self, source: &Source, package: &str) -> Result<PathBuf, FetchError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-+".contains(c);
        if package.starts_with('-') || !package.contains('@') || !package.chars().all(plain) {
            return Err(FetchError::Coordinates {
                coordinates: package.to_owned(),
                form: "name@version",
            });
        }
        let cache = self.downloads.join("npm-cache");
        let packed = self.downloads.join("npm-packed");
        create_private(&packed)?;
        let arguments = [
            "pack".as_ref(),
            "--ignore-scripts".as_ref(),
            "--cache".as_ref(),
            cache.as_os_str(),
            "--pack-destination".as_ref(),
            packed.as_os_str(),
            package.as_ref(),
        ];
        // The archive is kept in the cache first and then copied.
        let arrives = slice::from_ref(&cache);
        self.run("npm", package, &arguments, arrives, source.size)?;
        let mut files = fs::read_dir(&packed).at("read", &packed)?.flatten();
        match files.next() {
            Some(file) => Ok(file.path()),
            None => Err(FetchError::NotBrought {
                program: "npm",
                path: packed,
            }),
        }
    }
}
