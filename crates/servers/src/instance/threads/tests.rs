//! Threads on processors, where processes stand for a server's threads.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Instant;

use super::*;

/// Makes a session for each line, which names what the session reads.
const SERVER: &str = "sleep 600 & while read pipe; do cat < \"$pipe\" > /dev/null & done";

/// A server of processes: the shell is the acceptor, `sleep` works in the background.
struct Fake {
    folder: tempfile::TempDir,
    shell: Child,
    lines: ChildStdin,
}

impl Fake {
    fn start() -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let lines = shell.stdin.take().unwrap();
        let fake = Self {
            folder: tempfile::tempdir().unwrap(),
            shell,
            lines,
        };
        fake.wait_for(2);
        fake
    }

    /// All processes, as soon as there are so many and each sleeps.
    fn wait_for(&self, count: usize) -> BTreeSet<Thread> {
        let sleeps = |thread: &Thread| {
            let text = fs::read_to_string(format!("/proc/{}/status", thread.id));
            text.is_ok_and(|text| text.contains("State:\tS"))
        };
        let begun = Instant::now();
        loop {
            let now = group_members(self.shell.id()).unwrap();
            if now.len() == count && now.iter().all(sleeps) {
                return now.into_iter().collect();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{now:?}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Makes a session, and gives what it reads.
    fn connect(&mut self) -> (Thread, File) {
        let before: BTreeSet<Thread> = group_members(self.shell.id())
            .unwrap()
            .into_iter()
            .collect();
        let pipe = self.folder.path().join(format!("pipe-{}", before.len()));
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        writeln!(self.lines, "{}", pipe.display()).unwrap();
        let file = OpenOptions::new().write(true).open(&pipe).unwrap();
        let now = self.wait_for(before.len() + 1);
        (*(&now - &before).first().unwrap(), file)
    }

    /// Its threads, of which these are the sessions.
    fn threads(&self, sessions: &[Thread]) -> ServerThreads {
        let usable = usable_cpus().unwrap();
        let all = group_members(self.shell.id()).unwrap();
        let (acceptors, others): (BTreeSet<Thread>, BTreeSet<Thread>) = all
            .into_iter()
            .partition(|thread| thread.id == self.shell.id());
        let sessions: BTreeSet<Thread> = sessions.iter().copied().collect();
        ServerThreads {
            pid: self.shell.id(),
            kind: Kind::Processes,
            acceptors,
            background: &others - &sessions,
            sessions,
            paired: BTreeMap::new(),
            connecting: None,
            for_sessions: usable.clone(),
            for_background: usable.clone(),
            usable,
            newcomers: Role::Background,
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        for member in group_members(self.shell.id()).unwrap_or_default() {
            let id = member.id.to_string();
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
        let _ = self.shell.wait();
    }
}

/// Wakes a session so often, and lets it read each time.
fn wake(session: Thread, pipe: &mut File, times: u32) {
    for _ in 0..times {
        let before = switches(&[session]);
        pipe.write_all(b"x").unwrap();
        let begun = Instant::now();
        while switches(&[session]) == before || !sleeps(&session) {
            assert!(begun.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn sessions_share_the_processor_of_the_clients_that_wake_or_make_them() {
    let usable = usable_cpus().unwrap();
    let [one, .., two] = usable.cpus() else {
        return;
    };
    let (one, two) = (CpuSet::of([*one]).unwrap(), CpuSet::of([*two]).unwrap());
    let mut fake = Fake::start();
    let (woken, mut to_woken) = fake.connect();
    let (late, mut to_late) = fake.connect();
    let (idle, _to_idle) = fake.connect();
    let on = |thread: Thread| thread_cpus(thread.id).unwrap();
    let mut threads = fake.threads(&[woken, late, idle]);
    threads.bind(&usable, &usable).unwrap();

    threads.pair(&one, &usable).unwrap();
    wake(woken, &mut to_woken, 4);
    let (made, _to_made) = fake.connect();
    assert_eq!(on(made), one);
    // Woken for another reason, such as to become idle, and then by a client of the next thread.
    wake(late, &mut to_late, 1);
    fake.wait_for(6);
    threads.pair(&two, &usable).unwrap();
    wake(late, &mut to_late, 4);
    // A client that rests may be disturbed.
    wake(woken, &mut to_woken, 1);
    let (other, _to_other) = fake.connect();
    threads
        .connected(&usable, &usable, Role::Background)
        .unwrap();

    for (thread, cpus) in [
        (woken, &one),
        (made, &one),
        (late, &two),
        (other, &two),
        (idle, &usable),
    ] {
        assert_eq!(on(thread), *cpus, "{thread:?}");
    }
    let read = threads.read().unwrap();
    let counts = |threads: &[ThreadsOn], cpus: &CpuSet| -> u32 {
        let on = threads.iter().filter(|on| on.cpus == *cpus);
        on.map(|on| on.threads).sum()
    };
    let found = [&one, &two, &usable].map(|cpus| counts(&read.sessions, cpus));
    assert_eq!(found, [2, 2, 2], "the acceptor is with the idle session");
    assert_eq!(counts(&read.background, &usable), 1);

    // The next step begins as if nobody had connected.
    threads.bind(&one, &two).unwrap();
    let read = threads.read().unwrap();
    assert_eq!(counts(&read.sessions, &one), 6);
    assert_eq!(counts(&read.background, &two), 1);
}
