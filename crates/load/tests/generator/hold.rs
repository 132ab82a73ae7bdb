//! Jobs that hold: the generator says that it is ready, and the measured time begins at somebody's
//! word; at the end it leaves the server at another.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use prony_load::{DriveTask, JobError, LoadError, Message, Task};
use prony_model::{Length, Pace, Spacing, StepOutcome, Thousandths, Timing};
use prony_probe::monotonic_ns;
use rustix::time::{ClockId, clock_gettime};

use crate::drive::{answer, mixed, task};
use crate::testkit::{Delivery, Departures, Door, FakeServer, Reply, Request};

crate::backend::behind_each_backend! {
    the_measured_time_begins_at_the_word,
    a_schedule_begins_at_the_word,
    the_whole_run_begins_at_the_word,
    nothing_begins_where_nobody_gives_the_word,
    connections_last_until_the_last_word,
    so_do_those_that_were_made_anew,
    those_of_a_whole_run_are_closed_by_then,
    what_was_measured_is_kept_where_nobody_gives_the_last_word,
    a_client_that_fails_ends_everything,
    turns_add_up_to_the_measured_time,
    turns_ask_what_one_measured_time_asks,
    a_client_that_fails_in_a_turn_ends_everything,
}

/// Longer than a client needs for a statement.
const PAUSE: Duration = Duration::from_millis(100);
/// Processor time that is used while the generator waits: much more than it needs itself between a
/// word and its own reading of the clock.
const TOIL_NS: u64 = 50_000_000;

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

/// The input of a generator: a line each time that it is asked for, as soon as the look around is
/// done, and the end after so many.
struct Words<'a> {
    look: &'a mut (dyn FnMut(usize) + Send),
    given: usize,
    limit: usize,
    line: &'static [u8],
}

impl Read for Words<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Words<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.line.is_empty() && self.given < self.limit {
            self.given += 1;
            (self.look)(self.given);
            self.line = b"go\n";
        }
        Ok(self.line)
    }

    fn consume(&mut self, bytes: usize) {
        self.line = &self.line[bytes..];
    }
}

/// What is seen while a generator waits for a word.
pub(crate) struct Seen {
    messages: Vec<Message>,
    /// What the server had been asked when the generator began to wait, by connection.
    pub(crate) record: BTreeMap<usize, Vec<String>>,
    /// Whether it was asked anything in the pause that followed.
    asked_meanwhile: bool,
    /// Connections made so far.
    connections: usize,
    departures: Departures,
    /// Processor time of this process and the time: before the look around, and after it.
    before_ns: (u64, u64),
    after_ns: (u64, u64),
}

/// What was seen of a run that held.
pub(crate) struct Held {
    /// While it waited for the word to begin.
    pub(crate) ready: Seen,
    /// While it waited for the word to leave, where it was given.
    end: Option<Seen>,
    /// When all was over.
    departures: Departures,
    connections: usize,
    messages: Vec<Message>,
    pub(crate) outcome: StepOutcome,
}

fn asked(server: &FakeServer) -> usize {
    server.record().values().map(Vec::len).sum()
}

/// Processor time of this process, and the time, on the clocks that the generator reads.
fn clocks() -> (u64, u64) {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_ns = cpu.tv_sec.cast_unsigned() * 1_000_000_000 + cpu.tv_nsec.cast_unsigned();
    (cpu_ns, monotonic_ns())
}

/// Uses processor time, as a generator would that does not rest.
fn toil() {
    let begin = clocks().0;
    while clocks().0 - begin < TOIL_NS {}
}

/// A server that counts who comes.
fn counting_server(
    script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (FakeServer, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let door = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Door::Open
    };
    (FakeServer::start_behind(door, script), connections)
}

/// Runs a task that holds, and gives both words.
pub(crate) fn hold(task: DriveTask) -> Held {
    let clients = task.groups.own().clients as usize;
    hold_with(task, 2, clients)
}

/// Gives so many words. At the end of the measured time so many clients are to be there.
pub(crate) fn hold_with(task: DriveTask, words: usize, clients: usize) -> Held {
    let (server, connections) = counting_server(answer);
    let said = Said::default();
    let mut seen = Vec::new();
    let mut look = |word| {
        let before_ns = clocks();
        let record = server.record();
        if word == 2 {
            // Others left when they connected anew, which the server may still have to hear.
            server.wait_for_ends(connections.load(Ordering::SeqCst) - clients);
        }
        sleep(PAUSE);
        toil();
        seen.push(Seen {
            messages: said.messages(),
            asked_meanwhile: record != server.record(),
            record,
            connections: connections.load(Ordering::SeqCst),
            departures: server.departures(),
            before_ns,
            after_ns: clocks(),
        });
    };
    let mut input = Words {
        look: &mut look,
        given: 0,
        limit: words,
        line: b"",
    };
    let task = DriveTask { hold: true, ..task };
    let job = crate::job(&server, Task::Drive(Box::new(task)));
    prony_load::run(&job, &mut input, &mut said.clone()).unwrap();
    assert!(input.line.is_empty());
    assert_eq!(input.given, words);
    let connections = connections.load(Ordering::SeqCst);
    server.wait_for_ends(connections);
    let messages = said.messages();
    let Some(Message::Done { outcome }) = messages.last() else {
        panic!("expected the outcome, got {messages:?}")
    };
    let mut seen = seen.into_iter();
    Held {
        ready: seen.next().unwrap(),
        end: seen.next(),
        departures: server.departures(),
        connections,
        outcome: (**outcome).clone(),
        messages,
    }
}

impl Held {
    /// When the word was given to begin, on the host's monotonic clock.
    fn go_ns(&self) -> u64 {
        self.ready.after_ns.1
    }

    /// Nothing went on while the generator held, and the measured time began after that.
    fn check(&self) {
        let ready = &self.ready;
        assert_eq!(ready.messages.last(), Some(&Message::Ready));
        assert!(!ready.asked_meanwhile);
        let at_ns = self.outcome.start_ns;
        assert!(at_ns >= self.go_ns());
        let next = &self.messages[ready.messages.len()];
        assert_eq!(*next, Message::MeasureStart { at_ns });
        let is_ready = |message: &&Message| **message == Message::Ready;
        assert_eq!(self.messages.iter().filter(is_ready).count(), 1);
    }

    /// The generator waited when all was measured, with so many clients still there, and then all
    /// left as one does. What it used while it waited is in none of its figures.
    fn check_end(&self, clients: usize) {
        let end = self.end.as_ref().unwrap();
        let at_ns = self.outcome.end_ns;
        assert_eq!(end.messages.last(), Some(&Message::MeasureEnd { at_ns }));
        assert!(!end.asked_meanwhile);
        assert_eq!(end.connections, self.connections);
        let gone = end.connections - clients;
        let departures = |gone| Departures {
            goodbyes: gone,
            ended: gone,
        };
        assert_eq!(end.departures, departures(gone));
        assert_eq!(self.departures, departures(self.connections));
        let outcome = &self.outcome;
        let used_ns = outcome.client_user_ns + outcome.client_system_ns;
        assert!(used_ns <= end.before_ns.0 - self.ready.after_ns.0);
        let lasted_ns = end.before_ns.1 - self.go_ns();
        assert!(
            outcome
                .thread_use
                .iter()
                .all(|used| used.wall_ns <= lasted_ns)
        );
        assert!(end.before_ns.1 >= at_ns);
    }
}

fn the_measured_time_begins_at_the_word() {
    for clients in [1, 6] {
        for (warmup_ms, ramp_ms) in [(0, 0), (50, 0), (20, 60)] {
            let mut task = task(mixed(true), clients, Length::Count { operations: 40 });
            (task.warmup_ms, task.ramp_ms) = (warmup_ms, ramp_ms);
            let held = hold(task);
            held.check();
            assert!(matches!(held.ready.messages[0], Message::Connected { .. }));
            assert!(warmup_ms > 0 || held.ready.record.is_empty());
            assert_eq!(held.outcome.groups.own().operations, 40);
        }
    }
}

fn a_schedule_begins_at_the_word() {
    for clients in [1, 6] {
        let length = Length::Time { ms: 60 };
        let mut task = task(mixed(true), clients, length);
        (task.warmup_ms, task.ramp_ms, task.drain_ms) = (30, 30, 60_000);
        task.groups.own_mut().pace = Pace::Open {
            rate: Thousandths(1_000_000),
            spacing: Spacing::Regular,
        };
        let held = hold(task);
        held.check();
        let planned = held.outcome.groups.own().schedule.as_ref().unwrap().planned;
        assert_eq!((held.outcome.groups.own().operations, planned), (60, 60));
        // The last one arrives 59 ms after the word: the pause brought none forward.
        assert!(held.outcome.end_ns - held.go_ns() >= 59_000_000);
    }
}

fn the_whole_run_begins_at_the_word() {
    let mut task = task(mixed(true), 6, Length::Count { operations: 40 });
    task.timing = Timing::WholeRun;
    let held = hold_with(task, 2, 0);
    held.check();
    assert_eq!(held.ready.messages, [Message::Ready]);
    assert_eq!(held.ready.connections, 0);
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
            assert!(said.contains("closed the generator's input"), "{said}");
            assert_eq!(asked(&server), 0);
        }
    }
}

fn connections_last_until_the_last_word() {
    for clients in [1, 6] {
        for length in [Length::Count { operations: 40 }, Length::Time { ms: 50 }] {
            let held = hold(task(mixed(true), clients, length));
            held.check();
            held.check_end(clients as usize);
            assert_eq!(held.connections, clients as usize);
            assert_eq!(held.outcome.threads, clients.min(2));
        }
    }
}

fn so_do_those_that_were_made_anew() {
    for clients in [1, 6] {
        let mut task = task(mixed(true), clients, Length::Count { operations: 40 });
        task.groups.own_mut().reconnect_every = Some(3);
        let held = hold(task);
        held.check_end(clients as usize);
        assert!(held.connections > clients as usize);
    }
}

fn those_of_a_whole_run_are_closed_by_then() {
    let mut task = task(mixed(true), 6, Length::Count { operations: 40 });
    task.timing = Timing::WholeRun;
    let held = hold_with(task, 2, 0);
    held.check_end(0);
    assert_eq!(held.connections, 6);
}

fn what_was_measured_is_kept_where_nobody_gives_the_last_word() {
    let length = Length::Count { operations: 40 };
    let held = hold_with(task(mixed(true), 6, length), 1, 6);
    held.check();
    assert_eq!(held.outcome.groups.own().operations, 40);
    assert_eq!((held.departures.goodbyes, held.connections), (6, 6));
}

fn a_client_that_fails_ends_everything() {
    for clients in [1, 6] {
        let hang_up = |request: &Request| match request.number {
            0..12 => answer(request),
            _ => Reply::HangUp,
        };
        let (server, connections) = counting_server(hang_up);
        let mut look = |_| ();
        let mut input = Words {
            look: &mut look,
            given: 0,
            limit: 2,
            line: b"",
        };
        let mut task = task(mixed(true), clients, Length::Time { ms: 3_600_000 });
        task.hold = true;
        let job = crate::job(&server, Task::Drive(Box::new(task)));
        let error = prony_load::run(&job, &mut input, &mut std::io::sink()).unwrap_err();
        assert!(matches!(error, LoadError::Closed { .. }), "{error}");
        assert_eq!(input.given, 1);
        server.wait_for_ends(connections.load(Ordering::SeqCst));
    }
}

/// A run that takes turns.
struct Turned {
    server: FakeServer,
    /// Pauses in which the server was asked something.
    asked_meanwhile: usize,
    messages: Vec<Message>,
    words: usize,
}

impl Turned {
    /// Runs a task, and lets every turn begin after a pause.
    fn run(task: DriveTask) -> Result<Self, LoadError> {
        let server = FakeServer::start(Delivery::Whole, answer);
        let said = Said::default();
        let mut asked_meanwhile = 0;
        let mut look = |_| {
            let before = asked(&server);
            sleep(PAUSE / 4);
            asked_meanwhile += usize::from(asked(&server) != before);
        };
        let mut input = Words {
            look: &mut look,
            given: 0,
            limit: usize::MAX,
            line: b"",
        };
        let job = crate::job(&server, Task::Drive(Box::new(task)));
        prony_load::run(&job, &mut input, &mut said.clone())?;
        let words = input.given;
        Ok(Self {
            server,
            asked_meanwhile,
            messages: said.messages(),
            words,
        })
    }

    fn outcome(&self) -> &StepOutcome {
        match self.messages.last() {
            Some(Message::Done { outcome }) => outcome,
            other => panic!("expected the outcome, got {other:?}"),
        }
    }
}

fn in_turns(clients: u32) -> DriveTask {
    let mut task = task(mixed(true), clients, Length::Time { ms: 200 });
    (task.hold, task.turn_ms, task.interval_ms) = (true, Some(20), 40);
    task
}

fn turns_add_up_to_the_measured_time() {
    for clients in [1, 6] {
        let turned = Turned::run(in_turns(clients)).unwrap();
        let ends = turned.messages.iter();
        let ends = ends.filter(|message| **message == Message::TurnEnd).count();
        // On a slow machine a turn takes longer than it should, and fewer are enough.
        assert!((1..=9).contains(&ends), "{ends} pauses");
        assert_eq!(turned.words, 1 + ends + 1);
        assert_eq!(turned.asked_meanwhile, 0);
        let outcome = turned.outcome();
        let own = outcome.groups.own();
        let measured_ns = outcome.end_ns - outcome.start_ns;
        assert!(measured_ns >= 198_000_000, "{measured_ns}");
        assert!(own.busy_ns <= measured_ns * u64::from(clients));
        assert!(own.busy_ns >= measured_ns * u64::from(clients) / 4);
        let intervals = &outcome.groups.own().intervals;
        let in_intervals: u64 = intervals.iter().map(|it| it.operations).sum();
        assert_eq!(in_intervals, own.operations);
        let edges: Vec<_> = intervals.iter().map(|it| it.start_ns).collect();
        assert_eq!(edges[..3], [0, 40_000_000, 80_000_000]);
        assert_eq!(intervals.last().unwrap().end_ns, measured_ns);
        for used in &outcome.thread_use {
            assert!(used.wall_ns <= measured_ns + 100_000_000);
        }
    }
}

fn turns_ask_what_one_measured_time_asks() {
    let turned = Turned::run(in_turns(3)).unwrap();
    let whole = hold(task(mixed(true), 3, Length::Time { ms: 200 }));
    let (turned, whole) = (turned.server.record(), whole.end.unwrap().record);
    assert_eq!(turned.len(), 3);
    for (one, other) in turned.values().zip(whole.values()) {
        let common = one.len().min(other.len());
        assert!(common > 0);
        assert_eq!(one[..common], other[..common]);
    }
}

fn a_client_that_fails_in_a_turn_ends_everything() {
    for clients in [1, 6] {
        let hang_up = |request: &Request| match request.number {
            0..30 => answer(request),
            _ => Reply::HangUp,
        };
        let server = FakeServer::start(Delivery::Whole, hang_up);
        let mut look = |_| ();
        let mut input = Words {
            look: &mut look,
            given: 0,
            limit: usize::MAX,
            line: b"",
        };
        let task = DriveTask {
            length: Length::Time { ms: 3_600_000 },
            turn_ms: Some(1),
            ..in_turns(clients)
        };
        let job = crate::job(&server, Task::Drive(Box::new(task)));
        let error = prony_load::run(&job, &mut input, &mut std::io::sink()).unwrap_err();
        assert!(matches!(error, LoadError::Closed { .. }), "{error}");
    }
}

#[test]
fn work_that_cannot_pause_takes_no_turns() {
    let with = |change: fn(&mut DriveTask)| {
        let mut task = in_turns(1);
        change(&mut task);
        Turned::run(task).err()
    };
    let changes: [fn(&mut DriveTask); 4] = [
        |task| task.length = Length::Count { operations: 9 },
        |task| task.timing = Timing::WholeRun,
        |task| task.hold = false,
        |task| {
            task.groups.own_mut().pace = Pace::Open {
                rate: Thousandths(1_000_000),
                spacing: Spacing::Regular,
            };
        },
    ];
    for change in changes {
        let error = with(change).unwrap();
        assert!(matches!(error, LoadError::Job(JobError::Turns)), "{error}");
    }
}
