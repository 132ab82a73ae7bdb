//! Jobs that hold: the generator says that it is ready, and the measured time begins at somebody's
//! word.

use std::io::{BufRead, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use prony_load::{DriveTask, LoadError, Message, Task};
use prony_model::{Length, Pace, Spacing, StepOutcome, Thousandths, Timing};
use prony_probe::monotonic_ns;

use crate::drive::{answer, mixed, task};
use crate::testkit::{Delivery, Door, FakeServer};

crate::backend::behind_each_backend! {
    the_measured_time_begins_at_the_word,
    a_schedule_begins_at_the_word,
    the_whole_run_begins_at_the_word,
    nothing_begins_where_nobody_gives_the_word,
}

/// Longer than a client needs for a statement.
const PAUSE: Duration = Duration::from_millis(100);

/// What the generator said, while it runs.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn messages(&self) -> Vec<Message> {
        let said = self.0.lock().unwrap();
        said.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }
}

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The input of a generator: a line that is there as soon as it was asked for and the look around
/// is done.
struct Word<'a> {
    look: &'a mut (dyn FnMut() + Send),
    looks: usize,
    line: &'static [u8],
}

impl Read for Word<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Word<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.looks == 0 {
            self.looks = 1;
            (self.look)();
        }
        Ok(self.line)
    }

    fn consume(&mut self, bytes: usize) {
        self.line = &self.line[bytes..];
    }
}

/// What was seen of a run that held.
struct Held {
    /// Messages before the word.
    before: Vec<Message>,
    /// When the word was given, on the host's monotonic clock.
    go_ns: u64,
    /// Statements that the server had got when the generator was ready, and a while later.
    asked: (usize, usize),
    /// Connections that had been made by then.
    connections: usize,
    /// All messages.
    messages: Vec<Message>,
    outcome: StepOutcome,
}

fn asked(server: &FakeServer) -> usize {
    server.record().values().map(Vec::len).sum()
}

fn hold(task: DriveTask) -> Held {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = FakeServer::start_behind(
        move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Door::Open
        },
        answer,
    );
    let said = Said::default();
    let mut seen = None;
    let mut look = || {
        let before = asked(&server);
        sleep(PAUSE);
        let asked = (before, asked(&server));
        let connections = connections.load(Ordering::SeqCst);
        seen = Some((said.messages(), asked, connections, monotonic_ns()));
    };
    let mut word = Word {
        look: &mut look,
        looks: 0,
        line: b"go\n",
    };
    let task = DriveTask { hold: true, ..task };
    let job = crate::job(&server, Task::Drive(Box::new(task)));
    prony_load::run(&job, &mut word, &mut said.clone()).unwrap();
    assert!(word.line.is_empty());
    let (before, asked, connections, go_ns) = seen.unwrap();
    let messages = said.messages();
    let Some(Message::Done { outcome }) = messages.last() else {
        panic!("expected the outcome, got {messages:?}")
    };
    Held {
        before,
        go_ns,
        asked,
        connections,
        outcome: (**outcome).clone(),
        messages,
    }
}

impl Held {
    /// Nothing went on while the generator held, and the measured time began after that.
    fn check(&self) {
        assert_eq!(self.before.last(), Some(&Message::Ready));
        assert_eq!(self.asked.0, self.asked.1);
        let at_ns = self.outcome.start_ns;
        assert!(at_ns >= self.go_ns);
        let next = &self.messages[self.before.len()];
        assert_eq!(*next, Message::MeasureStart { at_ns });
        let ready = |message: &&Message| **message == Message::Ready;
        assert_eq!(self.messages.iter().filter(ready).count(), 1);
    }
}

fn the_measured_time_begins_at_the_word() {
    for clients in [1, 6] {
        for (warmup_ms, ramp_ms) in [(0, 0), (50, 0), (20, 60)] {
            let mut task = task(mixed(true), clients, Length::Count { operations: 40 });
            (task.warmup_ms, task.ramp_ms) = (warmup_ms, ramp_ms);
            let held = hold(task);
            held.check();
            assert!(matches!(held.before[0], Message::Connected { .. }));
            assert!(warmup_ms > 0 || held.asked.0 == 0);
            assert_eq!(held.outcome.operations, 40);
        }
    }
}

fn a_schedule_begins_at_the_word() {
    for clients in [1, 6] {
        let length = Length::Time { ms: 60 };
        let mut task = task(mixed(true), clients, length);
        (task.warmup_ms, task.ramp_ms, task.drain_ms) = (30, 30, 60_000);
        task.pace = Pace::Open {
            rate: Thousandths(1_000_000),
            spacing: Spacing::Regular,
        };
        let held = hold(task);
        held.check();
        let planned = held.outcome.schedule.as_ref().unwrap().planned;
        assert_eq!((held.outcome.operations, planned), (60, 60));
        // The last one arrives 59 ms after the word: the pause brought none forward.
        assert!(held.outcome.end_ns - held.go_ns >= 59_000_000);
    }
}

fn the_whole_run_begins_at_the_word() {
    let mut task = task(mixed(true), 6, Length::Count { operations: 40 });
    task.timing = Timing::WholeRun;
    let held = hold(task);
    held.check();
    assert_eq!(held.before, [Message::Ready]);
    assert_eq!(held.connections, 0);
    assert!(matches!(held.messages[2], Message::Connected { .. }));
}

fn nothing_begins_where_nobody_gives_the_word() {
    for timing in [Timing::Operations, Timing::WholeRun] {
        for clients in [1, 6] {
            let server = FakeServer::start(Delivery::Whole, answer);
            let mut task = task(mixed(true), clients, Length::Count { operations: 40 });
            (task.timing, task.hold) = (timing, true);
            let error = crate::run(&server, Task::Drive(Box::new(task))).unwrap_err();
            assert!(matches!(error, LoadError::Abandoned), "{error}");
            let said = error.to_string();
            assert!(said.contains("whoever asked to hold is gone"), "{said}");
            assert_eq!(asked(&server), 0);
        }
    }
}
