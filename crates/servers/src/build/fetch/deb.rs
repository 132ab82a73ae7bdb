//! Debian packages of any release and architecture, through `apt-get` and the mirror that this
//! machine already uses. Everything happens in a folder of our own: no root, nothing installed,
//! no state of the system changed.

mod sources;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use prony_host::{At, create_private};

use super::client::client_error;
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
        for program in ["apt-get", UNPACKER] {
            self.client_command(program)?;
        }
        let state = self.downloads.join("apt");
        self.update_index(&state, origin)?;
        let chosen = self.choose(&state, origin)?;
        self.download(&state, origin, &chosen)?;
        let mut artefacts = Vec::new();
        let mut missing: Vec<&str> = source.part.iter().map(|part| &*part.path).collect();
        for package in chosen {
            let path = self.downloads.join(&package.file);
            let (sha256, size) = digest::of_file(&path)?;
            self.say_unpacking(&package.name);
            let lacks = self.unpack_package(source, &path)?;
            // A part may come from any of the packages.
            missing.retain(|part| lacks.iter().any(|lack| lack == part));
            fs::remove_file(&path).at("remove", &path)?;
            artefacts.push(Artefact {
                name: package.name,
                version: package.version,
                size,
                sha256,
            });
        }
        if let Some(part) = missing.first() {
            let archive = origin.packages.join(" ").into();
            let part = (*part).to_owned();
            return Err(UnpackError::Missing { archive, part }.into());
        }
        Ok(artefacts)
    }

    /// Gets the package index, from the first mirror of the machine's that has it.
    fn update_index(&mut self, state: &Path, origin: &DebOrigin) -> Result<(), FetchError> {
        let (suite, architecture) = (&origin.suite, &origin.architecture);
        let what = format!("package index of {suite} ({architecture})");
        let mirrors = self.mirrors(suite)?;
        create_state(state, architecture)?;
        let mut failure = FetchError::NoMirror(what.clone());
        for mirror in mirrors {
            let path = state.join("mirror.sources");
            fs::write(&path, mirror.stanza(origin)).at("write", &path)?;
            let arrives = [state.join("lists/partial")];
            match self.run(
                "apt-get",
                &what,
                &arguments(state, &["update"]),
                &arrives,
                None,
            ) {
                Ok(_) => return Ok(()),
                Err(error @ FetchError::Client { .. }) => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    /// The mirrors in the machine's package configuration that may have `suite`.
    fn mirrors(&mut self, suite: &str) -> Result<Vec<Mirror>, FetchError> {
        let (list, parts) = ("Dir::Etc::sourcelist/f", "Dir::Etc::sourceparts/d");
        let arguments = ["shell", "LIST", list, "PARTS", parts];
        let what = "the places of the package sources";
        let places = self.run("apt-config", what, &arguments, &[], None)?;
        Ok(sources::mirrors(&places, suite))
    }

    /// Lets apt choose versions, and dependencies if they are wanted.
    fn choose(&mut self, state: &Path, origin: &DebOrigin) -> Result<Vec<Chosen>, FetchError> {
        let what = origin.packages.join(" ");
        let command: &[&str] = match origin.dependencies {
            Dependencies::None => &["download", "--print-uris", "-qq"],
            Dependencies::All => &["install", "--print-uris", "-qq", "--yes"],
        };
        let mut arguments = arguments(state, command);
        arguments.extend(origin.packages.iter().cloned());
        let printed = self.run("apt-get", &what, &arguments, &[], None)?;
        let left_out = |chosen: &Chosen| {
            let mut patterns = origin.without.iter();
            patterns.any(|pattern| glob::matches(pattern, &chosen.name))
        };
        let chosen = printed.lines().filter_map(parse_uri_line);
        Ok(chosen.filter(|chosen| !left_out(chosen)).collect())
    }

    fn download(
        &mut self,
        state: &Path,
        origin: &DebOrigin,
        chosen: &[Chosen],
    ) -> Result<(), FetchError> {
        let mut arguments = arguments(state, &["download", "-q"]);
        let mut arrives = Vec::new();
        for Chosen {
            name,
            version,
            file,
            ..
        } in chosen
        {
            arguments.push(format!("{name}={version}"));
            arrives.push(self.downloads.join(file));
        }
        arrives.push(state.join("archives/partial"));
        let total = chosen.iter().map(|package| package.size).sum();
        let what = origin.packages.join(" ");
        self.run("apt-get", &what, &arguments, &arrives, Some(total))?;
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
        let log = self.downloads.join(format!("{UNPACKER}.log"));
        let mut command = self.client_command(UNPACKER)?;
        command
            .arg("--fsys-tarfile")
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).at("create", &log)?);
        let mut process = self.launcher.spawn(command).map_err(run_error)?;
        let stream = process.child().stdout.take();
        let unpacking = self.unpacking(source);
        let unpacked = stream.map(|stream| unpacking.tar_stream(path, stream, &source.part));
        let missing = unpacked.transpose()?;
        let status = process.wait().map_err(run_error)?;
        if !status.success() {
            let what = path.display().to_string();
            return Err(client_error(UNPACKER, &what, status, &[&log]));
        }
        Ok(missing.unwrap_or_default())
    }
}

/// Makes the private state of apt for one fetch. It goes with the downloads: getting an index anew
/// takes seconds, keeping it takes a hundred megabytes.
fn create_state(state: &Path, architecture: &str) -> Result<(), FetchError> {
    for folder in ["lists/partial", "archives/partial", "empty"] {
        create_private(&state.join(folder))?;
    }
    let configuration = configuration(state, architecture);
    for (file, text) in [("status", ""), ("apt.conf", &configuration)] {
        let path = state.join(file);
        fs::write(&path, text).at("write", &path)?;
    }
    Ok(())
}

/// The arguments of a command of apt on that state.
fn arguments(state: &Path, command: &[&str]) -> Vec<String> {
    let configuration = state.join("apt.conf").display().to_string();
    let command = command.iter().map(|word| (*word).to_owned());
    ["-c".to_owned(), configuration]
        .into_iter()
        .chain(command)
        .collect()
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
