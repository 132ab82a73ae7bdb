//! The null server as a child process.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use prony_client::Address;
use prony_host::{ChildSetup, Launcher, OwnedFolder, Process, Roots};
use prony_model::{CpuSet, Family};
use prony_probe::{ProcessSample, Root, thread_cpu_ns};

/// Limit for it to listen.
const STARTING: Duration = Duration::from_secs(20);
/// Limit for it to end once its clients have lost it.
const DYING: Duration = Duration::from_secs(1);
/// Its first line once it listens.
const READY: &str = "ready";

/// A null server that listens on a unix socket. Dropping it ends it and removes its folder.
pub(crate) struct NullServer {
    family: Family,
    // In this order: the process ends before its folder goes.
    process: Process,
    folder: OwnedFolder,
    errors: ChildStderr,
}

impl NullServer {
    /// Starts it with the protocol of a family, on the processors `cpus`, if not on all, and waits until
    /// it listens. Errors are words that fit after "failed to start the null server: ".
    pub(crate) fn start(
        roots: &Roots,
        launcher: &Launcher,
        prony: &Path,
        family: Family,
        cpus: Option<&CpuSet>,
    ) -> Result<Self, String> {
        let started = Self::start_with(roots, launcher, prony, (family, cpus), |_| ());
        started.map(|(null, ())| null)
    }

    /// The same, with the result of `on_birth`, which is called with the id of the process before
    /// it becomes the null server.
    pub(crate) fn start_with<T>(
        roots: &Roots,
        launcher: &Launcher,
        prony: &Path,
        (family, cpus): (Family, Option<&CpuSet>),
        on_birth: impl FnOnce(u32) -> T,
    ) -> Result<(Self, T), String> {
        let folder = OwnedFolder::beside_instances(roots).map_err(|error| error.to_string())?;
        let setup = ChildSetup {
            cpus: cpus.cloned(),
            hold: true,
            ..ChildSetup::default()
        };
        let mut command = launcher.command_with(prony, &setup);
        command
            .args(["null", "--socket"])
            .arg(socket(&folder))
            .args(["--family", family.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = launcher.spawn(command).map_err(|error| error.to_string())?;
        let born = on_birth(process.id());
        // The guard waits for the end of its input.
        drop(process.child().stdin.take());
        let (sender, first_line) = channel();
        let child = process.child();
        if let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) {
            thread::spawn(move || report(output, errors, &sender));
        }
        match first_line.recv_timeout(STARTING) {
            Ok(Ok(errors)) => {
                let null = Self {
                    family,
                    process,
                    folder,
                    errors,
                };
                Ok((null, born))
            }
            Ok(Err(said)) => Err(said),
            Err(_) => Err(format!("it does not listen after {} s", STARTING.as_secs())),
        }
    }

    /// The family whose protocol it speaks.
    pub(crate) const fn family(&self) -> Family {
        self.family
    }

    /// The address that it listens on.
    pub(crate) fn address(&self) -> Address {
        Address::Unix(socket(&self.folder))
    }

    /// Processor time that it has used, in nanoseconds. It has one thread.
    pub(crate) fn cpu_ns(&self, proc: &Root) -> Result<u64, String> {
        let pid = self.process.id();
        thread_cpu_ns(proc, pid)
            .or_else(|_| {
                // A kernel without the exact figures has those in clock ticks.
                let reading = ProcessSample::take(proc, pid)?;
                Ok(reading.user_ns + reading.system_ns)
            })
            .map_err(|error: prony_probe::ProbeError| error.to_string())
    }

    /// Its words when it ended; `None` while it runs.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        self.process.wait_timeout(DYING).ok()??;
        let mut said = String::new();
        self.errors.read_to_string(&mut said).ok()?;
        Some(said.trim().to_owned())
    }
}

fn socket(folder: &OwnedFolder) -> PathBuf {
    folder.path().join("sock")
}

/// Hands the error output back when the first line is the right one, and else what it said.
fn report(
    output: ChildStdout,
    mut errors: ChildStderr,
    sender: &Sender<Result<ChildStderr, String>>,
) {
    let first = BufReader::new(output).lines().next();
    let told = match first {
        Some(Ok(line)) if line == READY => Ok(errors),
        _ => {
            let mut said = String::new();
            // Unreadable words are missing from an explanation, nothing more.
            let _ = errors.read_to_string(&mut said);
            Err(said.trim().to_owned())
        }
    };
    // The receiver may have given up.
    let _ = sender.send(told);
}
