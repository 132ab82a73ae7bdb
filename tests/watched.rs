//! A Prony that runs while a test looks at it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{Finished, children_of, nothing_left_of, prony, wait_for};

/// A Prony under way, whose words can be read as they come. Dropping it kills it, so that a test
/// that fails leaves nothing behind.
pub struct Watched {
    child: Child,
    stdout: Reader,
    stderr: Reader,
}

/// The part of an output that was read so far.
struct Reader {
    text: Arc<Mutex<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn start(output: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let copy = Arc::clone(&text);
        let thread = std::thread::spawn(move || {
            let mut lines = BufReader::new(output);
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                copy.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self {
            text,
            thread: Some(thread),
        }
    }

    fn so_far(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    /// Everything, once the writer has closed its end.
    fn all(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.so_far()
    }
}

impl Watched {
    /// Starts a command.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdout: Reader::start(child.stdout.take().unwrap()),
            stderr: Reader::start(child.stderr.take().unwrap()),
            child,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells if it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        send(self.id(), signal);
    }

    /// Sends everything that it started a signal, and gives the deaths time to be noticed.
    pub fn signal_children(&self, signal: Signal) {
        signal_children(self.id(), signal);
    }

    /// Its standard error so far.
    pub fn said(&self) -> String {
        self.stderr.so_far()
    }

    /// Waits until it has said `words`.
    #[track_caller]
    pub fn wait_for_words(&self, words: &str) {
        wait_for(words, Duration::from_mins(3), || {
            self.said().contains(words).then_some(())
        });
    }

    /// Ends the server that runs for it.
    #[track_caller]
    pub fn kill_server(&self) {
        let (pid, _) = wait_for("a server", Duration::from_secs(30), || {
            children_of(self.id())
                .into_iter()
                .find(|(_, command)| command.contains("mysqld"))
        });
        send(pid, Signal::KILL);
    }

    /// Waits for its end. It takes everything that it started with it.
    #[track_caller]
    pub fn end(mut self) -> Finished {
        let code = self.child.wait().unwrap().code();
        nothing_left_of(self.id(), Duration::from_secs(1));
        Finished::new(code, self.stdout.all(), self.stderr.all())
    }

    /// Kills it. What it started ends by itself soon.
    #[track_caller]
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        nothing_left_of(self.id(), Duration::from_secs(5));
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends everything that a Prony started a signal, and gives the deaths time to be noticed. Service
/// managers and batch systems signal every process, in no order.
pub fn signal_children(owner: u32, signal: Signal) {
    for (pid, _) in children_of(owner) {
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        // One may have ended by itself, or with another.
        let _ = kill_process(pid, signal);
    }
    std::thread::sleep(Duration::from_millis(50));
}

/// Sends a process a signal.
pub fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A server that somebody else runs, as far as Prony knows.
pub struct Shell {
    prony: Watched,
    pub socket: PathBuf,
    /// The file with the password of the account `prony`.
    pub password: PathBuf,
}

impl Shell {
    /// Starts a server of a build.
    #[track_caller]
    pub fn start(folder: &Path, build: &str) -> Self {
        let prony = Watched::start(prony(folder, &["servers", "shell", build]));
        let said = wait_for("the server", Duration::from_mins(3), || {
            let said = prony.stdout.so_far();
            said.contains("\nconnect").then_some(said)
        });
        let after = |words: &str| {
            let line = said.lines().find_map(|line| line.split_once(words));
            let rest = line.unwrap().1.trim();
            PathBuf::from(rest.split(',').next().unwrap())
        };
        Self {
            socket: after("socket "),
            password: after(", password in "),
            prony,
        }
    }

    /// Kills the Prony that it belongs to.
    #[track_caller]
    pub fn kill(self) {
        self.prony.kill();
    }

    /// Stops it as a user would.
    #[track_caller]
    pub fn stop(self) {
        self.prony.signal(Signal::INT);
        self.prony.end().exits(0);
    }
}
