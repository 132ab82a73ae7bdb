//! The user's file of hosts: a handful without an engine that measure, and those that run load
//! generators.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use prony_model::CpuSet;
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

/// A host that runs load generators for servers on this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// The address of this host that servers listen on.
    pub listen: IpAddr,
    /// Processors of load generators there; `None` for all.
    pub cpus: Option<CpuSet>,
    /// `true` if the address may be one that the whole Internet reaches.
    pub public: bool,
    ssh: Option<String>,
    prefix: Vec<String>,
    /// The program there; `None` where `prony client install` puts it.
    program: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    #[serde(default)]
    host: BTreeMap<String, HostEntry>,
    #[serde(default)]
    client: BTreeMap<String, ClientEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientEntry {
    ssh: Option<String>,
    prefix: Option<Vec<String>>,
    listen: IpAddr,
    cpus: Option<String>,
    prony: Option<String>,
    #[serde(default)]
    public: bool,
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
    let invalid = |problem: String| invalid(path, problem);
    let hosts = read(path)?.host.into_iter().map(|(name, entry)| {
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

/// Reads a host that runs load generators: a table `[client.NAME]` with `listen = "ADDRESS"`,
/// `ssh = "DESTINATION"` or `prefix = [WORDS]`, and where needed `prony`, `cpus` and `public`.
///
/// # Errors
/// When the file can't be read, does not name the host, or says of it what can't be.
pub fn read_client(path: &Path, name: &str) -> Result<Client, FleetError> {
    let invalid = |problem: String| invalid(path, problem);
    let mut clients = read(path)?.client;
    let Some(entry) = clients.remove(name) else {
        let known: Vec<&str> = clients.keys().map(String::as_str).collect();
        return Err(invalid(format!(
            "it has no table [client.{name}]; it has {}",
            match known.as_slice() {
                [] => "none of a client".to_owned(),
                known => known.join(", "),
            }
        )));
    };
    if entry.ssh.is_some() == entry.prefix.is_some() {
        return Err(invalid(format!(
            "client {name} needs either ssh = \"DESTINATION\" or prefix = [WORDS]"
        )));
    }
    let cpus = entry.cpus.map(|cpus| cpus.parse()).transpose();
    Ok(Client {
        name: name.to_owned(),
        listen: entry.listen,
        cpus: cpus.map_err(|error| invalid(format!("client {name}: cpus: {error}")))?,
        public: entry.public,
        ssh: entry.ssh,
        prefix: entry.prefix.unwrap_or_default(),
        program: entry.prony,
    })
}

fn read(path: &Path) -> Result<HostsFile, FleetError> {
    let text = fs::read_to_string(path).at("read", path)?;
    toml::from_str(&text).map_err(|error| invalid(path, error.to_string()))
}

fn invalid(path: &Path, problem: String) -> FleetError {
    FleetError::Invalid {
        path: path.to_owned(),
        problem,
    }
}

impl Client {
    /// The words that start the far end of this program there. `own` is this program's file, and
    /// `build` its hash.
    pub fn command(&self, own: &Path, build: &str) -> Vec<String> {
        let Some(destination) = &self.ssh else {
            let program = self.program.clone();
            let program = program.unwrap_or_else(|| own.display().to_string());
            let prefix = self.prefix.iter().cloned();
            return prefix.chain([program, "far".to_owned()]).collect();
        };
        let program = self.program_for_shell(build);
        // Nobody tells a program there that the connection is gone, except its guard.
        let line = format!("exec {program} guard --parent $PPID -- {program} far");
        ssh(destination, 5, 2, line)
    }

    /// The words that put this program there from their standard input. `None` where Prony does not know
    /// how.
    pub fn install_command(&self, build: &str) -> Option<Vec<String>> {
        let program = self.program_for_shell(build);
        // A running program can't be written, but another can take its name.
        let line = format!(
            "umask 077 && mkdir -p \"$(dirname {program})\" && cat > {program}.new && \
             chmod 700 {program}.new && mv {program}.new {program}"
        );
        Some(ssh(self.ssh.as_deref()?, 15, 8, line))
    }

    /// The program there, as a word of a shell.
    fn program_for_shell(&self, build: &str) -> String {
        match &self.program {
            Some(program) => quoted(program),
            None => format!("\"$HOME\"/.cache/prony/bin/prony-{build}"),
        }
    }
}

/// The words that run a line on another host. It never asks for a password, and it ends after `count`
/// questions without an answer, one in so many seconds.
fn ssh(destination: &str, seconds: u32, count: u32, line: String) -> Vec<String> {
    let options = ["ssh", "-T", "-o", "BatchMode=yes"].map(str::to_owned);
    let alive = [
        "-o".to_owned(),
        format!("ServerAliveInterval={seconds}"),
        "-o".to_owned(),
        format!("ServerAliveCountMax={count}"),
    ];
    let words = options.into_iter().chain(alive);
    words.chain([destination.to_owned(), line]).collect()
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
                let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let (before, part) = line.split_at(end_of_words);
                // Nobody tells a program there that the connection is gone, except its guard.
                let line = format!(
                    "exec {} {} guard --parent $PPID -- {}",
                    before.join(" "),
                    part[0],
                    part.join(" ")
                );
                ssh(destination, 15, 8, line)
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

    fn client(text: &str) -> Result<Client, FleetError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        fs::write(&path, text).unwrap();
        read_client(&path, "load")
    }

    #[test]
    fn a_client_is_reached_by_ssh_or_by_words_of_the_user() {
        let by_ssh = "[client.load]\nssh = \"me@load\"\nlisten = \"10.0.0.1\"\ncpus = \"0-3\"\n";
        let by_ssh = client(by_ssh).unwrap();
        assert_eq!(by_ssh.listen.to_string(), "10.0.0.1");
        let words = by_ssh.command(Path::new("/here/prony"), "ab12");
        assert_eq!(
            words.last().unwrap(),
            "exec \"$HOME\"/.cache/prony/bin/prony-ab12 guard --parent $PPID -- \
             \"$HOME\"/.cache/prony/bin/prony-ab12 far"
        );
        let install = by_ssh.install_command("ab12").unwrap();
        assert!(install.last().unwrap().ends_with("bin/prony-ab12"));
        let by_prefix = "[client.load]\nprefix = [\"srun\", \"-n1\"]\nlisten = \"10.0.0.1\"\n";
        let by_prefix = client(by_prefix).unwrap();
        let words = by_prefix.command(Path::new("/here/prony"), "ab12");
        assert_eq!(words, ["srun", "-n1", "/here/prony", "far"]);
        assert_eq!(by_prefix.install_command("ab12"), None);
    }

    #[test]
    fn a_client_that_can_not_be_is_refused() {
        for (text, words) in [
            (
                "[client.other]\nssh = \"a\"\nlisten = \"10.0.0.1\"\n",
                "it has other",
            ),
            ("[client.load]\nlisten = \"10.0.0.1\"\n", "either ssh"),
            ("[client.load]\nssh = \"a\"\n", "listen"),
            (
                "[client.load]\nssh = \"a\"\nlisten = \"db1\"\n",
                "IP address",
            ),
            (
                "[client.load]\nssh = \"a\"\nlisten = \"::1\"\ncpus = \"x\"\n",
                "cpus",
            ),
        ] {
            let error = client(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
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
