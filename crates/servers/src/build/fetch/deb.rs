//! Debian packages of any release and architecture, through `apt-get` and the mirror that this
//! machine already uses. Everything happens in a folder of our own: no root, nothing installed,
//! no state of the system changed.

mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use prony_host::{At, create_private};

use super::client::{Errand, said};
use super::{FetchError, Getter};
use crate::build::Artefact;
use crate::build::catalogue::{DebOrigin, Dependencies, Source};
use crate::build::glob;
use crate::build::unpack::UnpackError;
use crate::digest;
use sources::Mirror;

/// The program that reads packages.
const UNPACKER: &str = "dpkg-deb";

/// A package that apt has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Chosen {
    name: String,
    version: String,
    size: u64,
    /// The name under which it is downloaded.
    file: String,
}

impl Getter<'_> {
    /// Gets packages, checks them against the signed index (which apt does) and unpacks them.
    pub(super) fn debian_packages(
        &mut self,
        source: &Source,
        origin: &DebOrigin,
    ) -> Result<Vec<Artefact>, FetchError> {
        for (program, package) in [("apt-get", "apt"), (UNPACKER, "dpkg")] {
            self.client_command(program, package)?;
        }
        let state = State {
            folder: self.downloads.join("apt"),
        };
        self.update_index(&state, origin)?;
        let chosen = self.choose(&state, origin)?;
        self.download(&state, origin, &chosen)?;
        let mut artefacts = Vec::new();
        let mut missing: Option<Vec<String>> = None;
        for package in chosen {
            let path = self.downloads.join(&package.file);
            let (sha256, size) = digest::of_file(&path)?;
            self.say_unpacking(&package.name);
            let lacks = self.unpack_package(source, &path)?;
            // A part may come from any of the packages.
            missing = Some(match missing {
                None => lacks,
                Some(still) => still.into_iter().filter(|m| lacks.contains(m)).collect(),
            });
            fs::remove_file(&path).at("remove", &path)?;
            artefacts.push(Artefact {
                name: package.name,
                version: package.version,
                size,
                sha256,
            });
        }
        match missing.into_iter().flatten().next() {
            None => Ok(artefacts),
            Some(part) => Err(UnpackError::Missing {
                archive: PathBuf::from(origin.packages.join(" ")),
                part,
            }
            .into()),
        }
    }

    /// Gets the package index, from the first mirror of the machine's that has it.
    fn update_index(&mut self, state: &State, origin: &DebOrigin) -> Result<(), FetchError> {
        let what = format!(
            "package index of {} ({})",
            origin.suite, origin.architecture
        );
        let mirrors = self.mirrors(&origin.suite)?;
        state.create(&origin.architecture)?;
        let mut failure = FetchError::NoMirror(what.clone());
        for mirror in mirrors {
            let path = state.folder.join("mirror.sources");
            fs::write(&path, mirror.stanza(origin)).at("write", &path)?;
            let outcome = self.run(&Errand {
                program: "apt-get",
                package: "apt",
                what: &what,
                arguments: state.arguments(&["update"]),
                arrives: &[state.folder.join("lists/partial")],
                total: None,
            });
            match outcome {
                Ok(_) => return Ok(()),
                Err(error @ FetchError::Client { .. }) => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    /// The mirrors in the machine's package configuration that may have `suite`.
    fn mirrors(&mut self, suite: &str) -> Result<Vec<Mirror>, FetchError> {
        let places = self.run(&Errand {
            program: "apt-config",
            package: "apt",
            what: "the places of the package sources",
            arguments: [
                "shell",
                "LIST",
                "Dir::Etc::sourcelist/f",
                "PARTS",
                "Dir::Etc::sourceparts/d",
            ]
            .map(str::to_owned)
            .to_vec(),
            arrives: &[],
            total: None,
        })?;
        Ok(sources::mirrors(&places, suite))
    }

    /// Lets apt choose versions, and dependencies if they are wanted.
    fn choose(&mut self, state: &State, origin: &DebOrigin) -> Result<Vec<Chosen>, FetchError> {
        let what = origin.packages.join(" ");
        let command: &[&str] = match origin.dependencies {
            Dependencies::None => &["download", "--print-uris", "-qq"],
            Dependencies::All => &["install", "--print-uris", "-qq", "--yes"],
        };
        let mut arguments = state.arguments(command);
        arguments.extend(origin.packages.iter().cloned());
        let printed = self.run(&Errand {
            program: "apt-get",
            package: "apt",
            what: &what,
            arguments,
            arrives: &[],
            total: None,
        })?;
        let left_out = |chosen: &Chosen| {
            let mut patterns = origin.without.iter();
            patterns.any(|pattern| glob::matches(pattern, &chosen.name))
        };
        Ok(printed
            .lines()
            .filter_map(parse_uri_line)
            .filter(|chosen| !left_out(chosen))
            .collect())
    }

    fn download(
        &mut self,
        state: &State,
        origin: &DebOrigin,
        chosen: &[Chosen],
    ) -> Result<(), FetchError> {
        let mut arguments = state.arguments(&["download", "-q"]);
        arguments.extend(
            chosen
                .iter()
                .map(|package| format!("{}={}", package.name, package.version)),
        );
        let arrives: Vec<_> = chosen
            .iter()
            .map(|package| self.downloads.join(&package.file))
            .chain([state.folder.join("archives/partial")])
            .collect();
        self.run(&Errand {
            program: "apt-get",
            package: "apt",
            what: &origin.packages.join(" "),
            arguments,
            arrives: &arrives,
            total: Some(chosen.iter().map(|package| package.size).sum()),
        })?;
        match arrives[..chosen.len()].iter().find(|path| !path.is_file()) {
            None => Ok(()),
            Some(path) => Err(FetchError::NotBrought {
                program: "apt-get",
                path: path.clone(),
            }),
        }
    }

    /// Unpacks one package without its scripts being looked at. Returns the parts it lacks.
    fn unpack_package(&mut self, source: &Source, path: &Path) -> Result<Vec<String>, FetchError> {
        let run_error = |source| FetchError::Run {
            program: UNPACKER,
            source,
        };
        let (out, log) = self.output_files(UNPACKER);
        let mut command = self.client_command(UNPACKER, "dpkg")?;
        command
            .arg("--fsys-tarfile")
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).at("create", &log)?);
        let mut process = self.launcher.spawn(command).map_err(run_error)?;
        let stream = process.child().stdout.take();
        let unpacked = match stream {
            Some(stream) => self
                .unpacking(source)
                .tar_stream(path, stream, &source.part),
            None => Ok(Vec::new()),
        };
        if unpacked.is_ok() {
            let ended = process.wait().map_err(run_error)?;
            if !ended.success() {
                return Err(FetchError::Client {
                    program: UNPACKER,
                    what: path.display().to_string(),
                    status: ended.to_string(),
                    said: said(&out, &log),
                });
            }
        }
        Ok(unpacked?)
    }
}

/// The private state of apt for one fetch. It goes with the downloads: getting an index anew takes
/// seconds, keeping it takes a hundred megabytes.
struct State {
    folder: PathBuf,
}

impl State {
    fn create(&self, architecture: &str) -> Result<(), FetchError> {
        for folder in ["lists/partial", "archives/partial", "empty"] {
            create_private(&self.folder.join(folder))?;
        }
        for (file, text) in [
            ("status", String::new()),
            ("apt.conf", configuration(&self.folder, architecture)),
        ] {
            let path = self.folder.join(file);
            fs::write(&path, text).at("write", &path)?;
        }
        Ok(())
    }

    fn arguments(&self, command: &[&str]) -> Vec<String> {
        let configuration = self.folder.join("apt.conf").display().to_string();
        let mut arguments = vec!["-c".to_owned(), configuration];
        arguments.extend(command.iter().map(|word| (*word).to_owned()));
        arguments
    }
}

/// Read after the machine's own configuration, which stays in force for proxies, certificates and
/// the like. Hooks are cleared because some of them delete files of the system, and the user that
/// root would step down to can't read folders that are root's alone. Indexes are read three times
/// and are therefore not kept compressed.
fn configuration(folder: &Path, architecture: &str) -> String {
    let folder = folder.display();
    format!(
        r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
#clear APT::Architectures;
#clear APT::NeverAutoRemove;
#clear APT::Default-Release;
#clear Acquire::IndexTargets;
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::GzipIndexes "false";
Acquire::IndexTargets::deb::Packages {{
  MetaKey "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages";
  flatMetaKey "Packages";
  ShortDescription "Packages";
  Description "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Packages";
  flatDescription "$(RELEASE) Packages";
  Optional "no";
}};
Dir::State "{folder}";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}";
Dir::Cache::archives "{folder}/archives";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "{folder}/mirror.sources";
Dir::Etc::sourceparts "{folder}/empty";
Dir::Etc::preferences "{folder}/empty/none";
Dir::Etc::preferencesparts "{folder}/empty";
"#
    )
}

/// Reads `'URI' name_version_architecture.deb size hash`; the version's colon is written `%3a`.
fn parse_uri_line(line: &str) -> Option<Chosen> {
    let mut fields = line.strip_prefix('\'')?.split_once("' ")?.1.split(' ');
    let file = fields.next()?;
    let size = fields.next()?.parse().ok()?;
    let mut parts = file.strip_suffix(".deb")?.splitn(3, '_');
    Some(Chosen {
        name: parts.next()?.to_owned(),
        version: parts.next()?.replace("%3a", ":"),
        size,
        file: file.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_chosen_packages() {
        let line = "'http://m/pool/libc/libcrypt1_4.4.33-2_i386.deb' \
                    libcrypt1_1%3a4.4.33-2_i386.deb 95572 SHA256:bbed";
        let chosen = parse_uri_line(line).unwrap();
        assert_eq!(chosen.name, "libcrypt1");
        assert_eq!(chosen.version, "1:4.4.33-2");
        assert_eq!(chosen.size, 95572);
        assert_eq!(chosen.file, "libcrypt1_1%3a4.4.33-2_i386.deb");
        for bad in [
            "",
            "W: no",
            "'http://m' x.deb",
            "'http://m' x_1_all.deb many",
        ] {
            assert_eq!(parse_uri_line(bad), None, "{bad}");
        }
    }
}
