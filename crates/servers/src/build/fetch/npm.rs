//! Files from npm registries, through `npm` and the user's own settings.

use std::fs;
use std::path::PathBuf;

use prony_host::{At, create_private};

use super::client::Errand;
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
        self.run(&Errand {
            program: "npm",
            package: "npm",
            what: package,
            arguments: vec![
                "pack".into(),
                "--ignore-scripts".into(),
                "--cache".into(),
                cache.display().to_string(),
                "--pack-destination".into(),
                packed.display().to_string(),
                package.into(),
            ],
            // The archive is kept in the cache first and then copied.
            arrives: &[cache],
            total: source.size,
        })?;
        let mut files = fs::read_dir(&packed).at("read", &packed)?.flatten();
        files
            .next()
            .map(|file| file.path())
            .ok_or(FetchError::NotBrought {
                program: "npm",
                path: packed,
            })
    }
}
