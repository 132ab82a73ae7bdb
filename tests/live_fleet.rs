//! Blocks of one run, measured by the nodes of a small Slurm of the test's own.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{finish, live_with, only_run, prony, wait_for, write};

const EXPERIMENT: &str = r#"name = "fleet"
base = "mysql-5.7.22"
blocks = 6
aa = false

[dataset]
tables = 1
rows = 1000

[defaults]
config = { buffer_pool = "32M" }

[[target]]
build = "mysql-5.7.22"

[[target]]
build = "mysql-8.0.31"

[sequence]
warmup = "100ms"
time = "300ms"

[[step]]
workload = "point-query"
clients = [1]
"#;

/// A Slurm whose nodes are all on this machine and listen on loopback only. It has no accounting, and
/// believes its users.
struct Cluster {
    configuration: PathBuf,
    /// The nodes, then the controller.
    daemons: Vec<Child>,
}

impl Cluster {
    fn start(folder: &Path, nodes: usize) -> Self {
        let configuration = write(folder, "slurm.conf", &Self::configuration(folder, nodes));
        let log = folder.join("slurm.log");
        let daemon = |name: &str, arguments: &[&str]| {
            let log = fs::File::options().append(true).create(true).open(&log);
            let log = log.unwrap();
            Command::new(name)
                .args(arguments)
                .env("SLURM_CONF", &configuration)
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .spawn()
                .expect("slurmctld and slurmd of Debian's slurm-wlm")
        };
        let names: Vec<String> = (1..=nodes).map(|node| format!("n{node}")).collect();
        let mut daemons: Vec<Child> = names
            .iter()
            .map(|name| daemon("slurmd", &["-D", "-N", name]))
            .collect();
        daemons.push(daemon("slurmctld", &["-D"]));
        let cluster = Self {
            configuration,
            daemons,
        };
        wait_for(
            "all nodes of Slurm to be idle",
            Duration::from_secs(30),
            || {
                let idle = cluster.try_ask("sinfo", &["-h", "-t", "idle", "-o", "%D"])?;
                (idle.trim() == nodes.to_string()).then_some(())
            },
        );
        cluster
    }

    fn configuration(folder: &Path, nodes: usize) -> String {
        let ports: Vec<TcpListener> = (0..=nodes)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let port = |index: usize| ports[index].local_addr().unwrap().port();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let user = if rustix::process::getuid().is_root() {
            "root"
        } else {
            "slurm"
        };
        let at = folder.display();
        let mut text = format!(
            "ClusterName=prony\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser={user}\n\
             AuthType=auth/none\nCredType=cred/none\n\
             CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nReturnToService=2\n\
             StateSaveLocation={at}/state\nSlurmctldPidFile={at}/slurmctld.pid\n\
             SlurmctldLogFile={at}/slurmctld.log\nSlurmdPidFile={at}/%n.pid\n\
             SlurmdLogFile={at}/%n.log\nSlurmdSpoolDir={at}/%n\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             SelectType=select/linear\nSchedulerType=sched/builtin\nMpiDefault=none\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1\n",
            port(0)
        );
        let processors = std::thread::available_parallelism().unwrap();
        let nodes_text = (1..=nodes).map(|node| {
            let port = port(node);
            format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} \
                 CPUs={processors} RealMemory=1000\n"
            )
        });
        text.extend(nodes_text);
        text += "PartitionName=bench Nodes=ALL Default=YES State=UP\n";
        fs::create_dir(folder.join("state")).unwrap();
        text
    }

    /// The answer of one of Slurm's commands, where it has one.
    fn try_ask(&self, command: &str, arguments: &[&str]) -> Option<String> {
        let mut asked = Command::new(command);
        let output = asked
            .args(arguments)
            .env("SLURM_CONF", &self.configuration)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        output.status.success().then(|| text(output.stdout))
    }

    fn ask(&self, command: &str, arguments: &[&str]) -> String {
        println!("{command} {arguments:?}");
        self.try_ask(command, arguments)
            .expect("an answer of Slurm")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = kill_process(Pid::from_child(daemon), Signal::TERM);
            for _ in 0..50 {
                if !matches!(daemon.try_wait(), Ok(None)) {
                    break;
                }
                sleep(Duration::from_millis(100));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Number of operations of every step of every done trial, with its block and target.
fn operations(path: &Path) -> Vec<(u32, u32, u64)> {
    let database = Connection::open(path).unwrap();
    let mut statement = database
        .prepare(
            "SELECT block, target_id, operations FROM trial JOIN group_outcome
             ON trial_id = trial.id WHERE state = 'done' ORDER BY block, target_id",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// The merged figures are those of the parts, with the attempt that completed the first block.
fn the_figures_are_those_of_the_parts(run: &Path) {
    let result = run.join("run.sqlite");
    let database = Connection::open(&result).unwrap();
    let mut used = database
        .prepare("SELECT name, attempt, blocks FROM part WHERE used = blocks")
        .unwrap();
    let used: Vec<(String, u32, String)> = used
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(used.len(), 6, "{used:?}");
    let mut of_parts = Vec::new();
    for (name, attempt, blocks) in &used {
        assert_eq!(*attempt, u32::from(blocks == "[0]"), "{name}");
        of_parts.extend(operations(&run.join("parts").join(name)));
    }
    of_parts.sort_unstable();
    assert_eq!(operations(&result), of_parts);
}

#[test]
fn an_array_of_blocks_becomes_one_run_though_a_job_dies_and_a_node_leaves() {
    if !live_with(&["slurmctld", "slurmd"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let slurm = folder.join("slurm");
    fs::create_dir(&slurm).unwrap();
    let cluster = Cluster::start(&slurm, 3);
    write(folder, "fleet.toml", EXPERIMENT);
    let fleet = |arguments: &[&str]| {
        let mut command = prony(folder, arguments);
        command.env("SLURM_CONF", &cluster.configuration);
        finish(command).exits(0)
    };
    fleet(&["submit", "fleet.toml", "--to", "slurm"]).says(&["6 tasks of 1 block"]);
    let run = only_run(folder);
    let status = || -> Value {
        let text = fleet(&["status", run.to_str().unwrap(), "--format", "json"]).stdout;
        serde_json::from_str(&text).unwrap()
    };

    // The first block's job is killed on its node and begins again, and another node takes no more jobs.
    let output = run.join("jobs/0-0.out");
    wait_for("the first trial", Duration::from_mins(2), || {
        let said = fs::read_to_string(&output).ok()?;
        said.contains("trial 1/").then_some(())
    });
    let block = |number: usize| status()["blocks"][number].clone();
    assert_eq!(block(0)["state"], "running");
    let leaving = block(2)["host_name"].as_str().unwrap().to_owned();
    let node = format!("NodeName={leaving}");
    cluster.ask("scontrol", &["update", &node, "State=DRAIN", "Reason=test"]);
    let jobs = cluster.ask("squeue", &["-h", "-r", "-o", "%F_%K", "-t", "R"]);
    let first = jobs.lines().find(|job| job.ends_with("_0")).unwrap();
    cluster.ask("scontrol", &["requeue", first]);

    let result = run.join("run.sqlite");
    wait_for("the collected run", Duration::from_mins(6), || {
        result.exists().then_some(())
    });
    wait_for("the collection to end", Duration::from_secs(30), || {
        cluster.ask("squeue", &["-h"]).is_empty().then_some(())
    });

    let ended = status();
    println!("{ended:#}");
    for block in ended["blocks"].as_array().unwrap() {
        assert_eq!(block["state"], "done");
    }
    for number in 3..6 {
        assert_ne!(ended["blocks"][number]["host_name"], leaving.as_str());
    }
    let merged = operations(&result);
    let planned: Vec<(u32, u32)> = (0..6).flat_map(|block| [(block, 0), (block, 1)]).collect();
    let done: Vec<_> = merged.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(done, planned, "every trial once");
    the_figures_are_those_of_the_parts(&run);

    // Collecting again changes nothing, and the report is that of a whole run.
    let bytes = fs::read(&result).unwrap();
    fleet(&["collect", run.to_str().unwrap()]).says(&["merged"]);
    assert!(bytes == fs::read(&result).unwrap());
    let report = fleet(&["report", run.to_str().unwrap()]).stdout;
    let whole = "6 of 6 blocks complete, 12 of 12 trials done";
    for words in [whole, "Hosts ", "Blocks of one host are alike"] {
        assert!(report.contains(words), "{report}");
    }
}

#[test]
fn a_handful_of_hosts_needs_no_engine() {
    if !live_with(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(
        folder,
        "fleet.toml",
        &EXPERIMENT.replace("blocks = 6", "blocks = 2"),
    );
    write(
        folder,
        "hosts.toml",
        "[host.good]\nprefix = [\"env\"]\n[host.bad]\nprefix = [\"false\"]\n",
    );
    let submit = ["submit", "fleet.toml", "--to", "hosts", "hosts.toml"];
    finish(prony(folder, &submit)).exits(0).says(&[
        "bad: exit code 1; it gets no more tasks",
        "merged 2 parts of 1 host",
    ]);
    let run = only_run(folder);
    let done = operations(&run.join("run.sqlite"));
    assert_eq!(done.len(), 4, "{done:?}");
    let again = ["submit", run.to_str().unwrap()];
    finish(prony(folder, &again))
        .exits(0)
        .says(&["nothing is missing"]);
}
