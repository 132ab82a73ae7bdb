//! The generator as a process: it greets, runs one job, and ends with its input.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use prony_load::{DriveTask, Job, LoadError, Message, Task, serve};
use prony_model::{Length, Pace, Spacing, Think, Timing};

use crate::drive::{answer, mixed, task};
use crate::testkit::{Delivery, Door, FakeServer};

crate::backend::behind_each_backend! {
    it_greets_and_runs_one_job,
    the_end_of_its_input_ends_it_while_it_measures,
    the_end_of_its_input_ends_it_while_it_warms_up,
    the_end_of_its_input_ends_it_while_it_connects,
    the_end_of_its_input_ends_it_while_it_holds,
    a_result_that_is_due_still_comes,
    without_a_job_it_says_so,
}

/// Longer than ending takes, and much shorter than any job here.
const SOON: Duration = Duration::from_secs(20);
const HOUR_MS: u64 = 3_600_000;

/// A generator that runs in this process.
struct Generator {
    /// Its input; `None` when that has ended.
    input: Option<UnixStream>,
    messages: Receiver<Message>,
    result: Receiver<Result<(), LoadError>>,
}

impl Generator {
    fn start(input_text: &[u8]) -> Self {
        let (mut input, far_input) = UnixStream::pair().unwrap();
        let (output, far_output) = UnixStream::pair().unwrap();
        input.write_all(input_text).unwrap();
        let (ended, result) = channel();
        thread::spawn(move || ended.send(serve(far_input, far_output)));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let message = serde_json::from_slice(&line.unwrap()).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: Some(input),
            messages,
            result,
        }
    }

    fn of(server: &FakeServer, task: DriveTask) -> Self {
        let job: Job = crate::job(server, Task::Drive(Box::new(task)));
        let mut line = serde_json::to_vec(&job).unwrap();
        line.push(b'\n');
        Self::start(&line)
    }

    /// The next message, which comes soon.
    fn message(&self) -> Message {
        self.messages.recv_timeout(SOON).unwrap()
    }

    fn wait_for(&self, wanted: impl Fn(&Message) -> bool) {
        while !wanted(&self.message()) {}
    }

    /// Ends its input, which ends it.
    fn abandon(mut self) {
        self.input = None;
        let result = self.result.recv_timeout(SOON).unwrap();
        assert!(matches!(result, Err(LoadError::Abandoned)), "{result:?}");
        self.wait_for(
            |message| matches!(message, Message::Failed { reason } if reason.contains("closed")),
        );
    }
}

fn server() -> FakeServer {
    FakeServer::start(Delivery::Whole, answer)
}

/// An hour of some hundred operations a second.
fn long(clients: u32) -> DriveTask {
    let mut task = task(mixed(true), clients, Length::Time { ms: HOUR_MS });
    let think = Think {
        mean_us: 10_000,
        spacing: Spacing::Regular,
    };
    task.groups.own_mut().pace = Pace::Closed { think: Some(think) };
    task
}

fn it_greets_and_runs_one_job() {
    let server = server();
    let task = task(mixed(true), 2, Length::Count { operations: 20 });
    let generator = Generator::of(&server, task);
    let Message::Hello(hello) = generator.message() else {
        panic!("a greeting comes first")
    };
    assert_eq!(hello.check(), Ok(()));
    assert!(hello.processors > 0);
    assert!(hello.backends.contains(&crate::backend::chosen()));
    generator.wait_for(|message| matches!(message, Message::Done { .. }));
    assert!(generator.result.recv_timeout(SOON).unwrap().is_ok());
}

fn the_end_of_its_input_ends_it_while_it_measures() {
    for clients in [1, 6] {
        let server = server();
        let generator = Generator::of(&server, long(clients));
        generator.wait_for(|message| matches!(message, Message::Interval { .. }));
        generator.abandon();
    }
}

fn the_end_of_its_input_ends_it_while_it_warms_up() {
    let server = server();
    let mut task = long(2);
    task.warmup_ms = HOUR_MS;
    let generator = Generator::of(&server, task);
    generator.wait_for(|message| matches!(message, Message::Connected { .. }));
    generator.abandon();
}

fn the_end_of_its_input_ends_it_while_it_connects() {
    // Each connection takes its time, and all of them a minute.
    let door = |_| {
        thread::sleep(Duration::from_millis(100));
        Door::Open
    };
    let server = FakeServer::start_behind(door, answer);
    let generator = Generator::of(&server, long(600));
    generator.wait_for(|message| matches!(message, Message::Hello(_)));
    generator.abandon();
}

fn the_end_of_its_input_ends_it_while_it_holds() {
    for timing in [Timing::Operations, Timing::WholeRun] {
        let server = server();
        let mut task = long(2);
        (task.hold, task.timing) = (true, timing);
        let generator = Generator::of(&server, task);
        generator.wait_for(|message| *message == Message::Ready);
        generator.abandon();
    }
}

fn a_result_that_is_due_still_comes() {
    let server = server();
    let mut task = task(mixed(true), 2, Length::Count { operations: 20 });
    task.hold = true;
    let mut generator = Generator::of(&server, task);
    generator.wait_for(|message| *message == Message::Ready);
    let input = generator.input.as_mut().unwrap();
    input.write_all(b"go\n").unwrap();
    generator.wait_for(|message| matches!(message, Message::MeasureEnd { .. }));
    generator.input = None;
    generator.wait_for(|message| matches!(message, Message::Done { .. }));
    assert!(generator.result.recv_timeout(SOON).unwrap().is_ok());
}

fn without_a_job_it_says_so() {
    for input in [b"no job\n".as_slice(), b""] {
        let mut generator = Generator::start(input);
        generator.input = None;
        generator.wait_for(|message| matches!(message, Message::Hello(_)));
        let result = generator.result.recv_timeout(SOON).unwrap();
        assert!(matches!(result, Err(LoadError::NoJob { .. })), "{result:?}");
    }
}
