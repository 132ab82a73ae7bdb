//! The load generator, a process here or on the client host: a job goes in, messages come out, and where
//! the job holds, the words to go on go in as well.

mod child;

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use prony_host::Launcher;
use prony_load::{Hello, Job, Message};
use prony_model::CpuSet;

pub(crate) use self::child::{Child, Line, command};
use crate::error::GeneratorError;
use crate::far::{FarGenerator, Session};

/// Limit for a generator to say what its host has.
const STARTING: Duration = Duration::from_secs(20);
/// The line that lets a generator go on that holds. It takes any.
const GO: &[u8] = b"go\n";

/// A running load generator. Dropping it ends the process.
pub(crate) struct Generator {
    process: Carrier,
    lines: Receiver<Line>,
}

/// What carries words to a generator.
enum Carrier {
    /// A child of this process.
    Here(Child),
    /// A child of the far end.
    Far(FarGenerator),
}

/// The next event from the generator.
pub(crate) enum Next {
    /// A message.
    Message(Message),
    /// Nothing within the time waited.
    Quiet,
    /// The process ended without saying `Done`, `Filled` or `Failed`.
    Ended(String),
}

impl Generator {
    /// Starts the load generator of the program `prony`, on the processors `cpus` if not on all,
    /// and hands it the job.
    pub(crate) fn start(
        launcher: &Launcher,
        prony: &Path,
        cpus: Option<&CpuSet>,
        job: &Job,
    ) -> Result<Self, GeneratorError> {
        let mut generator = Self::spawn(launcher, command(launcher, prony, cpus))?;
        generator.hand_over(job)?;
        Ok(generator)
    }

    /// Starts the load generator of the client host, and hands it the job.
    pub(crate) fn start_far(
        session: &Session,
        cpus: Option<&CpuSet>,
        job: &Job,
    ) -> Result<Self, GeneratorError> {
        let (sender, lines) = channel();
        let mut generator = Self {
            process: Carrier::Far(session.start_generator(cpus, sender)),
            lines,
        };
        generator.hand_over(job)?;
        Ok(generator)
    }

    /// Its process id, where it is a process of this host.
    pub(crate) fn id(&self) -> Option<u32> {
        match &self.process {
            Carrier::Here(child) => Some(child.id()),
            Carrier::Far(_) => None,
        }
    }

    /// Asks a generator, which gets no job then, for its version and for what its host has.
    pub(crate) fn ask(launcher: &Launcher, prony: &Path) -> Result<Hello, GeneratorError> {
        Self::spawn(launcher, command(launcher, prony, None))?.hello()
    }

    fn hello(mut self) -> Result<Hello, GeneratorError> {
        match self.next(STARTING) {
            Next::Message(Message::Hello(hello)) => {
                hello.check()?;
                Ok(hello)
            }
            Next::Ended(how) => Err(GeneratorError::start(&how)),
            Next::Message(_) | Next::Quiet => {
                Err(GeneratorError::start(&"it does not say what its host has"))
            }
        }
    }

    fn spawn(launcher: &Launcher, command: Command) -> Result<Self, GeneratorError> {
        let (sender, lines): (Sender<Line>, _) = channel();
        let child = Child::spawn(launcher, command, move |line| sender.send(line).is_ok())?;
        Ok(Self {
            process: Carrier::Here(child),
            lines,
        })
    }

    fn hand_over(&mut self, job: &Job) -> Result<(), GeneratorError> {
        let mut line = serde_json::to_vec(job).map_err(|error| GeneratorError::start(&error))?;
        line.push(b'\n');
        self.tell(&line);
        Ok(())
    }

    /// Lets a generator go on that holds: one that said `Connecting`, `Ready` or `MeasureEnd`.
    pub(crate) fn release(&mut self) {
        self.tell(GO);
    }

    fn tell(&mut self, line: &[u8]) {
        match &mut self.process {
            Carrier::Here(child) => child.tell(line),
            Carrier::Far(generator) => generator.tell(line),
        }
    }

    /// Waits for the next message, at most `wait`.
    pub(crate) fn next(&mut self, wait: Duration) -> Next {
        match self.lines.recv_timeout(wait) {
            Ok(Line::Output(line)) => match serde_json::from_str(&line) {
                Ok(message) => Next::Message(message),
                Err(error) => Next::Ended(format!(
                    "it wrote `{line}`, which is not a message: {error}"
                )),
            },
            Ok(Line::Closed(errors)) => Next::Ended(self.describe_end(&errors)),
            Ok(Line::Ended(how)) => Next::Ended(how),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
            Err(RecvTimeoutError::Disconnected) => Next::Ended(self.describe_end("")),
        }
    }

    fn describe_end(&mut self, errors: &str) -> String {
        match &mut self.process {
            Carrier::Here(child) => child.describe_end(errors),
            Carrier::Far(_) => "the connection to its host is gone".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use prony_client::Address;
    use prony_load::{FillTask, Task};
    use prony_model::{Dataset, Engine, Tls};

    use super::*;

    fn job() -> Job {
        let dataset = Dataset::sbtest(1, 1, 1);
        Job {
            family: prony_model::Family::Mysql,
            address: Address::Unix(PathBuf::from("/nowhere")),
            user: "prony".into(),
            password: "secret".into(),
            tls: Tls::Off,
            database: "prony".into(),
            task: Task::Fill(FillTask {
                dataset,
                engine: Engine::Innodb,
                connections: 1,
                own_server: true,
                hold: false,
                flush_statistics: false,
            }),
        }
    }

    /// A generator that is a shell script, started through a guard that is one too. The guard is a
    /// file of the project: one written here could be busy when another test's child is started.
    fn shell(script: &str) -> Generator {
        let mut generator = spawn(script);
        generator.hand_over(&job()).unwrap();
        generator
    }

    fn spawn(script: &str) -> Generator {
        let guard = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guard.sh");
        let launcher = Launcher::new(guard.into()).unwrap();
        let mut command = launcher.command("sh");
        command.args(["-c", script]);
        Generator::spawn(&launcher, command).unwrap()
    }

    fn wait() -> Duration {
        Duration::from_secs(20)
    }

    #[test]
    fn a_generator_says_what_its_host_has_unless_it_is_of_another_version() {
        let own = Hello::of_this_process();
        let greet = |hello: &Hello| {
            let line = serde_json::to_string(&Message::Hello(hello.clone())).unwrap();
            spawn(&format!("echo '{line}'; read job")).hello()
        };
        assert_eq!(greet(&own).unwrap(), own);
        let other = Hello {
            protocol: own.protocol + 1,
            ..own
        };
        assert!(matches!(greet(&other), Err(GeneratorError::Protocol(_))));
        let error = spawn("echo oops >&2").hello().unwrap_err().to_string();
        assert!(error.starts_with("start the load generator: it ended"));
        assert!(error.ends_with("oops"), "{error}");
    }

    #[test]
    fn a_message_is_read() {
        let message = r#"{"event":"connected","clients":3,"threads":2}"#;
        let mut generator = shell(&format!("read job; echo '{message}'"));
        let Next::Message(Message::Connected { clients, threads }) = generator.next(wait()) else {
            panic!("expected the message");
        };
        assert_eq!((clients, threads), (3, 2));
        assert!(matches!(generator.next(wait()), Next::Ended(_)));
    }

    #[test]
    fn a_generator_that_holds_waits_for_its_release() {
        let mut generator = shell(r#"read job; echo '{"event":"ready"}'; read word; echo $word"#);
        let Next::Message(Message::Ready) = generator.next(wait()) else {
            panic!("expected it to be ready");
        };
        assert!(matches!(
            generator.next(Duration::from_millis(20)),
            Next::Quiet
        ));
        generator.release();
        let Next::Ended(reason) = generator.next(wait()) else {
            panic!("expected the word back")
        };
        assert!(reason.contains("`go`"), "{reason}");
    }

    #[test]
    fn a_crash_says_signal_and_last_words() {
        let mut generator = shell("read job; echo oops >&2; kill -9 $$");
        let Next::Ended(reason) = generator.next(wait()) else {
            panic!("expected the end")
        };
        assert_eq!(
            reason,
            "it was killed by signal 9 (if no person or program did that, the machine ran out of \
             memory); its output: oops"
        );
    }

    #[test]
    fn rubbish_is_shown() {
        let mut generator = shell("read job; echo hello");
        let Next::Ended(reason) = generator.next(wait()) else {
            panic!("expected the end")
        };
        assert!(reason.contains("`hello`"), "{reason}");
    }

    #[test]
    fn a_silent_generator_is_quiet_and_dies_when_dropped() {
        let mut generator = shell("exec sleep 600");
        assert!(matches!(
            generator.next(Duration::from_millis(20)),
            Next::Quiet
        ));
        let pid = generator.id().unwrap();
        drop(generator);
        assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
    }
}
