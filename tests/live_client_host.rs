//! Load from another host: a network namespace of the test's own, with an ssh server in it.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;
use support::{
    Finished, PRONY, Watched, children_of, finish, live_with, only_run, prony, send, wait_for,
    workspace, write,
};

/// One server that is loaded from the other host, for long enough to be interrupted.
const EXPERIMENT: &str = r#"name = "far"
base = "mysql-8.0.31"
blocks = 3

[dataset]
tables = 1
rows = 1000

[defaults]
config = { buffer_pool = "32M" }
transport = "network"

[[target]]
build = "mysql-8.0.31"

[sequence]
warmup = "100ms"
time = "3s"

[[step]]
workload = "point-query"
clients = [4]
"#;

/// Another host: a network namespace that is joined to this one by a link, with an ssh server.
struct OtherHost {
    namespace: String,
    /// The link's end on this host.
    link: String,
    here: String,
    folder: PathBuf,
    ssh_server: Option<Child>,
    /// What hands packets over, where the link has a delay.
    relay: Option<Child>,
}

impl OtherHost {
    /// Makes it, with this delay of its link for each packet.
    fn start(folder: &Path, delay: Option<Duration>) -> Self {
        let number = std::process::id();
        let kind = if delay.is_some() { "d" } else { "v" };
        let [third, fourth] = [number / 60 % 250, number % 60 * 4];
        let address = |last: u32| format!("10.231.{third}.{}", fourth + last);
        let (here, there) = (address(1), address(2));
        let (link, far_link) = (format!("p{kind}{number}"), format!("q{kind}{number}"));
        let mut host = Self {
            namespace: format!("prony{kind}{number}"),
            link,
            here,
            folder: folder.to_owned(),
            ssh_server: None,
            relay: None,
        };
        ip(&["netns", "add", &host.namespace]);
        if let Some(delay) = delay {
            host.relay = Some(relay(&host.link, &far_link, delay));
        } else {
            let peer = ["type", "veth", "peer", "name", &far_link];
            ip(&[["link", "add", &host.link].as_slice(), &peer].concat());
        }
        ip(&["link", "set", &far_link, "netns", &host.namespace]);
        let (near, far) = (format!("{}/30", host.here), format!("{there}/30"));
        ip(&["addr", "add", &near, "dev", &host.link]);
        ip(&["link", "set", &host.link, "up"]);
        let namespace = ["-n", &host.namespace];
        for arguments in [
            ["addr", "add", &far, "dev", &far_link].as_slice(),
            &["link", "set", &far_link, "up"],
            &["link", "set", "lo", "up"],
        ] {
            ip(&[namespace.as_slice(), arguments].concat());
        }
        host.start_ssh(&there);
        host
    }

    /// Starts an ssh server there that takes a key of the test's own, and puts an `ssh` that uses it into
    /// the folder `bin`.
    fn start_ssh(&mut self, there: &str) {
        let folder = self.folder.display();
        for key in ["host_key", "user_key"] {
            let path = self.folder.join(key);
            let mut command = Command::new("ssh-keygen");
            command
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path);
            finish(command).exits(0);
        }
        let configuration = format!(
            "Port 2222\nListenAddress {there}\nHostKey {folder}/host_key\n\
             AuthorizedKeysFile {folder}/user_key.pub\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\n"
        );
        let configuration = write(&self.folder, "sshd.conf", &configuration);
        let client = format!(
            "Host load\n  HostName {there}\n  Port 2222\n  IdentityFile {folder}/user_key\n  \
             IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  \
             LogLevel ERROR\n"
        );
        let client = write(&self.folder, "ssh.conf", &client);
        let bin = self.folder.join("bin");
        fs::create_dir(&bin).unwrap();
        let real = on_path("ssh");
        let script = format!(
            "#!/bin/sh\nexec {} -F {} \"$@\"\n",
            real.display(),
            client.display()
        );
        let script = write(&bin, "ssh", &script);
        make_executable(&script);
        // What its separation of privileges needs; a service would make it.
        fs::create_dir_all("/run/sshd").unwrap();
        let log = fs::File::create(self.folder.join("sshd.log")).unwrap();
        let mut command = self.inside(&on_path("sshd"));
        command.args(["-D", "-e", "-f"]).arg(configuration);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.ssh_server = Some(command.spawn().expect("sshd of Debian's openssh-server"));
        wait_for("the ssh server", Duration::from_secs(10), || {
            let log = fs::read_to_string(self.folder.join("sshd.log")).unwrap();
            log.contains("Server listening").then_some(())
        });
    }

    /// A program that is to run there.
    fn inside(&self, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.namespace])
            .arg(program);
        command
    }

    /// Prony on this host, which finds the test's `ssh`.
    fn prony(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = prony(&self.folder, arguments);
        command.env("PATH", format!("{}/bin:{path}", self.folder.display()));
        command
    }

    fn finish(&self, arguments: &[&str]) -> Finished {
        finish(self.prony(arguments))
    }

    /// Everything that runs there but ssh servers, one of which stays until it notices that its link was
    /// cut: process ids and command lines.
    fn processes(&self) -> Vec<(u32, String)> {
        let mut command = Command::new("ip");
        command.args(["netns", "pids", &self.namespace]);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let pids = output.lines().map(|line| line.parse().unwrap());
        let processes = pids.filter_map(|pid: u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
        });
        processes
            .filter(|(_, line)| !line.is_empty() && !line.contains("sshd"))
            .collect()
    }

    /// The load generator that runs there.
    fn generator(&self) -> u32 {
        let found = wait_for("a load generator there", Duration::from_mins(2), || {
            let processes = self.processes().into_iter();
            let mut generators = processes.filter(|(_, line)| line.contains("/prony generator"));
            generators.next()
        });
        found.0
    }

    fn nothing_is_left(&self) {
        wait_for("all processes there to end", Duration::from_secs(5), || {
            let left = self.processes();
            println!("there: {left:?}");
            left.is_empty().then_some(())
        });
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        for child in self.ssh_server.iter_mut().chain(&mut self.relay) {
            let _ = child.kill();
            let _ = child.wait();
        }
        let mut command = Command::new("ip");
        let _ = command.args(["netns", "del", &self.namespace]).status();
    }
}

fn ip(arguments: &[&str]) {
    let mut command = Command::new("ip");
    command.args(arguments);
    finish(command).exits(0);
}

/// Starts a link of two interfaces that hands each packet over after a delay.
fn relay(near: &str, far: &str, delay: Duration) -> Child {
    let mut relay = Command::new("python3")
        .arg(workspace().join("tests/delayed_link.py"))
        .args([near, far, &delay.as_secs_f64().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = relay.stdout.as_mut().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    relay
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The file of a program. `PATH` of users lacks the folders of an administrator.
fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .expect(program)
}

/// The names of the file of hosts for a client, and where it has Prony.
fn name_client(host: &OtherHost) -> PathBuf {
    let program = host.folder.join("there/prony");
    let text = format!(
        "[client.load]\nssh = \"load\"\nlisten = \"{}\"\nprony = \"{}\"\n",
        host.here,
        program.display()
    );
    write(&host.folder, "hosts.toml", &text);
    program
}

/// The addresses and ports on which servers of a Prony listen for TCP, by process.
fn listening(owner: u32) -> BTreeMap<u32, BTreeSet<String>> {
    let mut listeners = BTreeMap::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            // State 0A is LISTEN; the inode is the tenth column.
            if words[3] == "0A" {
                listeners.insert(format!("socket:[{}]", words[9]), address(words[1]));
            }
        }
    }
    let servers = children_of(owner).into_iter();
    let servers = servers.filter(|(_, line)| line.contains("mysqld "));
    servers
        .map(|(pid, _)| {
            let files = fs::read_dir(format!("/proc/{pid}/fd"))
                .into_iter()
                .flatten();
            let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
            let addresses = targets.filter_map(|target| listeners.get(target.to_str()?).cloned());
            (pid, addresses.collect())
        })
        .collect()
}

/// An address of `/proc/net/tcp`: bytes of the network in the order of this machine, then the port.
fn address(words: &str) -> String {
    let (address, port) = words.split_once(':').unwrap();
    let port = u16::from_str_radix(port, 16).unwrap();
    match u32::from_str_radix(address, 16) {
        Ok(bytes) => format!("{}:{port}", std::net::Ipv4Addr::from(u32::from_be(bytes))),
        Err(_) => format!("[{address}]:{port}"),
    }
}

/// All rows of a query of the run's file.
fn rows<T: rusqlite::types::FromSql, U: rusqlite::types::FromSql>(
    run: &Path,
    query: &str,
) -> Vec<(T, U)> {
    let database = Connection::open(run.join("run.sqlite")).unwrap();
    let mut statement = database.prepare(query).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn can_run() -> bool {
    live_with(&["ip", "ssh", "ssh-keygen", "python3"])
        && (Path::new("/usr/sbin/sshd").is_file() || live_with(&["sshd"]))
}

/// One after the other: runs would wait for each other.
#[test]
fn another_host_loads_servers_here() {
    if can_run() {
        a_study_is_loaded_from_there();
        what_breaks_on_the_way_fails_a_trial_and_is_resumed();
    }
}

fn a_study_is_loaded_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let host = OtherHost::start(folder.path(), None);
    let program = name_client(&host);
    let client = ["--hosts", "hosts.toml"];
    the_same_program_is_put_there(&host, &program);

    // One block is enough to see all of it.
    let experiment = workspace().join("experiments/pk-lookup-2016-remote.toml");
    let experiment = fs::read_to_string(experiment).unwrap();
    let (plan, small) = experiment.split_once("[profile.small]").unwrap();
    let small = small.replace("blocks = 2", "blocks = 1");
    write(
        &host.folder,
        "remote.toml",
        &format!("{plan}[profile.small]{small}"),
    );
    let arguments = [
        "run",
        "remote.toml",
        "--profile",
        "small",
        "--client",
        "load",
    ];
    let mut run = Watched::start(host.prony(&[&arguments, client.as_slice()].concat()));
    // Where the servers listen, as long as it runs.
    let mut seen: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    while run.is_running() {
        for (server, addresses) in listening(run.id()) {
            let addresses = addresses
                .iter()
                .map(|address| address.rsplit_once(':').unwrap().0);
            seen.entry(server)
                .or_default()
                .extend(addresses.map(str::to_owned));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = run.end().exits(0);
    host.nothing_is_left();
    let seen = seen.into_values().filter(|addresses| !addresses.is_empty());
    let seen: BTreeSet<_> = seen.collect();
    let only = |address: &str| BTreeSet::from([address.to_owned()]);
    // Those that load a data image have no address at all.
    let expected = BTreeSet::from([only(&host.here), only("127.0.0.1")]);
    assert_eq!(seen, expected);

    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains(" Client load: ") && words.contains("; round trip "));
    the_readings_are_of_the_right_host(&only_run(&host.folder));
}

fn the_same_program_is_put_there(host: &OtherHost, program: &Path) {
    let ask = |words: &[&str]| host.finish(&[words, &["--hosts", "hosts.toml"]].concat());
    // A program that is not there, and one that is another build.
    ask(&["client", "check", "load"])
        .exits(5)
        .says(&["prony client install load"]);
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy(PRONY, program).unwrap();
    let mut other = fs::File::options().append(true).open(program).unwrap();
    std::io::Write::write_all(&mut other, b"\n").unwrap();
    drop(other);
    ask(&["client", "check", "load"])
        .exits(5)
        .says(&["not the same build", "prony client install load"]);
    ask(&["client", "install", "load"]).exits(0);
    let checked = ask(&["client", "check", "load"]).exits(0);
    assert!(checked.stdout.contains("round trip"), "{}", checked.stdout);
    host.nothing_is_left();
}

fn the_readings_are_of_the_right_host(run: &Path) {
    let steps: Vec<(String, u32)> = rows(
        run,
        "SELECT target.name, count(*) FROM group_outcome JOIN trial ON trial.id = trial_id
         JOIN target ON target.id = target_id WHERE state = 'done' AND operations > 0
         AND kind = 'timed' GROUP BY target.name",
    );
    // Three versions by two ways, at three numbers of clients.
    assert_eq!(steps.len(), 6, "{steps:?}");
    assert!(steps.iter().all(|(_, count)| *count == 3), "{steps:?}");
    // The client host is read for targets that it loads, and for no others.
    let read: Vec<(String, u32)> = rows(
        run,
        "SELECT DISTINCT target.name, 0 FROM sample_value
         JOIN counter ON counter.id = counter_id JOIN sample ON sample.id = sample_id
         JOIN trial ON trial.id = trial_id JOIN target ON target.id = target_id
         WHERE source = 'client' AND counter.name = 'sent_packets' AND value > 0",
    );
    assert_eq!(read.len(), 3, "{read:?}");
    assert!(
        read.iter().all(|(name, _)| name.contains("network")),
        "{read:?}"
    );
}

fn what_breaks_on_the_way_fails_a_trial_and_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let host = OtherHost::start(folder.path(), Some(Duration::from_micros(500)));
    let program = name_client(&host);
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy(PRONY, &program).unwrap();
    write(&host.folder, "far.toml", EXPERIMENT);
    let client = ["--client", "load", "--hosts", "hosts.toml"];
    let begin = |words: &[&str]| Watched::start(host.prony(&[words, &client].concat()));

    // Connections are taken from the client host alone.
    let run = begin(&["run", "far.toml"]);
    host.generator();
    let address = listening(run.id()).into_values().flatten().next();
    let address = address.expect("the server that is loaded");
    let mut answer = Vec::new();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("is not allowed to connect"), "{answer}");

    // What leads there is killed; the next trial has a new connection.
    let mut children = children_of(run.id()).into_iter();
    let (ssh, _) = children.find(|(_, line)| line.contains("ssh ")).unwrap();
    send(ssh, Signal::KILL);
    run.wait_for_words("killed by signal 9");
    host.nothing_is_left();

    // The link is cut: both sides give up.
    host.generator();
    ip(&["link", "set", &host.link, "down"]);
    run.wait_for_words("nothing was heard for 4 s");
    host.nothing_is_left();
    ip(&["link", "set", &host.link, "up"]);
    assert_ne!(run.end().code, Some(0));
    host.nothing_is_left();

    let path = only_run(&host.folder);
    let run_name = path.to_str().unwrap();
    let run = begin(&["resume", run_name]);
    send(host.generator(), Signal::KILL);
    run.wait_for_words("killed by signal 9");
    assert_ne!(run.end().code, Some(0));
    host.nothing_is_left();

    host.finish(&[["resume", run_name].as_slice(), &client].concat())
        .exits(0);
    host.nothing_is_left();
    let states: Vec<(String, u32)> = rows(
        &path,
        "SELECT state, count(*) FROM trial GROUP BY state ORDER BY state",
    );
    // Those that failed gave way to those that took their place.
    assert_eq!(
        states,
        [("discarded".to_owned(), 3), ("done".to_owned(), 3)]
    );
    // A round trip takes the delay in both directions.
    let network: Vec<(u64, u64)> = rows(
        &path,
        "SELECT facts ->> '$.network.shortest_ns', facts ->> '$.network.p99_ns' FROM client_host",
    );
    assert_eq!(network.len(), 3);
    assert!(
        network.iter().all(|(shortest, _)| *shortest >= 1_000_000),
        "{network:?}"
    );
    // The server counts the handshakes of TLS that it finished.
    let encrypted: Vec<(u64, u64)> = rows(
        &path,
        "SELECT value, 0 FROM sample_value JOIN counter ON counter.id = counter_id
         WHERE source = 'status' AND counter.name = 'ssl_finished_accepts'",
    );
    assert!(!encrypted.is_empty());
    assert!(
        encrypted.iter().all(|(accepts, _)| *accepts >= 4),
        "{encrypted:?}"
    );
}
