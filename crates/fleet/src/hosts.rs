//! A handful of hosts without an engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{At as _, FleetError};
use crate::folder::RunFolder;
use crate::slurm::quoted;

/// A host that parts are started on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name in the run.
    pub name: String,
    /// The destination of `ssh`.
    ssh: Option<String>,
    /// The words that start a command there, in place of `ssh`.
    prefix: Vec<String>,
    /// Its cache folder; `None` for the usual one there.
    cache: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    host: BTreeMap<String, HostEntry>,
    /// Hosts that run load generators, which are none of a fleet.
    #[serde(default, rename = "client")]
    _client: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    ssh: Option<String>,
    prefix: Option<Vec<String>>,
    cache: Option<PathBuf>,
}

/// Reads a file of hosts, each a table `[host.NAME]` with `ssh = "DESTINATION"` or `prefix = [WORDS]`, and
/// `cache`.
///
/// # Errors
/// When it can't be read, or a host has neither or both.
pub fn read_hosts(path: &Path) -> Result<Vec<Host>, FleetError> {
    let invalid = |problem: String| FleetError::Invalid {
        path: path.to_owned(),
        problem,
    };
    let text = fs::read_to_string(path).at("read", path)?;
    let file: HostsFile = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let hosts = file.host.into_iter().map(|(name, entry)| {
        if entry.ssh.is_some() == entry.prefix.is_some() {
            return Err(invalid(format!(
                "host {name} needs either ssh = \"DESTINATION\" or prefix = [WORDS]"
            )));
        }
        Ok(Host {
            name,
            ssh: entry.ssh,
            prefix: entry.prefix.unwrap_or_default(),
            cache: entry.cache,
        })
    });
    let hosts: Vec<Host> = hosts.collect::<Result<_, _>>()?;
    if hosts.is_empty() {
        return Err(invalid(
            "it names no host; add a table [host.NAME]".to_owned(),
        ));
    }
    Ok(hosts)
}

impl Host {
    /// The words that measure a group of a round on this host.
    pub fn command(&self, folder: &RunFolder, round: u32, group: usize) -> Vec<String> {
        let cache = self.cache.as_ref();
        let cache = cache.map(|cache| format!("PRONY_CACHE={}", cache.display()));
        let program = folder.program().display().to_string();
        let mut words = vec!["env".to_owned()];
        words.extend(cache);
        let end_of_words = words.len();
        words.extend([program, "part".to_owned()]);
        words.push(folder.path().display().to_string());
        words.extend(["--round", &round.to_string()].map(str::to_owned));
        words.extend(["--task", &group.to_string()].map(str::to_owned));
        words.extend(["--host-name", &self.name].map(str::to_owned));
        match &self.ssh {
            None => self.prefix.iter().cloned().chain(words).collect(),
            Some(destination) => {
                let ssh = ["ssh", "-T", "-o", "BatchMode=yes"].map(str::to_owned);
                let alive = [
                    "-o",
                    "ServerAliveInterval=15",
                    "-o",
                    "ServerAliveCountMax=8",
                ];
                let alive = alive.map(str::to_owned);
                let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let (before, part) = line.split_at(end_of_words);
                // Nobody tells a program there that the connection is gone, except its guard.
                let line = format!(
                    "exec {} {} guard --parent $PPID -- {}",
                    before.join(" "),
                    part[0],
                    part.join(" ")
                );
                ssh.into_iter()
                    .chain(alive)
                    .chain([destination.clone(), line])
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Vec<Host>, FleetError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        fs::write(&path, text).unwrap();
        read_hosts(&path)
    }

    #[test]
    fn a_host_is_reached_by_ssh_or_by_words_of_the_user() {
        let found = hosts(
            "[host.a]\nssh = \"me@a\"\ncache = \"/fast disk\"\n[host.b]\nprefix = [\"env\"]\n",
        );
        let found = found.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(folder.path()).unwrap();
        let ssh = found[0].command(&folder, 0, 3);
        assert_eq!(ssh[0], "ssh");
        let line = ssh.last().unwrap();
        assert!(
            line.starts_with("exec 'env' 'PRONY_CACHE=/fast disk' '"),
            "{line}"
        );
        assert!(
            line.ends_with("'--round' '0' '--task' '3' '--host-name' 'a'"),
            "{line}"
        );
        let own = found[1].command(&folder, 0, 3);
        assert_eq!(own[..2], ["env".to_owned(), "env".to_owned()]);
    }

    #[test]
    fn a_host_without_a_way_to_it_is_refused() {
        for text in [
            "[host.a]\n",
            "[host.a]\nssh = \"a\"\nprefix = []\n",
            "[host]\n",
            "x",
        ] {
            assert!(hosts(text).is_err(), "{text}");
        }
    }
}
