//! A recorded machine for tests: folders and files as the kernel lays them out.

use std::fs;
use std::path::Path;

use prony_model::{Collect, Counter, Sample, Source};

use crate::prober::Prober;
use crate::root::Root;

/// A machine in a temporary folder.
pub(crate) struct Machine(tempfile::TempDir);

/// A process of it. Times are in clock ticks.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) started: u64,
    pub(crate) user: u64,
    pub(crate) system: u64,
    pub(crate) reaped: u64,
    pub(crate) exit_signal: u32,
    /// Values of the lines of its `io`.
    pub(crate) io: u64,
    /// Numbers of its threads. Each has run for as many nanoseconds as its number says.
    pub(crate) threads: Vec<u32>,
}

impl Process {
    /// A process that leads a group and has used nothing yet.
    pub(crate) fn new(pid: u32) -> Self {
        Self {
            pid,
            parent: 1,
            group: pid,
            started: 500,
            user: 0,
            system: 0,
            reaped: 0,
            exit_signal: 17,
            io: 0,
            threads: vec![pid],
        }
    }

    /// A child in the same group.
    pub(crate) fn child(&self, pid: u32) -> Self {
        Self {
            parent: self.pid,
            group: self.group,
            ..Self::new(pid)
        }
    }

    /// Its `stat`.
    pub(crate) fn stat(&self) -> String {
        let Self {
            pid,
            parent,
            group,
            started,
            user,
            system,
            reaped,
            exit_signal,
            ..
        } = self;
        let threads = self.threads.len();
        format!(
            "{pid} (my) sql (d) S {parent} {group} {group} 0 -1 4194304 7 6 5 4 {user} {system} \
             {reaped} 0 20 0 {threads} 0 {started} 239759360 10 18446744073709551615 1 2 3 0 0 0 \
             544775 4096 25833 1 0 0 {exit_signal} 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        )
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        // In memory, where that can be: properties make many small files.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let machine = Self(folder.unwrap());
        machine.write("proc/stat", "cpu  10 1 20 500 3 2 1 7 0 0\n");
        machine
    }

    pub(crate) fn root(&self) -> Root {
        Root::recorded(self.0.path())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Some file systems wait for the disk when a file is overwritten.
        let _ = fs::remove_file(&path);
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.0.path().join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Writes all files of a process; those of threads that it no longer has go away.
    pub(crate) fn run(&self, process: &Process) {
        let folder = format!("proc/{}", process.pid);
        let _ = fs::remove_dir_all(self.0.path().join(&folder));
        let io = process.io;
        self.write(&format!("{folder}/stat"), process.stat());
        self.write(
            &format!("{folder}/io"),
            format!(
                "rchar: {io}\nwchar: {io}\nsyscr: {io}\nsyscw: {io}\nread_bytes: {io}\n\
                 write_bytes: {io}\ncancelled_write_bytes: 0\n"
            ),
        );
        self.write(
            &format!("{folder}/smaps_rollup"),
            "0-1 ---p 0 00:00 0 [rollup]\nRss: 90 kB\nPss: 80 kB\nAnonHugePages: 40 kB\n",
        );
        for thread in &process.threads {
            let task = format!("{folder}/task/{thread}");
            self.write(&format!("{task}/stat"), process.stat());
            self.write(&format!("{task}/schedstat"), format!("{thread} 20 3\n"));
            self.write(
                &format!("{task}/status"),
                "Name:\tx\nvoluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t2\n",
            );
        }
    }

    /// Ends a process; no process takes over its usage.
    pub(crate) fn end(&self, process: &Process) {
        self.remove(&format!("proc/{}", process.pid));
    }
}

/// Takes samples of a machine without a server.
pub(crate) fn prober_of_host(machine: &Machine) -> Prober {
    Prober::new(machine.root(), None, &Collect::default())
}

/// The value of a counter in a sample.
pub(crate) fn value(sample: &Sample, source: Source, name: &'static str) -> Option<u64> {
    sample.value(&Counter::new(source, name))
}

/// The reasons of a source's gaps in a sample.
pub(crate) fn gaps(sample: &Sample, source: Source) -> Vec<&str> {
    let gaps = sample.gaps.iter().filter(|gap| gap.source == source);
    gaps.map(|gap| gap.reason.as_str()).collect()
}
