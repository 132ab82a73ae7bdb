//! The lab's side of the connection to the far end.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use prony_host::{Launcher, Process, describe_exit};
use prony_model::{Counter, CpuSet, Gap, Moment};

use super::words::{Order, Report};
use super::{BEAT, ClientHostSetup, FarHost, SILENCE};
use crate::drive::Line;
use crate::error::ClientHostError;

/// Limit for the far end to say its first words: logging in to another host takes its time.
const GREETING: Duration = Duration::from_secs(30);
/// Limit for an answer that needs no measuring.
const ANSWER: Duration = Duration::from_secs(10);
/// Limit for the words that started the far end to end by themselves, once their output is closed.
const DYING: Duration = Duration::from_secs(1);
/// Bytes of the error output that are kept for an explanation.
const SAID_MAX: usize = 2_000;

/// A connection to the far end. Dropping it ends the far end and everything that it started.
pub(crate) struct Session {
    link: Arc<Link>,
    host: FarHost,
    /// Answers to questions, one at a time.
    answers: Mutex<Receiver<Report>>,
}

/// What the threads of a session share.
struct Link {
    /// Closed when the session ends: the far end ends by that.
    input: Mutex<Option<ChildStdin>>,
    process: Mutex<Process>,
    state: Mutex<State>,
    /// The end of what was said on the error output.
    said: Mutex<String>,
}

struct State {
    heard: Instant,
    /// The reason, once the far end is lost.
    lost: Option<String>,
    /// The readers of load generators that run there.
    generators: HashMap<u32, Sender<Line>>,
    next: u32,
    /// The way of answers to who asked; closed when the far end is lost.
    answers: Option<Sender<Report>>,
}

/// Counters of the host there, and reasons for missing ones.
pub(crate) type HostReading = (Vec<(Counter, u64)>, Vec<Gap>);

/// A load generator that the far end started. It ends there when this is dropped.
pub(crate) struct FarGenerator {
    link: Arc<Link>,
    number: u32,
}

impl Session {
    /// Starts the far end, and has it describe its host.
    pub(super) fn open(
        setup: &ClientHostSetup,
        launcher: &Launcher,
    ) -> Result<Self, ClientHostError> {
        let failed = |reason: &dyn fmt::Display| ClientHostError::Start {
            client: setup.name.clone(),
            reason: reason.to_string(),
        };
        let Some((program, arguments)) = setup.command.split_first() else {
            return Err(failed(&"no command starts it"));
        };
        let mut command = launcher.command(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = launcher.spawn(command).map_err(|error| failed(&error))?;
        let child = process.child();
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, answers) = channel();
        let link = Arc::new(Link {
            input: Mutex::new(input),
            process: Mutex::new(process),
            state: Mutex::new(State {
                heard: Instant::now(),
                lost: None,
                generators: HashMap::new(),
                next: 0,
                answers: Some(sender),
            }),
            said: Mutex::default(),
        });
        if let (Some(output), Some(errors)) = (output, errors) {
            let listener = Arc::clone(&link);
            thread::spawn(move || listener.keep_errors(errors));
            let listener = Arc::clone(&link);
            thread::spawn(move || listener.listen(output));
        }
        // Whoever leaves by an error from here on drops the link's only owner but the threads: the
        // process has to be ended by hand.
        let opened = Self::greet(setup, &link, &answers);
        let host = opened.inspect_err(|_| link.lose("not needed any more"))?;
        let watcher = Arc::downgrade(&link);
        thread::spawn(move || watch(&watcher));
        Ok(Self {
            link,
            host,
            answers: Mutex::new(answers),
        })
    }

    /// Compares both sides, and has the far end describe itself.
    fn greet(
        setup: &ClientHostSetup,
        link: &Link,
        answers: &Receiver<Report>,
    ) -> Result<FarHost, ClientHostError> {
        let failed = |reason: String| ClientHostError::Start {
            client: setup.name.clone(),
            reason,
        };
        match answers.recv_timeout(GREETING) {
            Ok(Report::Greeting { build, .. }) if build == setup.build => {}
            Ok(Report::Greeting { version, .. }) => {
                return Err(ClientHostError::OtherBuild {
                    client: setup.name.clone(),
                    version,
                });
            }
            Ok(_) => return Err(failed("it does not say who it is".to_owned())),
            Err(error) => return Err(failed(link.silence(error, GREETING))),
        }
        let server = setup.listen;
        match ask(link, answers, &Order::Describe { server }, ANSWER) {
            Ok(Report::Host(host)) => Ok(*host),
            Ok(_) => Err(failed("it does not describe its host".to_owned())),
            Err(reason) => Err(failed(reason)),
        }
    }

    /// The far end's host.
    pub(crate) fn host(&self) -> &FarHost {
        &self.host
    }

    /// The reason why the far end is lost, if it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.link.state().lost.clone()
    }

    /// Asks the far end for something, and waits for the answer. One that does not answer is lost.
    pub(super) fn ask(&self, order: &Order, wait: Duration) -> Result<Report, String> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&self.link, &answers, order, wait).inspect_err(|reason| self.link.lose(reason))
    }

    /// Reads the host there.
    pub(crate) fn sample(&self, moment: Moment) -> Result<HostReading, String> {
        match self.ask(&Order::Sample { moment }, ANSWER)? {
            Report::Sample { values, gaps } => Ok((values, gaps)),
            _ => Err("the far end answers something else".to_owned()),
        }
    }

    /// Starts a load generator there, on the processors `cpus` if not on all. `lines` gets what comes
    /// from it, at the latest that it is lost.
    pub(crate) fn start_generator(
        &self,
        cpus: Option<&CpuSet>,
        lines: Sender<Line>,
    ) -> FarGenerator {
        let number = {
            let mut state = self.link.state();
            let number = state.next;
            state.next += 1;
            if let Some(reason) = &state.lost {
                let _ = lines.send(Line::Ended(reason.clone()));
            } else {
                state.generators.insert(number, lines);
            }
            number
        };
        self.link.order(&Order::Start {
            generator: number,
            cpus: cpus.cloned(),
        });
        FarGenerator {
            link: Arc::clone(&self.link),
            number,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The far end ends with its input. Words that do not end by that are killed.
        drop(lock(&self.link.input).take());
        let _ = lock(&self.link.process).wait_timeout(DYING);
        self.link.lose("not needed any more");
    }
}

impl FarGenerator {
    /// Writes a line to its input. Of one that is lost its reader knows.
    pub(crate) fn tell(&mut self, line: &[u8]) {
        self.link.order(&Order::Line {
            generator: self.number,
            line: String::from_utf8_lossy(line).trim_end().to_owned(),
        });
    }
}

impl Drop for FarGenerator {
    fn drop(&mut self) {
        self.link.state().generators.remove(&self.number);
        self.link.order(&Order::Kill {
            generator: self.number,
        });
    }
}

impl Link {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Writes an order. A far end that does not take it is noticed by its silence.
    fn order(&self, order: &Order) {
        if let Some(input) = &mut *lock(&self.input) {
            let _ = input.write_all(&line(order));
        }
    }

    /// Gives a sign of life, unless an order is being written, which is one.
    fn beat(&self) {
        if let Ok(mut input) = self.input.try_lock()
            && let Some(input) = &mut *input
        {
            let _ = input.write_all(&line(&Order::Beat));
        }
    }

    /// Reads what the far end says until it says no more.
    fn listen(&self, output: ChildStdout) {
        for text in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            // A shell may greet in any encoding.
            let text = String::from_utf8_lossy(&text);
            let Ok(report) = serde_json::from_str(&text) else {
                // A shell that prints something when it starts.
                self.keep(&format!("{text}\n"));
                continue;
            };
            let mut state = self.state();
            state.heard = Instant::now();
            match report {
                Report::Beat => {}
                Report::Line { generator, line } => {
                    if let Some(lines) = state.generators.get(&generator) {
                        let _ = lines.send(Line::Output(line));
                    }
                }
                Report::Ended { generator, how } => {
                    if let Some(lines) = state.generators.remove(&generator) {
                        let _ = lines.send(Line::Ended(how));
                    }
                }
                answer => {
                    if let Some(answers) = &state.answers {
                        let _ = answers.send(answer);
                    }
                }
            }
        }
        let status = lock(&self.process).wait_timeout(DYING);
        let how = match status {
            Ok(Some(status)) => format!("the connection to its host {}", describe_exit(status)),
            _ => "the connection to its host was closed".to_owned(),
        };
        self.lose(&self.with_words(how));
    }

    fn keep_errors(&self, mut errors: ChildStderr) {
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = errors.read(&mut buffer) {
            self.keep(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    /// Keeps the end of what was said and is no report.
    fn keep(&self, text: &str) {
        let mut said = lock(&self.said);
        said.push_str(text);
        let mut excess = said.len().saturating_sub(SAID_MAX);
        while !said.is_char_boundary(excess) {
            excess += 1;
        }
        said.drain(..excess);
    }

    fn with_words(&self, how: String) -> String {
        // Another thread may still read them.
        thread::sleep(Duration::from_millis(20));
        match lock(&self.said).trim() {
            "" => how,
            said => format!("{how}; it said: {said}"),
        }
    }

    /// The reason why nothing was heard.
    fn silence(&self, error: RecvTimeoutError, wait: Duration) -> String {
        match (error, &self.state().lost) {
            (RecvTimeoutError::Disconnected, Some(reason)) => reason.clone(),
            _ => self.with_words(format!("it did not answer within {} s", wait.as_secs())),
        }
    }

    /// Gives up the far end, once. All that waits for it gets to know.
    fn lose(&self, reason: &str) {
        let generators = {
            let mut state = self.state();
            if state.lost.is_some() {
                return;
            }
            state.lost = Some(reason.to_owned());
            state.answers = None;
            std::mem::take(&mut state.generators)
        };
        for lines in generators.into_values() {
            let _ = lines.send(Line::Ended(reason.to_owned()));
        }
        // Before the input's lock is waited for: a writer may be stuck in it.
        lock(&self.process).kill();
        drop(lock(&self.input).take());
    }
}

/// Asks, and waits for the answer.
fn ask(
    link: &Link,
    answers: &Receiver<Report>,
    order: &Order,
    wait: Duration,
) -> Result<Report, String> {
    link.order(order);
    answers
        .recv_timeout(wait)
        .map_err(|error| link.silence(error, wait))
}

/// Gives signs of life and looks for those of the far end, as long as the session is there.
fn watch(link: &Weak<Link>) {
    loop {
        thread::sleep(BEAT);
        let Some(link) = link.upgrade() else {
            return;
        };
        let (silent, is_lost) = {
            let state = link.state();
            (state.heard.elapsed(), state.lost.is_some())
        };
        if is_lost {
            return;
        }
        if silent > SILENCE {
            let how = format!(
                "the connection to its host is broken: nothing was heard for {} s",
                SILENCE.as_secs()
            );
            link.lose(&link.with_words(how));
            return;
        }
        link.beat();
    }
}

/// A line of JSON.
pub(super) fn line(words: &impl serde::Serialize) -> Vec<u8> {
    // Maps have texts for keys, so that nothing of it can fail.
    let mut line = serde_json::to_vec(words).unwrap_or_default();
    line.push(b'\n');
    line
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
